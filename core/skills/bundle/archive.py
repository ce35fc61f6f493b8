"""Read a skill from a zip, strictly: every reader of the zip would see the same files.

Zip readers disagree where the directory and the local headers differ, or names and entries repeat
or overlap: what a person reviewed would not be what is installed. Such a zip is refused.
"""

from __future__ import annotations

import io
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain.errors import BundleInvalid
from core.domain.hashing import sha256, state_hash
from core.domain.messages import Message, joined
from core.domain.models import SKILL_MD, Bundle, FileRef, SkillFile, Snapshot
from core.skills.bundle.layout import (
    Directory,
    Entry,
    extra_fields,
    inflate,
    is_bomb,
    read_directory,
    resolved,
    unicode_path,
    wrong,
)
from core.skills.validation.document import name_of as name_in
from core.skills.validation.paths import (
    ERROR,
    LITTER,
    MAX_BUNDLE_BYTES,
    MAX_FILE_BYTES,
    WARNING,
    Problem,
    errors_of,
    folder_problems,
    left_aside,
    mode_problems,
    path_problems,
    shown,
)


@dataclass(frozen=True)
class SkillRead:
    """A skill as a person keeps it, and warnings about what is no part of it."""

    bundle: Bundle
    problems: tuple[Problem, ...] = ()


class NoSkill(BundleInvalid):
    """A file or folder that cannot be read as a skill, by the rules that it breaks."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        broken = errors_of(problems)
        rules = (Message("skill.rule", why=item.message, rule=item.code) for item in broken)
        super().__init__(joined(rules), hint=broken[0].hint)
        self.problems = tuple(problems)


def file_hash(file: SkillFile) -> str:
    """Return the SHA-256 of the file's bytes, in hex."""
    return sha256(file.data)


def file_ref(file: SkillFile) -> FileRef:
    """Return the reference under which a file's bytes are stored as a blob."""
    return FileRef(sha256=file_hash(file), size=len(file.data), executable=file.executable)


def file_refs(bundle: Bundle) -> dict[str, FileRef]:
    """Return the references of all files, by path."""
    return {path: file_ref(file) for path, file in bundle.files.items()}


def bundle_hash(bundle: Bundle) -> str:
    """Return the SHA-256 (hex) over path, executable bit and content of each file, for If-Match."""
    return state_hash(Snapshot(content="", name=bundle.name, files=file_refs(bundle)))


def is_script(path: str, data: bytes) -> bool:
    """Whether the file should be executable: under `scripts/` and with a shebang."""
    return path.startswith("scripts/") and data.startswith(b"#!")


def is_text(data: bytes) -> bool:
    """Whether `data` is UTF-8 text."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def check_path(path: str) -> None:
    """Check that `path` is a safe, portable, relative POSIX path in NFC.

    Raises BundleInvalid, which names the path and the rule.
    """
    for problem in path_problems(path):
        raise BundleInvalid(problem.message, hint=problem.hint)


def check_bundle(bundle: Bundle) -> list[str]:
    """Return the rules of structure and size that the folder breaks; empty if it is sound.

    The content of SKILL.md is checked by `skills.validation`.
    """
    sizes = {path: len(file.data) for path, file in bundle.files.items()}
    document = bundle.files.get(SKILL_MD)
    messages = [problem.message for problem in folder_problems(sizes)]
    if document is None:
        return [
            *messages,
            Message("bundle.no_document", file=SKILL_MD),
        ]
    if is_text(document.data):
        return messages
    return [*messages, Message("bundle.not_text", file=SKILL_MD)]


def sound(bundle: Bundle) -> Bundle:
    """Return the bundle. Raises BundleInvalid with all the structural rules that it breaks."""
    if problems := check_bundle(bundle):
        raise BundleInvalid(joined(problems))
    return bundle


STORED, DEFLATED = 0, 8

_LOCAL = struct.Struct("<4s5H3L2H")
_ENCRYPTED, _DESCRIBED, _UTF8 = 1 << 0, 1 << 3, 1 << 11
_SECRET = _ENCRYPTED | 1 << 6 | 1 << 13
_KNOWN_FLAGS = _SECRET | _DESCRIBED | _UTF8 | 1 << 1 | 1 << 2
_DOS_FOLDER, _DOS_LABEL, _DOS_LINK = 0x10, 0x08, 0x400


def see_kind(entry: Entry) -> None:
    """Raise BundleInvalid unless the entry is a plain file or folder that can be read."""
    kind = stat.S_IFMT(entry.attributes >> 16)
    folder = is_folder(entry)
    irregular = Message("file.irregular")
    as_file = Message("zip.folder_as_file")
    with_data = Message("zip.folder_with_data")
    method = Message("zip.method")
    flags = Message("zip.unknown_flags")
    rules = (
        (entry.flags & _SECRET != 0, Message("zip.encrypted")),
        (entry.flags & ~_KNOWN_FLAGS != 0, flags),
        (entry.method not in {STORED, DEFLATED}, method),
        (kind not in {0, stat.S_IFDIR if folder else stat.S_IFREG}, irregular),
        (entry.attributes & (_DOS_LABEL | _DOS_LINK) != 0, irregular),
        (not folder and entry.attributes & _DOS_FOLDER != 0, as_file),
        (folder and entry.size != 0, with_data),
        (entry.method == STORED and entry.size != entry.packed_size, Message("zip.two_sizes")),
    )
    for broken, problem in rules:
        if broken:
            raise wrong(entry.label, problem)


def is_folder(entry: Entry) -> bool:
    """Whether the entry is a folder: its name ends in a slash."""
    return entry.raw_name.endswith(b"/")


def name_of(entry: Entry) -> str:
    """Return the entry's name, which all readers must decode alike. Raises BundleInvalid."""
    try:
        name = entry.raw_name.decode("utf-8")
    except UnicodeDecodeError:
        raise BundleInvalid(Message("zip.name_not_utf8", name=shown(entry.label))) from None
    second = unicode_path(extra_fields(entry.extra, entry.label), entry.raw_name, entry.label)
    if second not in {None, name}:
        raise wrong(name, Message("zip.second_name", second=shown(second or "")))
    if not name.isascii() and not entry.flags & _UTF8 and second is None:
        raise BundleInvalid(Message("zip.name_unmarked", name=shown(name)))
    return name


def locate(data: memoryview, directory: Directory) -> dict[Entry, memoryview]:
    """Return where each entry's packed data lies. Raises BundleInvalid.

    Every byte before the directory belongs to exactly one entry.
    """
    found, at = {}, 0
    ordered = sorted(directory.entries, key=lambda entry: entry.offset)
    ends = [*(entry.offset for entry in ordered[1:]), directory.offset]
    for entry, end in zip(ordered, ends, strict=True):
        if entry.offset != at:
            what = Message("zip.overlaps") if entry.offset < at else Message("zip.data_before")
            raise wrong(entry.label, what)
        if end - at < _LOCAL.size:
            raise wrong(entry.label, Message("zip.overlaps"))
        start = _see_local(data[at:end], entry) + at
        stop = start + entry.packed_size
        if stop > end:
            raise wrong(entry.label, Message("zip.overlaps_next"))
        _see_descriptor(data[stop:end], entry)
        found[entry], at = data[start:stop], end
    if at != directory.offset:
        raise BundleInvalid(Message("zip.data_before_directory"))
    return found


def read(entry: Entry, packed: memoryview, limit: int) -> SkillFile:
    """Read one file of at most `limit` bytes and verify its checksum. Raises BundleInvalid."""
    if entry.size > limit:
        raise wrong(entry.label, Message("zip.too_large"))
    stored = entry.method == STORED
    data = bytes(packed) if stored else inflate(entry.label, packed, entry.size)
    if len(data) != entry.size:
        raise wrong(entry.label, Message("zip.other_size", n=len(data), size=entry.size))
    if zlib.crc32(data) != entry.crc:
        raise wrong(entry.label, Message("zip.checksum"))
    return SkillFile(data=data, executable=bool(entry.attributes >> 16 & stat.S_IXUSR))


def _see_local(record: memoryview, entry: Entry) -> int:
    """Check the local header against the directory; return its length in bytes."""
    if len(record) < _LOCAL.size or bytes(record[:4]) != b"PK\x03\x04":
        raise wrong(entry.label, Message("zip.misplaced"))
    values = _LOCAL.unpack(record[: _LOCAL.size])
    _, _, flags, method, _, _, crc, packed, size, name_size, extra_size = values
    end = _LOCAL.size + int(name_size) + int(extra_size)
    if len(record) < end:
        raise wrong(entry.label, Message("zip.entry_cut_off"))
    fields = extra_fields(bytes(record[_LOCAL.size + name_size : end]), entry.label)
    size, packed = resolved(fields, entry.label, (size, packed))
    name = bytes(record[_LOCAL.size : _LOCAL.size + name_size])
    second = unicode_path(fields, name, entry.label)
    if second not in {None, entry.label}:
        raise wrong(entry.label, Message("zip.second_name", second=shown(second or "")))
    stated = {"name": name, "flags": flags, "method": method}
    real = {"name": entry.raw_name, "flags": entry.flags, "method": entry.method}
    sizes = {"checksum": crc, "packed size": packed, "size": size}
    real_sizes = {"checksum": entry.crc, "packed size": entry.packed_size, "size": entry.size}
    # With a descriptor after the data the header may leave these as zeros.
    for key, value in sizes.items():
        if not (entry.flags & _DESCRIBED and value == 0):
            stated[key], real[key] = value, real_sizes[key]
    for key, value in stated.items():
        if value != real[key]:
            raise BundleInvalid(Message("zip.differs", name=shown(entry.label), key=key))
    return end


def _see_descriptor(rest: memoryview, entry: Entry) -> None:
    """Check that the data is followed by its descriptor, or by nothing."""
    values = (entry.crc, entry.packed_size, entry.size)
    allowed = {b""}
    if entry.flags & _DESCRIBED:
        wide = struct.pack("<LQQ", *values)
        narrow = struct.pack("<LLL", *values) if max(values) < 2**32 else wide
        allowed = {sign + body for sign in (b"", b"PK\x07\x08") for body in (narrow, wide)}
    if bytes(rest[:32]) not in allowed:
        what = (
            Message("zip.descriptor_differs")
            if entry.flags & _DESCRIBED
            else Message("zip.there_is_more")
        )
        raise BundleInvalid(Message("zip.behind_data", name=shown(entry.label), what=what))


ZipData = bytes | bytearray | memoryview


def zip_to_bundle(data: ZipData, name: str, *, root: bool | None = None) -> Bundle:
    """Read a zip that contains the skill `name`.

    With `root` SKILL.md must be at the zip's root, as in an upload; with False everything must be
    in one `<name>/` folder, as in a `.skill` file; None accepts either. Raises BundleInvalid, which
    names the rule that was broken and where.
    """
    with memoryview(data) as view:
        return _read_whole(view, unicodedata.normalize("NFC", name), root)


def read_zip(data: ZipData) -> Bundle:
    """Read a `.skill` file as `read_skill_file` does. Raises NoSkill."""
    return read_skill_file(data).bundle


def read_skill_file(data: ZipData) -> SkillRead:
    """Read a `.skill` file, whose one folder names the skill; a flat one its frontmatter names.

    LITTER is skipped. Raises NoSkill.
    """
    with memoryview(data) as view:
        try:
            return _read_skill_file(view)
        except NoSkill:
            raise
        except BundleInvalid as error:
            rule = _rule_of(error.message)
            raise NoSkill([Problem(rule, ERROR, "", error.message, error.hint)]) from error


def _read_skill_file(view: memoryview) -> SkillRead:
    directory = read_directory(view)
    if not directory.entries:
        raise BundleInvalid(Message("zip.empty"))
    litter = Counter(found for entry in directory.entries for found in _litter(entry))
    names = _names([entry for entry in directory.entries if not any(_litter(entry))])
    flat = SKILL_MD in names.values()
    bundle = _read(view, directory, names, None, None if flat else False)
    problems = [*left_aside(litter), *_modes(names)]
    if flat:
        bundle = Bundle(name=name_in(bundle.files[SKILL_MD].data) or "", files=bundle.files)
        said = Message("zip.flat", file=SKILL_MD)
        problems.append(Problem("archive-flat", WARNING, "", said, Message("zip.hint_flat")))
    return SkillRead(bundle, tuple(problems))


def _litter(entry: Entry) -> Iterator[str]:
    """Yield the name that makes an entry litter, if any; of a folder once, for the first part."""
    parts = name_of(entry).rstrip("/").split("/")
    yield from [part for part in parts if part in LITTER][:1]


def _modes(names: dict[Entry, str]) -> Iterator[Problem]:
    for entry, path in names.items():
        yield from mode_problems(path, 0 if is_folder(entry) else entry.attributes >> 16)


# The rules that a zip breaks as a folder on disk does, and one that people meet, by message.
_RULES = {
    "bundle.not_text": "document-encoding",
    "file.irregular": "file-kind",
    "zip.no_document": "document-missing",
    "zip.truncated": "archive-truncated",
}


def _rule_of(message: str) -> str:
    """Return the rule that an archive breaks, from the message about it."""
    what = message.parameters.get("what") if isinstance(message, Message) else None
    codes = [said.code for said in (message, what) if isinstance(said, Message)]
    return next((_RULES[code] for code in codes if code in _RULES), "archive")


def _read_whole(data: memoryview, name: str, root: bool | None) -> Bundle:
    directory = read_directory(data)
    return _read(data, directory, _names(directory.entries), name, root)


def _read(
    data: memoryview,
    directory: Directory,
    names: dict[Entry, str],
    name: str | None,
    root: bool | None,
) -> Bundle:
    prefix = _prefix(names, name, root)
    inside = {entry: _inside(path, prefix) for entry, path in names.items()}
    _see_structure(inside)
    located = locate(data, directory)
    try:
        files = dict(_files(inside, located))
    finally:
        for part in located.values():
            part.release()
    if not is_text(files[SKILL_MD].data):
        raise BundleInvalid(Message("bundle.not_text", file=SKILL_MD))
    return Bundle(name=prefix.removesuffix("/") or name or "", files=files)


def _names(entries: Sequence[Entry]) -> dict[Entry, str]:
    names: dict[Entry, str] = {}
    seen: set[str] = set()
    for entry in entries:
        see_kind(entry)
        path = unicodedata.normalize("NFC", name_of(entry))
        if path in seen:
            raise BundleInvalid(Message("zip.twice", path=shown(path)))
        seen.add(path)
        names[entry] = path
    return names


def _prefix(names: dict[Entry, str], name: str | None, root: bool | None) -> str:
    """Return the skill's folder, with its slash; empty if SKILL.md is at the root."""
    paths = set(names.values())
    if root is not False and SKILL_MD in paths:
        return ""
    if name is None:
        tops = (path.split("/")[0] for path in sorted(paths) if path.endswith(f"/{SKILL_MD}"))
        name = next(tops, "")
        check_path(name or "no-folder")
    prefix = f"{name}/"
    where = (
        Message("zip.at_root_or_under", prefix=prefix)
        if root is None
        else Message("zip.under", prefix=prefix)
    )
    if root is False and SKILL_MD in paths:
        raise BundleInvalid(Message("zip.flat", file=SKILL_MD), hint=Message("zip.hint_flat"))
    if root or f"{prefix}{SKILL_MD}" not in paths:
        raise BundleInvalid(
            Message(
                "zip.no_document", file=SKILL_MD, where=Message("zip.at_root") if root else where
            )
        )
    return prefix


def _inside(path: str, prefix: str) -> str:
    if not path.startswith(prefix):
        raise BundleInvalid(Message("zip.outside", path=shown(path), prefix=prefix))
    return path.removeprefix(prefix)


def _see_structure(inside: dict[Entry, str]) -> None:
    """Check all rules for paths before anything is read; sizes are checked later, on real bytes."""
    sizes = {path: 0 for entry, path in inside.items() if not is_folder(entry)}
    folders = [path.removesuffix("/") for entry, path in inside.items() if is_folder(entry)]
    folders = [folder for folder in folders if folder]
    for folder in folders:
        check_path(folder)
    if problems := folder_problems(sizes, folders):
        raise NoSkill(problems)


def _files(
    inside: dict[Entry, str], located: dict[Entry, memoryview]
) -> Iterator[tuple[str, SkillFile]]:
    budget = MAX_BUNDLE_BYTES
    for entry, path in inside.items():
        if is_folder(entry):
            read(entry, located[entry], 0)
            continue
        file = read(entry, located[entry], min(MAX_FILE_BYTES, budget))
        budget -= len(file.data)
        yield path, file


# The first date that a zip can express: the same content makes the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)
_LEVEL = 6


def bundle_to_zip(bundle: Bundle, *, root: bool) -> bytes:
    """Return the folder as a zip; the same content always makes the same bytes.

    With `root` SKILL.md is at the zip's root, as an upload expects; without, everything is in one
    `<name>/` folder, as in a `.skill` file.
    """
    prefix = "" if root else f"{bundle.name}/"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, file in sorted(bundle.files.items()):
            archive.writestr(_entry(prefix + path, file), file.data, compresslevel=_LEVEL)
    return buffer.getvalue()


def _entry(name: str, file: SkillFile) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.create_system = 3  # Unix, so that readers apply the mode below
    entry.external_attr = (stat.S_IFREG | (0o755 if file.executable else 0o644)) << 16
    entry.compress_type = _method(file.data)
    return entry


def _method(data: bytes) -> int:
    """Return the method: deflated, unless the reader's ratio limit would call it a bomb."""
    if is_bomb(len(data), 0) and is_bomb(len(data), _deflated_size(data)):
        return zipfile.ZIP_STORED
    return zipfile.ZIP_DEFLATED


def _deflated_size(data: bytes) -> int:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return len(packer.compress(data)) + len(packer.flush())
