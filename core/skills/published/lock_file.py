"""Lock files: which skills are installed, pinned by digest, the same bytes for the same skills."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from core.domain.errors import InvalidInput
from core.domain.input_formats.json_text import parse_model
from core.domain.messages import Message
from core.domain.models.base import Model
from core.domain.models.installed import InstalledSkill

MAX_LOCK_BYTES = 4 * 2**20
_HASH = r"^[0-9a-f]{64}$"


class LockedSkill(Model):
    """One skill: the name it is installed as, where from, and what it must be."""

    name: str
    source: str
    digest: str = Field(pattern=_HASH)
    version: str = ""
    commit: str = Field(default="", pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")
    index: str = ""


class LockFile(Model):
    """A whole lock; `format` is 1."""

    format: int = Field(default=1, ge=1, le=1)
    skills: tuple[LockedSkill, ...]


def write_lock(installed: Sequence[InstalledSkill], folder: Path) -> str:
    """Return a lock of what is installed; paths inside `folder` are relative to it."""
    rows = [
        LockedSkill(
            name=one.name,
            source=_relative(one.published.source, folder),
            digest=one.published.digest,
            version=one.published.version,
            commit=one.published.commit,
            index=one.published.index,
        ).model_dump(exclude_defaults=True)
        for one in sorted(installed, key=lambda one: one.name)
    ]
    return json.dumps({"format": 1, "skills": rows}, ensure_ascii=False, indent=2) + "\n"


def _relative(source: str, folder: Path) -> str:
    """Return a path as `./x` if it is in a folder; what is no path stays."""
    inside = os.path.relpath(source, folder) if source.startswith("/") else ""
    return f"./{inside}" if inside and not inside.startswith("..") else source


def read_lock(data: bytes, path: Path) -> LockFile:
    """Parse a lock. Raises InvalidInput, which names the file and the field."""
    try:
        found = parse_model(data, LockFile)
    except InvalidInput as error:
        raise InvalidInput(Message("lock.wrong", path=path, why=error.message)) from None
    names = [one.name for one in found.skills]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidInput(Message("lock.twice", path=path, name=twice))
    return found
