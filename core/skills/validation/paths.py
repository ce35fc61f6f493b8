"""The rules for paths: safe, portable, in one normal form, and one file per name."""

from __future__ import annotations

import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from core.domain.messages import Message

ERROR = "error"
WARNING = "warning"
SKILL_MD = "SKILL.md"


class Problem(NamedTuple):
    """A rule that a skill breaks.

    `code` is the rule's stable name, `severity` `error` or `warning`, `path` the file it is about
    (empty: the folder), `hint` what to do.
    """

    code: str
    severity: str
    path: str
    message: str
    hint: str = ""


def errors_of(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems that make a skill invalid."""
    return [problem for problem in problems if problem.severity == ERROR]


def shown(path: str) -> str:
    """Return a path for a message: quoted, escaped and not too long."""
    return repr(cut(path))


def cut(text: str) -> str:
    """Return the beginning of a text, as much as a message should carry."""
    return text if len(text) <= 80 else text[:77] + "..."


MAX_FILES = 1_000
MAX_FILE_BYTES = 24 * 2**20
MAX_BUNDLE_BYTES = 48 * 2**20
MAX_DEPTH = 16
# The tightest of common file systems: 255 bytes a name on Linux, 1,024 a path on macOS.
MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 1_024

# What file managers, interpreters and other tools leave in a folder; no part of a skill.
LITTER = frozenset((".DS_Store", ".git", "__MACOSX", "__pycache__", "node_modules"))
_SPECIAL_BITS = ((stat.S_ISUID, "setuid"), (stat.S_ISGID, "setgid"), (stat.S_ISVTX, "sticky"))

_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_DRIVE = re.compile(r"[A-Za-z]:")
_ESCAPED = re.compile(r"%(?:2e|2f|5c|00)", re.IGNORECASE)
_NOT_PORTABLE = frozenset('<>:"|?*')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])")
_PATH_HINT = Message("path.hint")


def is_device_name(name: str) -> bool:
    """Whether a file of this name would be a device on some systems, like `con` or `nul`."""
    return _DEVICE.fullmatch(name.split(".")[0].rstrip().casefold()) is not None


def is_invisible(char: str) -> bool:
    """Whether a character is invisible: control, format, lone surrogate, line separator."""
    return unicodedata.category(char) in _INVISIBLE


def left_aside(names: Mapping[str, int]) -> list[Problem]:
    """Return one warning about the litter (name -> how often) that a reader skipped, if any."""
    if not names:
        return []
    listed = ", ".join(f"{name} ({n})" if n > 1 else name for name, n in sorted(names.items()))
    return [Problem("files-left-aside", WARNING, "", Message("files.left_aside", listed=listed))]


def mode_problems(path: str, mode: int) -> list[Problem]:
    """Return a warning about the bits of a file's mode that a skill does not keep, if any."""
    bits = ", ".join(name for bit, name in _SPECIAL_BITS if mode & bit)
    said = Message("file.mode", path=shown(path), bits=bits)
    return [Problem("file-mode", WARNING, path, said, Message("file.hint_mode"))] if bits else []


def path_problems(path: str) -> list[Problem]:
    """Return the first rule that `path` breaks, or nothing."""
    parts = path.split("/")
    rules = [*_path_rules(path, parts), *(rule for part in parts for rule in _part_rules(part))]
    return [
        Problem(
            code,
            ERROR,
            path,
            Message("path.wrong", path=shown(path), what=message),
            _PATH_HINT,
        )
        for broken, code, message in rules
        if broken
    ][:1]


def folder_problems(sizes: Mapping[str, int], folders: Iterable[str] = ()) -> list[Problem]:
    """Return the rules that a set of files (path -> bytes) and empty `folders` breaks."""
    found = [problem for path in sorted(sizes) for problem in path_problems(path)]
    return [
        *found,
        *_second_documents(sizes),
        *_collisions(sizes, folders),
        *_size_problems(sizes),
    ]


_EMPTY = Message("path.empty")
_UNSEEN = Message("path.invisible")
_BACKSLASH = Message("path.backslash")
_ABSOLUTE = Message("path.absolute")
_ON_DRIVE = Message("path.drive")
_HIDDEN = Message("path.escaped")
_NOT_NFC = Message("path.normal_form")
_LONG = Message("path.long", most=MAX_PATH_BYTES)
_DEEP = Message("path.too_deep", most=MAX_DEPTH)
_EMPTY_PART = Message("path.part_empty")
_LEAVES = Message("path.leaves")
_SLASH = Message("path.slash_alike")
_ENDS = Message("path.end")
_IN_GIT = Message("path.git")
_NAMED_AS_DEVICE = Message("path.device")
_MARKS = Message("path.characters", marks='< > : " | ? *')
_LONG_NAME = Message("path.name_long", most=MAX_NAME_BYTES)


def _path_rules(path: str, parts: list[str]) -> list[tuple[bool, str, str]]:
    size = len(path.encode("utf-8", "replace"))
    return [
        (not path, "path-empty", _EMPTY),
        (any(map(is_invisible, path)), "path-invisible", _UNSEEN),
        ("\\" in path, "path-backslash", _BACKSLASH),
        (path.startswith("/"), "path-absolute", _ABSOLUTE),
        (_DRIVE.match(path) is not None, "path-drive", _ON_DRIVE),
        (_ESCAPED.search(path) is not None, "path-escaped", _HIDDEN),
        (unicodedata.normalize("NFC", path) != path, "path-normal-form", _NOT_NFC),
        (size > MAX_PATH_BYTES, "path-length", _LONG),
        (len(parts) > MAX_DEPTH, "path-depth", _DEEP),
    ]


def _part_rules(part: str) -> list[tuple[bool, str, str]]:
    folded = unicodedata.normalize("NFKC", part)
    size = len(part.encode("utf-8", "replace"))
    return [
        (not part, "path-part-empty", _EMPTY_PART),
        (folded.strip() in (".", ".."), "path-traversal", _LEAVES),
        ("/" in folded or "\\" in folded, "path-slash-alike", _SLASH),
        (part.endswith((".", " ")), "path-end", _ENDS),
        (part.casefold() == ".git", "path-git", _IN_GIT),
        (is_device_name(part), "path-device", _NAMED_AS_DEVICE),
        (not _NOT_PORTABLE.isdisjoint(part), "path-characters", _MARKS),
        (size > MAX_NAME_BYTES, "path-name-length", _LONG_NAME),
    ]


def _second_documents(sizes: Mapping[str, int]) -> Iterator[Problem]:
    for path in sorted(sizes):
        if path != SKILL_MD and path.split("/")[-1].casefold() == SKILL_MD.casefold():
            message = Message("path.second_document", path=shown(path), file=SKILL_MD)
            yield Problem("document-second", ERROR, path, message, Message("path.other_name"))


def _collisions(sizes: Mapping[str, int], folders: Iterable[str]) -> Iterator[Problem]:
    """Yield names that one file system distinguishes and another does not."""
    known: dict[str, tuple[str, bool]] = {}
    for path, whole_is_file in sorted(
        [*((p, True) for p in sizes), *((p, False) for p in folders)]
    ):
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            spelled, is_file = "/".join(parts[:depth]), whole_is_file and depth == len(parts)
            key = unicodedata.normalize("NFC", unicodedata.normalize("NFD", spelled).casefold())
            first, first_is_file = known.setdefault(key, (spelled, is_file))
            if first != spelled:
                message = Message("path.alike", one=shown(spelled), other=shown(first))
                yield Problem("path-collision", ERROR, path, message, Message("path.rename_one"))
            elif first_is_file != is_file:
                message = Message("path.file_and_folder", path=shown(spelled))
                yield Problem(
                    "path-file-and-folder",
                    ERROR,
                    path,
                    message,
                    Message("path.rename_one"),
                )


def _size_problems(sizes: Mapping[str, int]) -> Iterator[Problem]:
    if len(sizes) > MAX_FILES:
        yield Problem(
            "files-count",
            ERROR,
            "",
            Message("files.too_many", n=len(sizes), most=MAX_FILES),
        )
    for path, size in sorted(sizes.items()):
        if size > MAX_FILE_BYTES:
            message = Message("file.too_large", path=shown(path), size=size, most=MAX_FILE_BYTES)
            yield Problem("file-size", ERROR, path, message)
    total = sum(sizes.values())
    if total > MAX_BUNDLE_BYTES:
        message = Message("files.too_large", total=total, most=MAX_BUNDLE_BYTES)
        yield Problem("files-size", ERROR, "", message)
