"""The state of a target, as changes and history keep it."""

from __future__ import annotations

from collections.abc import Mapping

from core.models.base import Model


class FileRef(Model):
    """A file of a stored bundle: its blob's SHA-256 (hex), its size in bytes, its mode."""

    sha256: str
    size: int
    executable: bool = False


class Snapshot(Model):
    """The whole state of a target. `files` is set for skills, SKILL.md among them.

    `version` says which version of an item it was, where versions are counted.
    """

    content: str
    name: str
    files: Mapping[str, FileRef] | None = None
    version: int | None = None
