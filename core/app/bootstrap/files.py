"""The folder that knowledge is written to as files, and its repository."""

from __future__ import annotations

from pathlib import Path

from core.adapters.files.folder import DiskFolder
from core.adapters.files.git import GitRepository
from core.domain.ports import Folder, Repository


def folder(path: Path) -> Folder:
    """Return a folder on disk, which need not be there yet."""
    return DiskFolder(path)


def repository(path: Path) -> Repository:
    """Return the git repository that a folder is in."""
    return GitRepository(path)
