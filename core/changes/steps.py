"""The steps by which a target became what it is: each change with its whole states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.changes.three_way_merge import State
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    FileRef,
    Kind,
    MergeMode,
    Relationship,
    SkillFile,
    Snapshot,
)
from core.domain.ports import ChangeLog
from core.skills.bundle import file_refs


class StoredStates:
    """Read stored states, each blob once; `blobs` are those known before. Raises NotFound."""

    def __init__(self, changes: ChangeLog, blobs: Mapping[str, bytes] | None = None) -> None:
        self._changes = changes
        self._blobs = dict(blobs or {})

    async def read(self, state: Snapshot | None) -> State | None:
        """Return the whole state, None for absent."""
        if state is None:
            return None
        if state.files is None:
            return State(state.content, state.name, reach=state.reach)
        files = await self.folder(state.files)
        document = files.pop(SKILL_MD)
        return State(document.data.decode("utf-8"), state.name, files, document.executable)

    async def folder(self, refs: Mapping[str, FileRef]) -> dict[str, SkillFile]:
        """Return the files behind references."""
        missing = [ref for ref in refs.values() if ref.sha256 not in self._blobs]
        if missing:
            self._blobs |= await self._changes.blobs(missing)
        return {
            path: SkillFile(data=self._blobs[ref.sha256], executable=ref.executable)
            for path, ref in refs.items()
        }


def files_of(state: State) -> dict[str, SkillFile]:
    """Return all files of a skill, SKILL.md among them."""
    document = SkillFile(data=state.text.encode("utf-8"), executable=state.runs)
    return {**(state.files or {}), SKILL_MD: document}


def to_snapshot(state: State) -> tuple[Snapshot, dict[str, SkillFile] | None]:
    """Return a state as it is stored, and the whole folder of a skill."""
    if state.files is None:
        return Snapshot(content=state.text, name=state.name, reach=state.reach), None
    folder = files_of(state)
    refs = file_refs(Bundle(name=state.name, files=folder))
    return Snapshot(content=state.text, name=state.name, files=refs), folder


@dataclass(frozen=True)
class Step:
    """One step in the history of a target; a state of None is absent.

    With `is_ours` false it is an outside edit, made before our `change` came.
    """

    change: Change
    before: State | None
    after: State | None
    is_ours: bool = True


async def read_steps(chain: Sequence[Change], changes: ChangeLog) -> list[Step]:
    """Return the steps of a chain, outside edits included.

    An outside edit carries the change that followed it.
    """
    stored = StoredStates(changes)
    made: list[Step] = []
    for change in chain:
        before, after = await stored.read(change.before), await stored.read(change.after)
        if made and made[-1].after != before:
            made.append(Step(change, made[-1].after, before, is_ours=False))
        made.append(Step(change, before, after))
    return made


def is_whole(step: Step) -> bool:
    """Whether a step fixes its state whatever came before: it created, deleted or replaced all."""
    change = step.change
    if step.before is None or step.after is None:
        return True
    if not step.is_ours:
        return False
    if change.merge_mode is None:
        is_memory = change.kind is Kind.MEMORY
        return is_memory and change.relationship is Relationship.SUPERSEDES
    return change.merge_mode is MergeMode.REPLACE
