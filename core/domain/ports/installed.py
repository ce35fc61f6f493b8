"""Skills that others publish: how they are fetched, and which are installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from core.domain.models import SkillFile
from core.domain.models.installed import InstalledSkill


class Checkout(NamedTuple):
    """A folder of a git repository at one commit (its full id): path -> file, as committed."""

    commit: str
    files: Mapping[str, SkillFile]


class Publishers(Protocol):
    """Fetches what others publish. It runs nothing of what it fetches, and follows no link."""

    async def file(self, url: str, *, most: int, named_by: str = "") -> bytes:
        """Return the file at an address, of at most that many bytes.

        `named_by` is the address of the file that named it, "" if a person did: what others name
        must be a public address, unless theirs is none. Raises InvalidInput, NotFound,
        DependencyDown.
        """

    async def tree(self, url: str, ref: str, folder: str) -> Checkout:
        """Return a folder of a repository, "" for all of it, at a ref, "" for its main branch.

        Raises InvalidInput, NotFound, DependencyDown.
        """


class InstalledSkills(Protocol):
    """Which skills were installed, as the changes that did it say."""

    async def list(self, tenant_id: str, name: str | None = None) -> Sequence[InstalledSkill]:
        """Return what a tenant has installed, by name: what stands first, then what is held."""
