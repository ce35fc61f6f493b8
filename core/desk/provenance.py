"""Which version, change and feedback brought each line of a text, or row of a decision table."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain

from core.desk.known import Provenance
from core.desk.provenance_parts import followed
from core.desk.provenance_steps import Step, steps_of
from core.desk.sheet.states import Tree, read_files, tree_of
from core.errors import NotFound
from core.models import SKILL_MD, FileRef, Kind, KnowledgeItem, SkillFile, Snapshot
from core.ports import ChangeLog, Lineage
from core.skill_bundle import file_ref

MAX_CHANGES = 100
MAX_BYTES = 8 * 2**20  # of all states together
_LARGE = 20_000  # bytes above which others are not to wait while they are followed


async def provenance_of(
    item: KnowledgeItem,
    files: Mapping[str, SkillFile],
    path: str | None,
    lineage: Lineage,
    changes: ChangeLog,
) -> Provenance:
    """Follow a text of an item as it stands back through its changes. Raises NotFound."""
    made = await lineage.made(
        item.kind, item.tenant_id, item.id, limit=MAX_CHANGES, max_bytes=MAX_BYTES
    )
    now = _now(item, files)
    path = _path(item, now, path)
    trees = [(tree_of(item.kind, one.before), tree_of(item.kind, one.after)) for one in made]
    steps = steps_of(made, [_hashes(pair, path) for pair in trees], now.files[path].sha256)
    data = await _data(steps, [*chain(*trees), now], path, changes)
    plain = Provenance(kind=item.kind, id=item.id, tenant_id=item.tenant_id, path=path)
    if sum(map(len, data.values())) > _LARGE:
        return await asyncio.to_thread(followed, plain, made, steps, data)
    return followed(plain, made, steps, data)


def _now(item: KnowledgeItem, files: Mapping[str, SkillFile]) -> Tree:
    """Give an item as it stands, with all bytes at hand."""
    if item.kind is not Kind.SKILL:
        return tree_of(item.kind, Snapshot(content=item.content, name=item.name))
    refs = {path: file_ref(file) for path, file in files.items()}
    return Tree(refs, {path: file.data for path, file in files.items()})


def _path(item: KnowledgeItem, now: Tree, wanted: str | None) -> str:
    """Give the path of the text to follow: of a skill SKILL.md unless told."""
    if wanted is None:
        wanted = SKILL_MD if item.kind is Kind.SKILL else next(iter(now.files))
    if wanted not in now.files:
        raise NotFound(f"{item.kind} {item.id!r} has no file {wanted!r}")
    return wanted


def _hashes(pair: tuple[Tree, Tree], path: str) -> tuple[str | None, str | None]:
    before, after = (tree.files.get(path) for tree in pair)
    return before.sha256 if before else None, after.sha256 if after else None


async def _data(
    steps: Sequence[Step], trees: Sequence[Tree], path: str, changes: ChangeLog
) -> dict[str, bytes]:
    """Give the bytes of the newest steps by their SHA-256, as many as may be held together."""
    refs = {ref.sha256: ref for tree in trees if (ref := tree.files.get(path))}
    data = {tree.files[path].sha256: tree.whole[path] for tree in trees if path in tree.whole}
    wanted: dict[str, FileRef] = {}
    size = 0
    for step in reversed(steps):
        ref = refs.get(step.sha256 or "")
        if ref is None or ref.sha256 in data or ref.sha256 in wanted:
            continue
        size += ref.size
        if size > MAX_BYTES:
            break
        wanted[ref.sha256] = ref
    return {**data, **await read_files([Tree(wanted, {})], [*wanted], changes)}
