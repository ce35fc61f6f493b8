"""Read a skill folder from disk into memory; links are refused, executable bits preserved."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from core.domain.errors import BundleInvalid, NotFound
from core.domain.messages import Message, joined
from core.domain.models import Bundle, SkillFile
from core.skills.bundle.archive import NoSkill, SkillRead, sound
from core.skills.validation.folder import FolderFile, list_folder
from core.skills.validation.paths import MAX_BUNDLE_BYTES, MAX_FILE_BYTES, MAX_FILES, errors_of
from core.skills.validation.script import check_folder


def read_skill_folder(path: Path) -> SkillRead:
    """Read a folder by the verdict that `skill validate` gives. Raises NotFound, NoSkill."""
    if not path.is_dir():
        raise NotFound(Message("no.folder", path=path), hint=Message("see.skill_folder"))
    problems = check_folder(path)
    if errors_of(problems):
        raise NoSkill(problems)
    return SkillRead(read_folder(path), tuple(problems))


def read_folder(path: Path) -> Bundle:
    """Read the skill folder at `path`, whose name it takes. Raises NotFound, BundleInvalid."""
    folder = os.path.realpath(os.fsencode(path))
    try:
        files, problems = list_folder(folder)
        if broken := errors_of(problems):
            raise BundleInvalid(joined(problem.message for problem in broken))
        _see_bounds(files)
        read = {file.path: _read(file) for file in files}
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(Message("no.folder", path=path), hint=Message("see.skill_folder")) from None
    except OSError as error:
        raise BundleInvalid(Message("file.unreadable", path=path, why=error)) from error
    return sound(Bundle(name=os.path.basename(folder).decode("utf-8", "replace"), files=read))


def _see_bounds(files: list[FolderFile]) -> None:
    """Refuse an excess of files or bytes before any of it is read."""
    total = sum(file.size for file in files)
    if len(files) > MAX_FILES:
        raise BundleInvalid(Message("files.too_many", n=len(files), most=MAX_FILES))
    if total > MAX_BUNDLE_BYTES:
        raise BundleInvalid(Message("files.too_large", total=total, most=MAX_BUNDLE_BYTES))


def _read(file: FolderFile) -> SkillFile:
    # Non-blocking and not following: what was a file a moment ago may be a pipe or a link now.
    descriptor = os.open(file.location, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as handle:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BundleInvalid(Message("file.no_regular", path=file.path))
        return SkillFile(data=handle.read(MAX_FILE_BYTES + 1), executable=file.executable)
