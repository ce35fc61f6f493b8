"""Write a skill as a `.skill` file, provided that it obeys the rules."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from core.domain.errors import BundleInvalid, InvalidInput
from core.domain.hashing import sha256
from core.domain.messages import Message, joined
from core.domain.models import Bundle
from core.skills.bundle import bundle_to_zip
from core.skills.document.frontmatter import read_frontmatter
from core.skills.validation.check import check_bundle, with_rule
from core.skills.validation.paths import Problem, errors_of


@dataclass(frozen=True)
class Package:
    """A `.skill` file that was written; `size` in bytes, `problems` are warnings."""

    path: Path
    name: str
    files: int
    size: int
    sha256: str
    problems: tuple[Problem, ...]


def package_skill(bundle: Bundle, out: Path) -> Package:
    """Write a skill to `out`, a file or an existing folder, under its frontmatter's name.

    The file is written atomically. Raises BundleInvalid with all rules that are broken,
    InvalidInput if nothing can be written.
    """
    problems = check_bundle(bundle)
    if errors := errors_of(problems):
        raise BundleInvalid(joined(map(with_rule, errors)), hint=errors[0].hint)
    named = Bundle(name=read_frontmatter(bundle.document).name, files=bundle.files)
    target = out / f"{named.name}.skill" if out.is_dir() else out
    data = bundle_to_zip(named, root=False)
    _write(target, data)
    return Package(
        path=target,
        name=named.name,
        files=len(named.files),
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
