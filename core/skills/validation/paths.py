"""The rules for paths: safe, portable, in one normal form, and one file per name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

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

_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_DRIVE = re.compile(r"[A-Za-z]:")
_ESCAPED = re.compile(r"%(?:2e|2f|5c|00)", re.IGNORECASE)
_NOT_PORTABLE = frozenset('<>:"|?*')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])")
_PATH_HINT = "use a relative path such as references/guide.md"


def is_device_name(name: str) -> bool:
    """Whether a file of this name would be a device on some systems, like `con` or `nul`."""
    return _DEVICE.fullmatch(name.split(".")[0].rstrip().casefold()) is not None


def is_invisible(char: str) -> bool:
    """Whether a character is invisible: control, format, lone surrogate, line separator."""
    return unicodedata.category(char) in _INVISIBLE


def path_problems(path: str) -> list[Problem]:
    """Return the first rule that `path` breaks, or nothing."""
    parts = path.split("/")
    rules = [*_path_rules(path, parts), *(rule for part in parts for rule in _part_rules(part))]
    return [
        Problem(code, ERROR, path, f"path {shown(path)} {message}", _PATH_HINT)
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


def _path_rules(path: str, parts: list[str]) -> list[tuple[bool, str, str]]:
    size = len(path.encode("utf-8", "replace"))
    return [
        (not path, "path-empty", "is empty"),
        (any(map(is_invisible, path)), "path-invisible", "has a control or invisible character"),
        ("\\" in path, "path-backslash", "has a backslash"),
        (path.startswith("/"), "path-absolute", "is absolute"),
        (_DRIVE.match(path) is not None, "path-drive", "begins with a drive"),
        (
            _ESCAPED.search(path) is not None,
            "path-escaped",
            "hides a dot or a slash behind an escape",
        ),
        (
            unicodedata.normalize("NFC", path) != path,
            "path-normal-form",
            "is not in normal form NFC",
        ),
        (size > MAX_PATH_BYTES, "path-length", f"is over {MAX_PATH_BYTES} bytes"),
        (len(parts) > MAX_DEPTH, "path-depth", f"is over {MAX_DEPTH} folders deep"),
    ]


def _part_rules(part: str) -> list[tuple[bool, str, str]]:
    folded = unicodedata.normalize("NFKC", part)
    size = len(part.encode("utf-8", "replace"))
    characters = "has one of the characters " + '< > : " | ? *'
    return [
        (not part, "path-part-empty", "has an empty part"),
        (folded.strip() in (".", ".."), "path-traversal", "leaves its folder"),
        (
            "/" in folded or "\\" in folded,
            "path-slash-alike",
            "has a character that reads as a slash",
        ),
        (part.endswith((".", " ")), "path-end", "has a part that ends in a dot or a blank"),
        (part.casefold() == ".git", "path-git", "is inside .git"),
        (is_device_name(part), "path-device", "has a device name"),
        (not _NOT_PORTABLE.isdisjoint(part), "path-characters", characters),
        (size > MAX_NAME_BYTES, "path-name-length", f"has a name over {MAX_NAME_BYTES} bytes"),
    ]


def _second_documents(sizes: Mapping[str, int]) -> Iterator[Problem]:
    for path in sorted(sizes):
        if path != SKILL_MD and path.split("/")[-1].casefold() == SKILL_MD.casefold():
            message = f"{shown(path)} is a second {SKILL_MD}"
            yield Problem("document-second", ERROR, path, message, "give it another name")


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
                message = f"{shown(spelled)} and {shown(first)} differ only in case or normal form"
                yield Problem("path-collision", ERROR, path, message, "rename one of them")
            elif first_is_file != is_file:
                message = f"{shown(spelled)} is a file and a folder"
                yield Problem("path-file-and-folder", ERROR, path, message, "rename one of them")


def _size_problems(sizes: Mapping[str, int]) -> Iterator[Problem]:
    if len(sizes) > MAX_FILES:
        yield Problem(
            "files-count", ERROR, "", f"there are {len(sizes)} files, more than {MAX_FILES}"
        )
    for path, size in sorted(sizes.items()):
        if size > MAX_FILE_BYTES:
            message = f"{shown(path)} has {size} bytes, more than {MAX_FILE_BYTES}"
            yield Problem("file-size", ERROR, path, message)
    total = sum(sizes.values())
    if total > MAX_BUNDLE_BYTES:
        message = f"the files have {total} bytes, more than {MAX_BUNDLE_BYTES}"
        yield Problem("files-size", ERROR, "", message)
