"""A skill folder in memory: its hash, the rules for its paths, and its zip in and out (pure)."""

from __future__ import annotations

import io
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator

from core.errors import BundleInvalid
from core.models import SKILL_MD, Bundle, FileRef, SkillFile, Snapshot
from core.snapshots import sha256, state_hash

MAX_FILES = 1_000
MAX_FILE_BYTES = 24 * 2**20
MAX_BUNDLE_BYTES = 48 * 2**20
MAX_DEPTH = 16
MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 1_024

_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_DRIVE = re.compile(r"[A-Za-z]:")
_ESCAPED = re.compile(r"%(?:2e|2f|5c|00)", re.IGNORECASE)
_NOT_PORTABLE = frozenset('<>:"|?*')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])")
_DATE = (1980, 1, 1, 0, 0, 0)
_CHUNK = 2**16
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
)


def file_hash(file: SkillFile) -> str:
    """SHA-256 of the file's bytes, in hex."""
    return sha256(file.data)


def file_ref(file: SkillFile) -> FileRef:
    """The reference under which a file's bytes are stored as a blob."""
    return FileRef(sha256=file_hash(file), size=len(file.data), executable=file.executable)


def file_refs(bundle: Bundle) -> dict[str, FileRef]:
    """The references of all files, by path."""
    return {path: file_ref(file) for path, file in bundle.files.items()}


def bundle_hash(bundle: Bundle) -> str:
    """SHA-256 (hex) over path, executable bit and content of each file: what If-Match carries."""
    return state_hash(Snapshot(content="", name=bundle.name, files=file_refs(bundle)))


def is_device_name(name: str) -> bool:
    """Tell whether a file of this name would be a device on some systems, as `con` or `nul`."""
    return _DEVICE.fullmatch(name.split(".")[0].rstrip().casefold()) is not None


def is_invisible(char: str) -> bool:
    """Tell whether a reader cannot see the character: control, format, half, line separator."""
    return unicodedata.category(char) in _INVISIBLE


def is_script(path: str, data: bytes) -> bool:
    """Tell whether the file is to be executable: under `scripts/` and with a shebang."""
    return path.startswith("scripts/") and data.startswith(b"#!")


def is_text(data: bytes) -> bool:
    """Tell whether `data` is UTF-8 text."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def check_path(path: str) -> None:
    """Check that `path` is a safe, portable, relative POSIX path in NFC.

    Raises BundleInvalid, which names the path and the rule.
    """
    rule = _broken_path_rule(path) or next(filter(None, map(_broken_part_rule, _parts(path))), "")
    if rule:
        raise BundleInvalid(f"path {_shown(path)} {rule}")


def check_bundle(bundle: Bundle) -> list[str]:
    """Give all the rules of structure and size that the folder breaks; empty when it is sound."""
    return [
        *_path_problems(bundle),
        *_document_problems(bundle),
        *_collisions(bundle),
        *_size_problems(bundle),
    ]


def sound(bundle: Bundle) -> Bundle:
    """Give the bundle back. Raises BundleInvalid with all the rules of structure that it breaks."""
    if problems := check_bundle(bundle):
        raise BundleInvalid("; ".join(problems))
    return bundle


def bundle_to_zip(bundle: Bundle, *, root: bool) -> bytes:
    """Write the folder as a zip; the same bytes for the same content.

    With `root` SKILL.md stands at the zip's root, as an upload wants it; without, everything is
    under one `<name>/` folder, as in a `.skill` file.
    """
    prefix = "" if root else f"{bundle.name}/"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, file in sorted(bundle.files.items()):
            entry = zipfile.ZipInfo(prefix + path, _DATE)
            entry.create_system = 3  # Unix, so that the mode below is read
            entry.external_attr = (stat.S_IFREG | (0o755 if file.executable else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.data)
    return buffer.getvalue()


def zip_to_bundle(data: bytes, name: str) -> Bundle:
    """Read a zip that holds the skill `name` at its root or under one `<name>/` folder.

    Raises BundleInvalid, which names the rule that was broken and where.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = dict(_read_entries(archive))
    except _ZIP_ERRORS as error:
        raise BundleInvalid(f"not a readable zip: {error}") from error
    return sound(Bundle(name=name, files=_at_root(files, name)))


def _read_entries(archive: zipfile.ZipFile) -> Iterator[tuple[str, SkillFile]]:
    entries = archive.infolist()
    if len(entries) > 2 * MAX_FILES:
        raise BundleInvalid(f"the zip has {len(entries)} entries, more than {2 * MAX_FILES}")
    seen: set[str] = set()
    budget = MAX_BUNDLE_BYTES
    for entry in entries:
        path = unicodedata.normalize("NFC", entry.orig_filename)
        check_path(path.removesuffix("/"))
        if path in seen:
            raise BundleInvalid(f"the zip holds {_shown(path)} twice")
        seen.add(path)
        _check_entry(entry)
        if entry.is_dir():
            continue
        file = _read_entry(archive, entry, budget)
        budget -= len(file.data)
        yield path, file


def _check_entry(entry: zipfile.ZipInfo) -> None:
    if entry.flag_bits & 0x1:
        raise BundleInvalid(f"{_shown(entry.filename)} is encrypted")
    if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise BundleInvalid(f"{_shown(entry.filename)} is neither stored nor deflated")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in {0, stat.S_IFDIR if entry.is_dir() else stat.S_IFREG}:
        raise BundleInvalid(f"{_shown(entry.filename)} is no regular file")


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: int) -> SkillFile:
    limit = min(MAX_FILE_BYTES, budget)
    content = bytearray()
    with archive.open(entry) as stream:
        while chunk := stream.read(_CHUNK):
            content += chunk
            if len(content) > limit:
                raise BundleInvalid(f"{_shown(entry.filename)} makes the skill too large")
    executable = bool(entry.external_attr >> 16 & stat.S_IXUSR)
    return SkillFile(data=bytes(content), executable=executable)


def _at_root(files: dict[str, SkillFile], name: str) -> dict[str, SkillFile]:
    prefix = f"{unicodedata.normalize('NFC', name)}/"
    if SKILL_MD in files:
        return files
    if f"{prefix}{SKILL_MD}" not in files:
        raise BundleInvalid(f"the zip has no {SKILL_MD}, neither at its root nor under {prefix}")
    if strays := [path for path in files if not path.startswith(prefix)]:
        raise BundleInvalid(f"{_shown(strays[0])} is outside the folder {prefix}")
    return {path.removeprefix(prefix): file for path, file in files.items()}


def _parts(path: str) -> list[str]:
    return path.split("/")


def _broken_path_rule(path: str) -> str:
    rules = (
        (not path, "is empty"),
        (any(map(is_invisible, path)), "has a control or invisible character"),
        ("\\" in path, "has a backslash"),
        (path.startswith("/"), "is absolute"),
        (_DRIVE.match(path) is not None, "begins with a drive"),
        (_ESCAPED.search(path) is not None, "hides a dot or a slash behind an escape"),
        (not unicodedata.is_normalized("NFC", path), "is not in normal form NFC"),
        (len(path.encode("utf-8", "replace")) > MAX_PATH_BYTES, f"is over {MAX_PATH_BYTES} bytes"),
        (len(_parts(path)) > MAX_DEPTH, f"is over {MAX_DEPTH} folders deep"),
    )
    return next((rule for broken, rule in rules if broken), "")


def _broken_part_rule(part: str) -> str:
    folded = unicodedata.normalize("NFKC", part)
    rules = (
        (not part, "has an empty part"),
        (folded.strip() in {".", ".."}, "leaves its folder"),
        ("/" in folded or "\\" in folded, "has a character that reads as a slash"),
        (part.endswith((".", " ")), "has a part that ends in a dot or a blank"),
        (part.casefold() == ".git", "is inside .git"),
        (is_device_name(part), "has a device name"),
        (not _NOT_PORTABLE.isdisjoint(part), "has one of the characters " + '< > : " | ? *'),
        (len(part.encode("utf-8")) > MAX_NAME_BYTES, f"has a name over {MAX_NAME_BYTES} bytes"),
    )
    return next((rule for broken, rule in rules if broken), "")


def _path_problems(bundle: Bundle) -> Iterator[str]:
    for path in sorted(bundle.files):
        try:
            check_path(path)
        except BundleInvalid as error:
            yield error.message


def _document_problems(bundle: Bundle) -> Iterator[str]:
    document = bundle.files.get(SKILL_MD)
    if document is None:
        yield f"there is no {SKILL_MD} at the root"
    elif not is_text(document.data):
        yield f"{SKILL_MD} is not UTF-8 text"
    for path in sorted(bundle.files):
        if path != SKILL_MD and _parts(path)[-1].casefold() == SKILL_MD.casefold():
            yield f"{_shown(path)} is a second {SKILL_MD}"


def _collisions(bundle: Bundle) -> Iterator[str]:
    """Names that one file system keeps apart and another does not."""
    known: dict[str, tuple[str, bool]] = {}
    for path in sorted(bundle.files):
        parts = _parts(path)
        for depth in range(1, len(parts) + 1):
            spelled, is_file = "/".join(parts[:depth]), depth == len(parts)
            key = unicodedata.normalize("NFC", spelled.casefold())
            first, first_is_file = known.setdefault(key, (spelled, is_file))
            if first != spelled:
                yield f"{_shown(spelled)} and {_shown(first)} differ only in case or normal form"
            elif first_is_file != is_file:
                yield f"{_shown(spelled)} is a file and a folder"


def _size_problems(bundle: Bundle) -> Iterator[str]:
    if len(bundle.files) > MAX_FILES:
        yield f"there are {len(bundle.files)} files, more than {MAX_FILES}"
    for path, file in sorted(bundle.files.items()):
        if len(file.data) > MAX_FILE_BYTES:
            yield f"{_shown(path)} has {len(file.data)} bytes, more than {MAX_FILE_BYTES}"
    total = sum(len(file.data) for file in bundle.files.values())
    if total > MAX_BUNDLE_BYTES:
        yield f"the files have {total} bytes, more than {MAX_BUNDLE_BYTES}"


def _shown(path: str) -> str:
    return repr(path if len(path) <= 80 else f"{path[:77]}...")
