"""What of an edit of a decision table stands, row by row and cell by cell (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.decision_table import edit_xml, parse_xml
from core.domain.models import DecisionRow, DecisionTable, RowEdit, RuleDraft, RuleRequest

Key = tuple[str, ...]
NAME: Key = ("name",)
POLICY: Key = ("hit policy",)


@dataclass
class LaterRows:
    """The parts of a table that steps said later have set, and rows that they removed."""

    parts: set[Key] = field(default_factory=set)

    def follow(self, before: str | None, after: str | None) -> None:
        """Note what a step set. Raises RuleInvalid if a state cannot be read."""
        old = parse_xml(before) if before is not None else None
        new = parse_xml(after) if after is not None else None
        self.parts.update(_touched(old, new))

    def states(self, xml: str, rows: Sequence[Sequence[str]] | None) -> None:
        """Note what a piece repeated: rows by id and column, or (None) the whole table."""
        if rows is None:
            self.follow(None, xml)
        else:
            self.parts.update(tuple(row) for row in rows)

    def has_set_a_row(self, xml: str) -> bool:
        """Whether a part of a present row was set later."""
        ids = {row.id for row in parse_xml(xml).rows}
        return any(part[0] in {"row", "cell"} and part[1] in ids for part in self.parts)


def _touched(old: DecisionTable | None, new: DecisionTable | None) -> Iterator[Key]:
    before = {row.id: row for row in old.rows} if old else {}
    after = {row.id: row for row in new.rows} if new else {}
    for row_id in before.keys() | after.keys():
        was, now = before.get(row_id), after.get(row_id)
        if was == now:
            continue
        if was is not None and old is not None and now is None:
            yield from (("row", row_id), ("case", *_case(old, was)))
        cells_before = _cells(old, was) if old and was else {}
        cells_after = _cells(new, now) if new and now else {}
        changed = [n for n in cells_after if cells_before.get(n) != cells_after[n]]
        yield from (("cell", row_id, name) for name in changed)
        if was is not None and old is not None and any(n.startswith("in ") for n in changed):
            yield ("case", *_case(old, was))
        if was is None and new is not None and now is not None:
            yield from (("row", row_id), ("case", *_case(new, now)))
    if old and new and old.name != new.name:
        yield NAME
    if old and new and old.hit_policy is not new.hit_policy:
        yield POLICY


def _case(table: DecisionTable, row: DecisionRow) -> Key:
    """Return the condition of a row, whatever the order of the columns."""
    named = zip((column.name for column in table.inputs), row.inputs, strict=True)
    return tuple(sorted(f"{name}\0{test}" for name, test in named if test.strip() != "-"))


def _cells(table: DecisionTable, row: DecisionRow) -> dict[str, str]:
    inputs = zip((f"in {column.name}" for column in table.inputs), row.inputs, strict=True)
    outputs = zip((f"out {column.name}" for column in table.outputs), row.outputs, strict=True)
    return {**dict(inputs), **dict(outputs)}


def stated(request: RuleRequest, xml: str) -> Sequence[Key]:
    """Return the parts of a table that a request states, which the table has already."""
    table = parse_xml(xml)
    cases = {_case(table, row): row.id for row in table.rows}
    found: list[Key] = []
    for edit in request.rule.rows:
        given = [f"{name}\0{test}" for name, test in edit.inputs.items() if test.strip() != "-"]
        row_id = edit.id or cases.get(tuple(sorted(given)))
        if row_id is not None:
            found += [("cell", row_id, f"in {name}") for name in edit.inputs]
            found += [("cell", row_id, f"out {name}") for name in edit.outputs]
    return found


def settled_table(before: str, after: str | None, later: LaterRows) -> tuple[str, list[str]]:
    """Return the table after as much of the edit as stands, and the rows of which some does not.

    An edit to None deletes the table: rows stay of which a part was set later. Raises RuleInvalid
    if the rest makes no table.
    """
    old = parse_xml(before)
    new = old.model_copy(update={"rows": ()}) if after is None else parse_xml(after)
    edit = _Edit(old, new, later.parts)
    draft = edit.draft()
    if draft is None:
        return before, edit.left
    ids = iter(edit.new_ids)
    return edit_xml(before, draft, None, new_row_id=lambda: next(ids)), edit.left


class _Edit:
    """An edit as a draft of what stands; `left` names rows that keep something."""

    def __init__(self, old: DecisionTable, new: DecisionTable, later: set[Key]) -> None:
        self._old, self._new, self._later = old, new, later
        self._known = {row.id: row for row in old.rows}
        self.left: list[str] = []
        self.new_ids: list[str] = []

    def draft(self) -> RuleDraft | None:
        """Return the draft, None if nothing of the edit stands."""
        rows = [*self._changed(), *self._added()]
        removed = tuple(self._removed())
        old_columns = {c.name for c in self._old.inputs} | {c.name for c in self._old.outputs}
        name, policy = self._new.name, self._new.hit_policy
        if name != self._old.name and NAME in self._later:
            self.left.append(self._old.name)
            name = self._old.name
        if policy is not self._old.hit_policy and POLICY in self._later:
            self.left.append(self._old.hit_policy)
            policy = self._old.hit_policy
        inputs = tuple(c for c in self._new.inputs if c.name not in old_columns)
        outputs = tuple(c for c in self._new.outputs if c.name not in old_columns)
        same = (name, policy) == (self._old.name, self._old.hit_policy)
        if same and not (rows or removed or inputs or outputs):
            return None
        return RuleDraft(
            name=name,
            hit_policy=policy,
            rows=tuple(rows),
            remove_rows=removed,
            inputs=inputs,
            outputs=outputs,
        )

    def _changed(self) -> Iterator[RowEdit]:
        for row in self._new.rows:
            was = self._known.get(row.id)
            if was is None or was == row:
                continue
            before, after = _cells(self._old, was), _cells(self._new, row)
            changed = {name: text for name, text in after.items() if before.get(name) != text}
            stands = {
                name: text
                for name, text in changed.items()
                if not self._later & {("cell", row.id, name), ("row", row.id)}
            }
            if len(stands) < len(changed):
                self.left.append(row.annotation or row.id)
            note = row.annotation if len(stands) == len(changed) else was.annotation
            if stands or note != was.annotation:
                yield RowEdit(id=row.id, annotation=note, **_sides(stands))

    def _added(self) -> Iterator[RowEdit]:
        rows = self._new.rows
        for at, row in enumerate(rows):
            if row.id in self._known:
                continue
            if ("case", *_case(self._new, row)) in self._later:
                self.left.append(row.annotation or row.id)
                continue
            self.new_ids.append(row.id)
            behind = next((r.id for r in rows[at + 1 :] if r.id in self._known), None)
            yield RowEdit(
                before=behind or self._first_of_theirs(),
                annotation=row.annotation,
                **_sides(_cells(self._new, row)),
            )

    def _first_of_theirs(self) -> str | None:
        """Return the first of the rows at the end that were added later: it follows ours."""
        found = None
        for row in reversed(self._old.rows):
            if ("row", row.id) not in self._later:
                break
            found = row.id
        return found

    def _removed(self) -> Iterator[str]:
        remaining = {row.id for row in self._new.rows}
        for row in self._old.rows:
            if row.id in remaining:
                continue
            if any(key[0] == "cell" and key[1] == row.id for key in self._later):
                self.left.append(row.annotation or row.id)
            else:
                yield row.id


def _sides(cells: dict[str, str]) -> dict[str, dict[str, str]]:
    return {
        "inputs": {n.removeprefix("in "): t for n, t in cells.items() if n.startswith("in ")},
        "outputs": {n.removeprefix("out "): t for n, t in cells.items() if n.startswith("out ")},
    }
