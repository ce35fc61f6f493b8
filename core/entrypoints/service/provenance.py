"""Which version, change and feedback brought each line of a text, or row of a decision table."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from core.decision_table import parse_xml
from core.decision_table.cells import ANY
from core.domain.errors import NotFound, RuleInvalid
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    DecisionTable,
    FileRef,
    Kind,
    KnowledgeItem,
    Origin,
    SkillFile,
    Snapshot,
)
from core.domain.models.views import Made
from core.domain.ports import ChangeLog, Lineage
from core.entrypoints.service.items import Part, Provenance, Source
from core.entrypoints.service.review_view.alignment import Effort, align
from core.entrypoints.service.review_view.states import Tree, read_files, tree_of
from core.skills.bundle import file_ref

OTHERS = -1
OLDER = -2


class Step(NamedTuple):
    """A state by its SHA-256, None for absence; `by` is the index of the change that made it.

    Otherwise `by` is OTHERS: not made by this program; or OLDER: made by an earlier change.
    """

    sha256: str | None
    by: int
    takes_back: bool = False


def steps_of(
    made: Sequence[Made], hashes: Sequence[tuple[str | None, str | None]], now: str
) -> list[Step]:
    """Return the states of a text through changes, oldest first, up to its state `now`.

    `hashes` are those before and after each change.
    """
    return [*_steps(made, hashes, now)]


def _steps(
    made: Sequence[Made], hashes: Sequence[tuple[str | None, str | None]], now: str
) -> Iterator[Step]:
    last: str | None = None
    for index, (one, (before, after)) in enumerate(zip(made, hashes, strict=True)):
        if before != last:
            yield Step(before, OLDER if index == 0 and _is_cut(one) else OTHERS)
        if after != before:
            by = OTHERS if one.by.origin is Origin.OUTSIDE else index
            yield Step(after, by, _takes_back(one))
        last = after
    if last != now or not made:
        yield Step(now, OTHERS)


def _is_cut(first: Made) -> bool:
    """Whether there were changes before the first that was read."""
    return first.version != 1


def _takes_back(made: Made) -> bool:
    """Whether a change restores an earlier state: a revert, a retraction, a restored version."""
    return made.takes_back or (made.by.origin is Origin.PERSON and made.by.feedback_id is None)


Units = tuple[str, ...]


class State(NamedTuple):
    """A text as it was, in units; None if it was absent.

    `by` is who brought what is new in it. `takes_back`: if an earlier text was identical, it is
    that one again, with its origins.
    """

    units: Units | None
    by: int
    takes_back: bool = False


def blame(states: Sequence[State], *, in_order: bool) -> list[int]:
    """Return who brought each unit of the last of several consecutive states.

    Units `in_order` are lines, matched by position; others, such as rows with names, keep their
    identity wherever they are moved.
    """
    units: Units = ()
    owners: list[int] = []
    stood: dict[Units, list[int]] = {}
    for state in states:
        if state.units is None:
            units, owners = (), []
            continue
        known = stood.get(state.units) if state.takes_back else None
        if known is None:
            carried = _carried_in_order if in_order else _carried
            known = carried(units, owners, state.units, state.by)
        units, owners = state.units, known
        stood[units] = owners
    return owners


def _carried_in_order(old: Units, owners: Sequence[int], new: Units, by: int) -> list[int]:
    """Carry origins over along the order; in rewritten parts, to lines that were there before."""
    found: list[int] = []
    for same, start, end, to_start, to_end in align(old, new, Effort()):
        if same:
            found += owners[start:end]
        else:
            found += _carried(old[start:end], owners[start:end], new[to_start:to_end], by)
    return found


def _carried(old: Units, owners: Sequence[int], new: Units, by: int) -> list[int]:
    """Carry origins over to units that were anywhere before, as many times as they were."""
    free: defaultdict[str, deque[int]] = defaultdict(deque)
    for unit, owner in zip(old, owners, strict=True):
        free[unit].append(owner)
    return [free[unit].popleft() if free[unit] else by for unit in new]


MAX_TEXT = 2**20
MAX_LINES = 20_000
_SOURCES = {OTHERS: Source.OTHERS, OLDER: Source.OLDER}
Split = Callable[[str], Units]


def followed(
    plain: Provenance, made: Sequence[Made], steps: Sequence[Step], data: Mapping[str, bytes]
) -> Provenance:
    """Fill in who brought each line of the last step, or each row if it is a table."""
    texts = {sha256: text for sha256, raw in data.items() if (text := _text(raw)) is not None}
    now = texts.get(steps[-1].sha256 or "")
    if now is None:
        return plain.model_copy(update=_unread(data.get(steps[-1].sha256 or "", b"")))
    table = _table(now) if plain.kind is Kind.DMN_RULE else None
    split = lines_of if table is None else _rows
    owners = blame(_states(steps, texts, split), in_order=table is None)
    parts = tuple(_parts(owners, made))
    shown = {part.version for part in parts if part.source is Source.VERSION}
    return plain.model_copy(
        update={
            "lines": lines_of(now) if table is None else (),
            "table": table,
            "parts": parts,
            "versions": tuple(one.alone() for one in made if one.version in shown),
        }
    )


def lines_of(text: str) -> Units:
    """Split at line feeds alone, as diffs do: everything else is content."""
    lines = text.split("\n")
    return tuple(lines[:-1] if lines[-1] == "" else lines)


def _text(raw: bytes) -> str | None:
    """Return the text to be traced, None if it is binary or too large."""
    if len(raw) > MAX_TEXT or raw.count(b"\n") > MAX_LINES or b"\0" in raw:
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _unread(raw: bytes) -> dict[str, object]:
    """Return the result for a text that is not traced: its lines are counted, not attributed."""
    lines = raw.count(b"\n") + (not raw.endswith(b"\n"))
    is_text = b"\0" not in raw and _decodes(raw)
    parts = (Part(first=1, last=lines, source=Source.UNREAD),) if is_text and raw else ()
    return {"parts": parts}


def _decodes(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _states(steps: Sequence[Step], texts: Mapping[str, str], split: Split) -> list[State]:
    """Return the states after the last unreadable one; the first of them is older."""
    states: list[State] = []
    is_cut = False
    for step in steps:
        units = _units(texts.get(step.sha256), split) if step.sha256 else None
        if step.sha256 and units is None:
            states, is_cut = [], True
            continue
        by = OLDER if is_cut and units is not None else step.by
        is_cut = is_cut and units is None
        states.append(State(units, by, step.takes_back))
    return states


def _units(text: str | None, split: Split) -> Units | None:
    if text is None:
        return None
    try:
        return split(text)
    except RuleInvalid:
        return None


def _table(text: str) -> DecisionTable | None:
    try:
        return parse_xml(text)
    except RuleInvalid:
        return None


def _rows(text: str) -> Units:
    """Return each row as values by column name; a column that matches anything is omitted."""
    table = parse_xml(text)
    inputs = [column.name for column in table.inputs]
    outputs = [column.name for column in table.outputs]
    return tuple(
        "\0".join((_cells(inputs, row.inputs), _cells(outputs, row.outputs), row.annotation))
        for row in table.rows
    )


def _cells(names: Sequence[str], cells: Sequence[str]) -> str:
    named_cells = zip(names, cells, strict=True)
    return "\1".join(sorted(f"{name}\2{cell}" for name, cell in named_cells if cell != ANY))


def _parts(owners: Sequence[int], made: Sequence[Made]) -> Iterator[Part]:
    first = 1
    for owner, run in groupby(owners):
        last = first + len([*run]) - 1
        source = _SOURCES.get(owner, Source.VERSION)
        version = made[owner].version if owner >= 0 else None
        yield Part(first=first, last=last, source=source, version=version)
        first = last + 1


MAX_CHANGES = 100
MAX_BYTES = 8 * 2**20  # of all states together
LARGE = 20_000  # bytes above which tracing goes to a thread, so as not to block other calls


async def provenance_of(
    item: KnowledgeItem,
    files: Mapping[str, SkillFile],
    path: str | None,
    lineage: Lineage,
    changes: ChangeLog,
) -> Provenance:
    """Trace a text of an item back through its changes. Raises NotFound."""
    made = await lineage.made(
        item.kind, item.tenant_id, item.id, limit=MAX_CHANGES, max_bytes=MAX_BYTES
    )
    now = _now(item, files)
    path = _path(item, now, path)
    trees = [(tree_of(item.kind, one.before), tree_of(item.kind, one.after)) for one in made]
    steps = steps_of(made, [_hashes(pair, path) for pair in trees], now.files[path].sha256)
    data = await _data(steps, [*chain(*trees), now], path, changes)
    plain = Provenance(kind=item.kind, id=item.id, tenant_id=item.tenant_id, path=path)
    if sum(map(len, data.values())) > LARGE:
        return await asyncio.to_thread(followed, plain, made, steps, data)
    return followed(plain, made, steps, data)


def _now(item: KnowledgeItem, files: Mapping[str, SkillFile]) -> Tree:
    """Return an item as it is now, with all bytes at hand."""
    if item.kind is not Kind.SKILL:
        return tree_of(item.kind, Snapshot(content=item.content, name=item.name))
    refs = {path: file_ref(file) for path, file in files.items()}
    return Tree(refs, {path: file.data for path, file in files.items()})


def _path(item: KnowledgeItem, now: Tree, wanted: str | None) -> str:
    """Return the path of the text to trace: SKILL.md of a skill, unless another is wanted."""
    if wanted is None:
        wanted = SKILL_MD if item.kind is Kind.SKILL else next(iter(now.files))
    if wanted not in now.files:
        raise NotFound(Message("no.file_of_item", kind=item.kind, id=item.id, path=wanted))
    return wanted


def _hashes(pair: tuple[Tree, Tree], path: str) -> tuple[str | None, str | None]:
    before, after = (tree.files.get(path) for tree in pair)
    return before.sha256 if before else None, after.sha256 if after else None


async def _data(
    steps: Sequence[Step], trees: Sequence[Tree], path: str, changes: ChangeLog
) -> dict[str, bytes]:
    """Return the bytes of the newest steps by their SHA-256, as many as fit the memory limit."""
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
