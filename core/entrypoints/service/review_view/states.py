"""The two states of a change as files: many for a skill, one for everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain.errors import NotFound
from core.domain.hashing import sha256
from core.domain.messages import Message
from core.domain.models import Change, FileRef, Kind, Snapshot
from core.domain.ports import ChangeLog
from core.entrypoints.service.review_view.shown import Side

FILE = {
    Kind.MEMORY: "memory.txt",
    Kind.DMN_RULE: "table.dmn",
    Kind.SKILL: "SKILL.md",
    Kind.AGENT_SKILLS: "skills.txt",
}


@dataclass(frozen=True)
class Tree:
    """The files of one state, by path; `whole` is the text of what is not a folder."""

    files: Mapping[str, FileRef]
    whole: Mapping[str, bytes]


def file_of(kind: Kind) -> str:
    """Return the path under which the text of a state is shown."""
    return FILE.get(kind, f"{kind.lower()}.txt")


def tree_of(kind: Kind, state: Snapshot | None) -> Tree:
    """Return a state as files."""
    if state is None:
        return Tree({}, {})
    if state.files is not None:
        return Tree(state.files, {})
    data = state.content.encode("utf-8")
    path = file_of(kind)
    return Tree({path: FileRef(sha256=sha256(data), size=len(data))}, {path: data})


def state_at(change: Change, side: Side) -> Snapshot | None:
    """Return one of the two states of a change."""
    return change.before if side is Side.BEFORE else change.after


async def read_file(change: Change, path: str, side: Side, changes: ChangeLog) -> bytes:
    """Return the bytes of one file of a change, whole. Raises NotFound."""
    tree = tree_of(change.kind, state_at(change, side))
    if path in tree.whole:
        return tree.whole[path]
    if path not in tree.files:
        raise NotFound(
            Message("change.no_file_of_side", id=change.id, path=path, side=side.value),
            hint=Message("see.files_of_sides"),
        )
    ref = tree.files[path]
    return (await changes.blobs([ref]))[ref.sha256]


async def read_files(
    trees: Sequence[Tree], paths: Sequence[str], changes: ChangeLog
) -> Mapping[str, bytes]:
    """Return the bytes of files by their SHA-256; files that are not stored are omitted."""
    whole = {
        ref.sha256: tree.whole[path]
        for tree in trees
        for path, ref in tree.files.items()
        if path in tree.whole
    }
    refs = [tree.files[path] for tree in trees for path in paths if path in tree.files]
    missing = [ref for ref in refs if ref.sha256 not in whole]
    if not missing:
        return whole
    try:
        return {**whole, **await changes.blobs(missing)}
    except NotFound:
        return {**whole, **await _one_by_one(missing, changes)}


async def _one_by_one(refs: Sequence[FileRef], changes: ChangeLog) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for ref in refs:
        try:
            found |= await changes.blobs([ref])
        except NotFound:
            continue
    return found
