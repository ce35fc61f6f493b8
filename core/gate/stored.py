"""States as changes keep them, with the bytes of their files."""

from __future__ import annotations

from collections.abc import Mapping

from core.models import SKILL_MD, FileRef, SkillFile, Snapshot
from core.ports import ChangeLog
from core.rebasing.states import State


class StoredStates:
    """Reads states; the bytes of a file are fetched once. Raises NotFound where some are gone."""

    def __init__(self, changes: ChangeLog) -> None:
        self._changes = changes
        self._blobs: dict[str, bytes] = {}

    async def read(self, state: Snapshot | None) -> State | None:
        """Give a state whole, None for absent."""
        if state is None:
            return None
        if state.files is None:
            return State(state.content, state.name)
        files = await self.folder(state.files)
        document = files.pop(SKILL_MD)
        return State(document.data.decode("utf-8"), state.name, files, document.executable)

    async def folder(self, refs: Mapping[str, FileRef]) -> dict[str, SkillFile]:
        """Give the files behind references."""
        missing = [ref for ref in refs.values() if ref.sha256 not in self._blobs]
        if missing:
            self._blobs |= await self._changes.blobs(missing)
        return {
            path: SkillFile(data=self._blobs[ref.sha256], executable=ref.executable)
            for path, ref in refs.items()
        }
