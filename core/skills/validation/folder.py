"""The content of a folder on disk, whatever the locale; links are reported and never followed."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from core.domain.messages import Message
from core.skills.validation.paths import (
    ERROR,
    LITTER,
    MAX_DEPTH,
    MAX_FILES,
    Problem,
    left_aside,
    mode_problems,
    shown,
)


class FolderFile(NamedTuple):
    """A regular file: its path inside the folder, size in bytes, executable bit, real location."""

    path: str
    size: int
    executable: bool
    location: bytes


def list_folder(folder: bytes) -> tuple[list[FolderFile], list[Problem]]:
    """Return the files of a folder, by path in NFC, and what cannot be a file of a skill.

    LITTER is skipped, with one warning about all of it. Raises OSError.
    """
    files: dict[str, FolderFile] = {}
    problems: list[Problem] = []
    litter: dict[str, int] = {}
    for location, parts in _walk(folder, (), litter):
        if len(files) > 2 * MAX_FILES:
            break  # far too many to continue; the rule for their number reports it
        try:
            path = unicodedata.normalize("NFC", "/".join(part.decode("utf-8") for part in parts))
        except UnicodeDecodeError:
            path = "/".join(part.decode("utf-8", "backslashreplace") for part in parts)
            said = Message("path.not_utf8", path=shown(path))
            problems.append(Problem("path-encoding", ERROR, path, said, Message("path.rename")))
            continue
        status = os.lstat(location)
        if not stat.S_ISREG(status.st_mode):
            said = Message("path.is", path=shown(path), what=_kind(status.st_mode))
            problems.append(Problem("file-kind", ERROR, path, said, Message("file.hint_itself")))
        elif path in files:
            said = Message("path.two_forms", path=shown(path))
            problems.append(
                Problem("path-collision", ERROR, path, said, Message("path.rename_one"))
            )
        else:
            problems += mode_problems(path, status.st_mode)
            executable = bool(status.st_mode & stat.S_IXUSR)
            files[path] = FolderFile(path, status.st_size, executable, location)
    return sorted(files.values()), [*problems, *left_aside(litter)]


def _walk(
    folder: bytes, above: tuple[bytes, ...], litter: dict[str, int]
) -> Iterator[tuple[bytes, tuple[bytes, ...]]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            parts = (*above, entry.name)
            name = entry.name.decode("utf-8", "replace")
            if name in LITTER:
                litter[name] = litter.get(name, 0) + 1
                continue
            if entry.is_dir(follow_symlinks=False) and len(parts) <= MAX_DEPTH:
                yield from _walk(entry.path, parts, litter)
            else:
                yield entry.path, parts


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return Message("path.too_deep", most=MAX_DEPTH)
    return Message("file.link") if stat.S_ISLNK(mode) else Message("file.irregular")
