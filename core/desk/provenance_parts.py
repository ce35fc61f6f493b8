"""A text followed through its states: its lines or rows by the version that brought them (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from core.decision_table import parse_xml
from core.decision_table.cells import ANY
from core.desk.blame import State, Units, blame
from core.desk.known import Part, Provenance, Source
from core.desk.provenance_steps import OLDER, OTHERS, Step
from core.errors import RuleInvalid
from core.models import DecisionTable, Kind
from core.models.known import Made

MAX_TEXT = 2**20
MAX_LINES = 20_000
_SOURCES = {OTHERS: Source.OTHERS, OLDER: Source.OLDER}
Split = Callable[[str], Units]


def followed(
    plain: Provenance, made: Sequence[Made], steps: Sequence[Step], data: Mapping[str, bytes]
) -> Provenance:
    """Fill in who brought each line of the last step, or each row where it is a table."""
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
    """Split at line feeds alone, as diffs do: all else is content."""
    lines = text.split("\n")
    return tuple(lines[:-1] if lines[-1] == "" else lines)


def _text(raw: bytes) -> str | None:
    """Give what can be followed as text, None for what is binary or too large."""
    if len(raw) > MAX_TEXT or raw.count(b"\n") > MAX_LINES or b"\0" in raw:
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _unread(raw: bytes) -> dict[str, object]:
    """Give what is said of a text that is not followed: its lines are counted, and not told."""
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
    """Give the states behind the last that could not be read; the first of them is older."""
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
    """Give what each row says by the names of its columns; a column for any case says nothing."""
    table = parse_xml(text)
    inputs = [column.name for column in table.inputs]
    outputs = [column.name for column in table.outputs]
    return tuple(
        "\0".join((_cells(inputs, row.inputs), _cells(outputs, row.outputs), row.annotation))
        for row in table.rows
    )


def _cells(names: Sequence[str], cells: Sequence[str]) -> str:
    said = zip(names, cells, strict=True)
    return "\1".join(sorted(f"{name}\2{cell}" for name, cell in said if cell != ANY))


def _parts(owners: Sequence[int], made: Sequence[Made]) -> Iterator[Part]:
    first = 1
    for owner, run in groupby(owners):
        last = first + len([*run]) - 1
        source = _SOURCES.get(owner, Source.VERSION)
        version = made[owner].version if owner >= 0 else None
        yield Part(first=first, last=last, source=source, version=version)
        first = last + 1
