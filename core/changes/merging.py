"""What a change adds to an item that it did not know: rows, lines or sections put beside it (pure).

Unlike a three-way merge this needs no common origin: two pieces of feedback may each have made an
item of their own about one subject.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.changes.three_way_merge import State
from core.decision_table import parse_xml
from core.domain.hashing import name_key
from core.domain.models import (
    SKILL_MD,
    DecisionRow,
    DecisionTable,
    RowEdit,
    RuleDraft,
    SkillFile,
)
from core.knowledge.duplicates import CLASHES, Known, evidence
from core.knowledge.duplicates.rules import row_pairs
from core.skills.document.frontmatter import split_document
from core.skills.document.markdown import headings, lines_of


class NotMergeable(Exception):
    """Code cannot put the two together without knowing what they mean."""


def clashes(new: str, known: str) -> str:
    """Return in what two texts contradict each other, "" if both can hold."""
    found = evidence(new, Known("", "", known))
    told = [one for one in found.differs if one.what in CLASHES]
    # What only one of them says restricts nothing that the other says, unless it denies it.
    return found.why if any(d.what == "negation" or (d.new and d.known) for d in told) else ""


def overriding(new: str, known: str, judged: Collection[str] = ()) -> tuple[str, str]:
    """Return a text with a new one in the place of the lines it contradicts, and in what it does.

    Both empty if it contradicts none. Lines that were `judged` when it was asked for do not count.
    """
    lines = known.splitlines()
    if len(lines) < 2 and known not in judged:
        why = clashes(new, known)
        return (new, why) if why else ("", "")
    told = {
        at: why
        for at, line in enumerate(lines)
        if line not in judged and (why := _clashes_near(new, line))
    }
    if not told:
        return "", ""
    first = min(told)
    made = [new if at == first else line for at, line in enumerate(lines)]
    return "\n".join(line for at, line in enumerate(made) if at == first or at not in told), told[
        first
    ]


def _clashes_near(new: str, line: str) -> str:
    found = evidence(new, Known("", "", line))
    return clashes(new, line) if found.is_near and not found.is_about_another else ""


@dataclass
class Rows:
    """Edits that put the rows of a table into another; `clashing` name known rows they override."""

    edits: list[RowEdit] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    clashing: list[str] = field(default_factory=list)


def rows_onto(before: str | None, after: str, now: str) -> tuple[RuleDraft, Sequence[str]]:
    """Return the edit of the table `now` that does what made `before` into `after`.

    And the rows of `now` that it overrides although they say something else by now. Raises
    RuleInvalid, NotMergeable if the two decide in different ways.
    """
    old, new, there = (parse_xml(text) if text else None for text in (before, after, now))
    assert new is not None
    assert there is not None
    known_columns = _columns(there)
    is_same_way = (new.hit_policy, new.aggregation) == (there.hit_policy, there.aggregation)
    changes_way = old is not None and old.hit_policy is not new.hit_policy
    if not is_same_way and not changes_way and old is None:
        raise NotMergeable
    made = _rows(old, new, there)
    renamed = old is not None and old.name != new.name
    draft = RuleDraft(
        name=new.name if renamed else "",
        hit_policy=new.hit_policy if changes_way else None,
        inputs=tuple(c for c in new.inputs if name_key(c.name) not in known_columns),
        outputs=tuple(c for c in new.outputs if name_key(c.name) not in known_columns),
        rows=tuple(made.edits),
        remove_rows=tuple(made.removed),
    )
    return draft, made.clashing


def _columns(table: DecisionTable) -> set[str]:
    names = [*(c.name for c in table.inputs), *(c.name for c in table.outputs)]
    return set(map(name_key, names))


def _rows(old: DecisionTable | None, new: DecisionTable, there: DecisionTable) -> Rows:
    made = Rows()
    before = {row.id: row for row in old.rows} if old else {}
    present = {row.id: row for row in there.rows}
    added = [row for row in new.rows if row.id not in before]
    for row in new.rows:
        if row.id in before and row != before[row.id]:
            _changed(row, before[row.id], present.get(row.id), (old or new, new, there), made)
    _added(added, new, there, made)
    after = {row.id for row in new.rows}
    for row_id in before.keys() - after:
        if row_id in present:
            made.removed.append(row_id)
            if present[row_id] != before[row_id]:
                made.clashing.append(row_id)
    return made


def _changed(
    row: DecisionRow,
    was: DecisionRow,
    now: DecisionRow | None,
    tables: tuple[DecisionTable, DecisionTable, DecisionTable],
    made: Rows,
) -> None:
    """Put the cells of one row that an edit changed into the same row as it is now."""
    old, new, there = tables
    if now is None:  # somebody has removed it: what it says now is said anew
        made.clashing.append(was.id)
        made.edits.append(_edit(new, row, None))
        return
    cells, known, base = _cells(new, row), _cells(there, now), _cells(old, was)
    # What explains a row goes with its outcome: who has set that has also said why.
    is_mine = row.outputs != was.outputs or now.annotation == was.annotation
    remark = row.annotation if is_mine else now.annotation
    changed = {key: text for key, text in cells.items() if base.get(key) != text}
    if any(known.get(key) not in {base.get(key), text} for key, text in changed.items()):
        made.clashing.append(now.id)
    differing = {key: text for key, text in changed.items() if known.get(key) != text}
    if differing:
        made.edits.append(
            RowEdit(id=now.id, annotation=remark, **_sides(differing)),
        )


def _added(
    rows: Sequence[DecisionRow], new: DecisionTable, there: DecisionTable, made: Rows
) -> None:
    """Put rows beside those that are there; one of the same condition takes its place."""
    alone = new.model_copy(update={"rows": tuple(rows)})
    for row, known, agrees in row_pairs(alone, there):
        if known is None:
            made.edits.append(_edit(new, row, None))
        elif not agrees:
            made.clashing.append(known.id)
            made.edits.append(_edit(new, row, known.id))


def _edit(table: DecisionTable, row: DecisionRow, row_id: str | None) -> RowEdit:
    cells = _cells(table, row)
    if row_id is not None:  # the condition is the same, in whatever notation
        cells = {key: text for key, text in cells.items() if key[0] == "out"}
    return RowEdit(id=row_id, annotation=row.annotation, **_sides(cells))


Cells = Mapping[tuple[str, str], str]


def _cells(table: DecisionTable, row: DecisionRow) -> Cells:
    inputs = zip((("in", c.name) for c in table.inputs), row.inputs, strict=True)
    outputs = zip((("out", c.name) for c in table.outputs), row.outputs, strict=True)
    return {**dict(inputs), **dict(outputs)}


def _sides(cells: Cells) -> dict[str, dict[str, str]]:
    return {
        "inputs": {name: text for (side, name), text in cells.items() if side == "in"},
        "outputs": {name: text for (side, name), text in cells.items() if side == "out"},
    }


def folder_onto(new: State, now: State) -> Mapping[str, SkillFile]:
    """Return a skill with the sections and files that another has more.

    Raises NotMergeable where both say something else in one place.
    """
    made = dict(now.files or {})
    for path, file in (new.files or {}).items():
        if path not in made:
            made[path] = file
        elif made[path].data != file.data:
            made[path] = _united(path, file, made[path])
    head, body = split_document(now.text)
    more = split_document(new.text)[1]
    text = head + _sections_onto(more, body)
    return {**made, SKILL_MD: SkillFile(data=text.encode(), executable=now.runs)}


def _united(path: str, new: SkillFile, now: SkillFile) -> SkillFile:
    if not path.endswith(".md"):
        raise NotMergeable
    try:
        text = _sections_onto(new.data.decode(), now.data.decode())
    except UnicodeDecodeError:
        raise NotMergeable from None
    return SkillFile(data=text.encode(), executable=now.executable)


def _sections_onto(new: str, now: str) -> str:
    """Append the sections that a text lacks. Raises NotMergeable if a common one differs."""
    known = dict(_sections(now))
    added: list[str] = []
    for path, text in _sections(new):
        if path not in known:
            added.append(text)
        elif known[path].split() != text.split():
            raise NotMergeable
    if not added:
        return now
    return "\n".join([now.rstrip("\n"), "", "".join(added).rstrip("\n"), ""])


def _sections(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what stands under each heading, with the path of headings to it.

    The title names the skill and is no part of a path; what stands under it counts without it.
    """
    lines, found = lines_of(text), headings(text)
    above: list[tuple[int, str]] = []
    for at, heading in enumerate(found):
        end = found[at + 1].first if at + 1 < len(found) else len(lines)
        begin = heading.after if heading.level == 1 else heading.first
        said = "".join(lines[begin:end])
        if heading.level == 1:
            if said.strip():
                yield (), said
            continue
        above = [*(one for one in above if one[0] < heading.level), (heading.level, heading.text)]
        yield tuple(name for _, name in above), said
