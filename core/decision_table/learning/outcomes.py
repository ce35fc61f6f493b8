"""Older cases put to a table before and after an edit: which of them come out otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from core.decision_table.evaluation.decide import decide
from core.decision_table.learning.cases import Case
from core.decision_table.learning.examples import alone
from core.decision_table.learning.wording import case_words, outcome_words, row_words
from core.errors import RuleInvalid
from core.models import DecisionTable

# A case is put to every row; so many tests of rows are made for one edit at most.
MAX_ROWS_DECIDED = 20_000
_MAX_REASON = 200


@dataclass(frozen=True)
class Outcome:
    """What a table gives for a case: a result, or why it gives none, and the rows that count."""

    result: JsonValue = None
    why: str = ""
    fired: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tried:
    """A case of the row `row_id`, with what it came to before an edit and comes to after it."""

    row_id: str
    case: Case
    before: Outcome
    after: Outcome

    @property
    def moved(self) -> bool:
        """True where it comes out otherwise; outputs that are new do not count."""
        if self.before.why:
            return False
        if self.after.why:
            return True
        before, after = self.before.result, self.after.result
        return _within(before, before) != _within(after, before)


def try_cases(
    cases: Mapping[str, Sequence[Case]], before: DecisionTable, after: DecisionTable
) -> tuple[list[Tried], int]:
    """Put all cases (row id -> cases) to both tables; give also how many were too many to try.

    Only cases that a changed row takes in are decided, unless the edit is about the whole table.
    """
    touched = _touched(before, after)
    left = MAX_ROWS_DECIDED // (len(before.rows) + len(after.rows) + 1)
    tried: list[Tried] = []
    passed_over = 0
    for row_id, case in _each(cases):
        if touched is not None and not _takes_in(touched, case):
            continue
        if left <= 0:
            passed_over += 1
            continue
        left -= 1
        tried.append(Tried(row_id, case, _outcome(before, case), _outcome(after, case)))
    return tried, passed_over


def moved_words(tried: Tried, before: DecisionTable, after: DecisionTable, named: str) -> str:
    """Say what an edit does to a case. `named` is `changed` or `removed` where it is on purpose."""
    case, row = case_words(tried.case.inputs), row_words(before, tried.row_id)
    said = f"gave {outcome_words(tried.before.result)}"
    if tried.after.why:
        said += f" and cannot be decided any more: {tried.after.why[:_MAX_REASON]}"
    else:
        by = " and ".join(row_words(after, row_id) for row_id in tried.after.fired[:2])
        said += f", will give {outcome_words(tried.after.result)}" + (f" by {by}" if by else "")
    if named:
        return f"as {row} is {named}, its case {case} comes out otherwise: it {said}"
    return f"an older case comes out otherwise: {case} of {row}, which is not edited, {said}"


def _each(cases: Mapping[str, Sequence[Case]]) -> Iterator[tuple[str, Case]]:
    return ((row_id, case) for row_id, held in cases.items() for case in held)


def _touched(before: DecisionTable, after: DecisionTable) -> DecisionTable | None:
    """Give a table of the rows that differ, None where more than rows does."""
    same_frame = before.model_copy(update={"name": "", "rows": ()})
    if same_frame != after.model_copy(update={"name": "", "rows": ()}):
        return None
    old = {(row.inputs, row.outputs): row for row in before.rows}
    new = {(row.inputs, row.outputs): row for row in after.rows}
    if len(old) < len(before.rows) or len(new) < len(after.rows):
        return None  # rows that say the same count twice where outputs are summed
    if [key for key in old if key in new] != [key for key in new if key in old]:
        return None
    differing = [row for key, row in old.items() if key not in new]
    return alone(after, (*differing, *(row for key, row in new.items() if key not in old)))


def _takes_in(touched: DecisionTable, case: Case) -> bool:
    try:
        return any(row.matches for row in decide(touched, case.inputs).rows)
    except RuleInvalid:
        return True


def _outcome(table: DecisionTable, case: Case) -> Outcome:
    """Decide a case; columns that it does not know are null where they cannot be computed."""
    unknown = {column.name: None for column in table.inputs if column.name not in case.inputs}
    for inputs in (case.inputs, {**case.inputs, **unknown}):
        try:
            decided = decide(table, inputs)
            return Outcome(decided.result, "", decided.fired)
        except RuleInvalid as error:
            why = error.message
    return Outcome(why=why)


def _within(result: JsonValue, frame: JsonValue) -> list[JsonValue]:
    """Give the results one by one, with the output columns of another outcome only."""
    frames = [one for one in _each_result(frame) if isinstance(one, dict)]
    names = frames[0] if frames else None
    return [
        {name: one[name] for name in names if name in one}
        if isinstance(one, dict) and names is not None
        else one
        for one in _each_result(result)
    ]


def _each_result(result: JsonValue) -> list[JsonValue]:
    """A single result and a list of one say the same; null is none."""
    if result is None:
        return []
    return result if isinstance(result, list) else [result]
