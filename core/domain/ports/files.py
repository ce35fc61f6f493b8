"""A folder that the program and people write to, and the repository it may be in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from core.domain.models import SkillFile


class Folder(Protocol):
    """A folder on disk. Paths are relative to it, with `/`; none leads out of it."""

    @property
    def path(self) -> str:
        """Where it is."""

    def locked(self) -> AbstractAsyncContextManager[None]:
        """Make the folder, and keep any other sync out of it while the block lasts.

        Raises InvalidInput if it cannot be made.
        """

    async def read(self, path: str) -> SkillFile | None:
        """Return a file; None if there is none.

        Raises Refused for a link that leads out of the folder, InvalidInput for what is no file.
        """

    async def write(self, files: Mapping[str, SkillFile | None]) -> None:
        """Write all of these files, each at once, and remove those that are None; or do nothing.

        Folders that this empties go too. Raises Refused, InvalidInput.
        """


class Repository(Protocol):
    """The git repository that a folder is in."""

    async def check(self, paths: Sequence[str]) -> None:
        """Raise InvalidInput without a repository or git, Refused if it ignores one of the paths.

        Refused also if the user has staged a change of one of them.
        """

    async def committed(self, path: str) -> bytes | None:
        """Return a file as last committed; None if it was not."""

    async def commit(self, paths: Sequence[str], message: str) -> str:
        """Commit these paths alone; return the commit, "" if nothing of them has changed.

        Nothing is staged afterwards that was not before. Raises Refused with what git says.
        """
