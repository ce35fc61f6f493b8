"""Validate a skill folder: `quick_validate.py SKILL_FOLDER` prints a verdict and exits 0 or 1."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from core.domain.messages import Message
from core.skills.validation.document import skill_problems, tolerated
from core.skills.validation.folder import list_folder
from core.skills.validation.paths import ERROR, MAX_FILE_BYTES, SKILL_MD, Problem, errors_of

VALID = "Skill is valid!"
# (code, path) of what the skill broke before it was changed; a pod's script may carry some.
KNOWN: tuple[tuple[str, str], ...] = ()


def check_folder(skill_path: str | os.PathLike[str]) -> list[Problem]:
    """Return the rules that a skill folder on disk breaks, errors first."""
    folder = os.path.realpath(os.fsencode(skill_path))
    try:
        files, problems = list_folder(folder)
        sizes = {file.path: file.size for file in files}
        document = _read_document(folder) if SKILL_MD in sizes else None
    except OSError as error:
        said = Message("skill.document_not_read", why=error.strerror or str(error))
        return [Problem("document-missing", ERROR, SKILL_MD, said)]
    name = os.path.basename(folder).decode("utf-8", "replace")
    found = [*problems, *skill_problems(name, sizes, document)]
    return sorted(found, key=lambda problem: problem.severity != ERROR)


def validate_skill(
    skill_path: str | os.PathLike[str], known: Iterable[tuple[str, str]] = ()
) -> tuple[bool, str]:
    """Return (True, "Skill is valid!") or (False, the first rule that is broken)."""
    errors = errors_of(tolerated(check_folder(skill_path), (*KNOWN, *known)))
    return (False, errors[0].message) if errors else (True, VALID)


def main(arguments: list[str]) -> int:
    """Validate the named folder, print the result, and return the exit status."""
    if len(arguments) != 1:
        _say("Usage: quick_validate.py SKILL_FOLDER")
        return 1
    problems = tolerated(check_folder(arguments[0]), KNOWN)
    errors = errors_of(problems)
    for problem in problems:
        if problem.severity != ERROR:
            _say(f"Warning: {problem.message}")
    _say(errors[0].message if errors else VALID)
    return 1 if errors else 0


def _read_document(folder: bytes) -> bytes:
    with open(os.path.join(folder, SKILL_MD.encode()), "rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _say(message: str) -> None:
    # UTF-8 whatever the locale: a pod's may be C.
    sys.stdout.buffer.write(f"{message}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
