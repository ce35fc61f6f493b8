"""Write a skill as a `.skill` file, provided that it obeys the rules."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.errors import InvalidInput
from core.domain.hashing import sha256
from core.domain.messages import Message
from core.domain.models import Bundle
from core.skills.bundle import SkillRead, bundle_to_zip
from core.skills.document.frontmatter import read_frontmatter
from core.skills.validation.paths import Problem


@dataclass(frozen=True)
class Package:
    """A `.skill` file that was written; `size` in bytes, `problems` are warnings."""

    path: Path
    name: str
    files: int
    size: int
    sha256: str
    problems: tuple[Problem, ...]


def package_skill(read: SkillRead, out: Path) -> Package:
    """Write a skill to `out`, a file or an existing folder, under its frontmatter's name.

    Raises InvalidInput if nothing can be written.
    """
    name = read_frontmatter(read.bundle.document).name
    return write_package(Bundle(name=name, files=read.bundle.files), out, read.problems)


def write_package(bundle: Bundle, out: Path, problems: Sequence[Problem] = ()) -> Package:
    """Write a skill atomically, whatever rules it breaks. Raises InvalidInput."""
    target = out / f"{bundle.name}.skill" if out.is_dir() else out
    data = bundle_to_zip(bundle, root=False)
    _write(target, data)
    return Package(
        path=target,
        name=bundle.name,
        files=len(bundle.files),
        size=len(data),
        sha256=sha256(data),
        problems=tuple(problems),
    )


def _write(target: Path, data: bytes) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InvalidInput(Message("file.unwritable", path=target, why=error)) from error
