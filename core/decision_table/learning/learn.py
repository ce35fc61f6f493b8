"""The table that a draft or document would store: checked, with its cases and warnings."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from core.decision_table.cells import ANY
from core.decision_table.document.xml import parse_xml, to_xml
from core.decision_table.editing.draft import draft_to_table
from core.decision_table.editing.edits import edit_xml
from core.decision_table.editing.rows import arranged
from core.decision_table.evaluation.decide import decide
from core.decision_table.learning.cases import FROM_FEEDBACK, Case, cases_of, put_cases
from core.decision_table.learning.examples import alone, derived_case, learnt_case
from core.decision_table.learning.introduced import introduced, refuse_errors, warnings_of
from core.decision_table.learning.wording import case_words, outcome_words, remark_words, row_words
from core.decision_table.problems import refuse
from core.domain.errors import RuleInvalid
from core.domain.messages import Message, cut, joined
from core.domain.models import DecisionRow, DecisionTable, MergeMode, RowEdit, RuleDraft

# A case is tested against every row: at most so many tests of rows are made for one edit.
MAX_ROWS_DECIDED = 20_000
_MAX_REASON = 200


@dataclass(frozen=True)
class Outcome:
    """What a table returns for a case: a result, or why there is none, and the rows that count.

    `matched` are all rows that match, whatever the hit policy makes of them.
    """

    result: JsonValue = None
    why: str = ""
    fired: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tried:
    """A case of the row `row_id`, with its outcomes before and after an edit."""

    row_id: str
    case: Case
    before: Outcome
    after: Outcome

    @property
    def moved(self) -> bool:
        """Whether the outcome differs; new outputs do not count."""
        if self.before.why:
            return False
        if self.after.why:
            return True
        before, after = self.before.result, self.after.result
        return _within(before, before) != _within(after, before)


def try_cases(
    cases: Mapping[str, Sequence[Case]], before: DecisionTable, after: DecisionTable
) -> tuple[list[Tried], int]:
    """Decide all cases (row id -> cases) by both tables; also return how many were skipped.

    Only cases that match a changed row are decided, unless the edit concerns the whole table.
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
        tried.append(
            Tried(row_id, case, decide_case(before, case.inputs), decide_case(after, case.inputs))
        )
    return tried, passed_over


def moved_words(tried: Tried, before: DecisionTable, after: DecisionTable, named: str) -> str:
    """Return what an edit does to a case; `named` is `changed` or `removed` if it was intended."""
    case, row = case_words(tried.case.inputs), row_words(before, tried.row_id)
    said = _moved(tried, after)
    if named:
        return Message("learn.case_of_edited_row", row=row, done=named, case=case, said=said)
    return Message("learn.case_of_other_row", case=case, row=row, said=said)


def _moved(tried: Tried, after: DecisionTable) -> Message:
    old, new = outcome_words(tried.before.result), outcome_words(tried.after.result)
    if tried.after.why:
        return Message("learn.undecided_now", old=old, why=cut(tried.after.why, _MAX_REASON))
    rows = joined([row_words(after, row_id) for row_id in tried.after.fired[:2]], " and ")
    by = Message("learn.by_rows", rows=rows) if rows else ""
    return Message("learn.outcome_moved", old=old, new=new, by=by)


def _each(cases: Mapping[str, Sequence[Case]]) -> Iterator[tuple[str, Case]]:
    return ((row_id, case) for row_id, own in cases.items() for case in own)


def _touched(before: DecisionTable, after: DecisionTable) -> DecisionTable | None:
    """Return a table of the rows that differ, or None if more than rows does."""
    same_frame = before.model_copy(update={"name": "", "rows": ()})
    if same_frame != after.model_copy(update={"name": "", "rows": ()}):
        return None
    old = {(row.inputs, row.outputs): row for row in before.rows}
    new = {(row.inputs, row.outputs): row for row in after.rows}
    if len(old) < len(before.rows) or len(new) < len(after.rows):
        return None  # duplicate rows are counted twice where outputs are summed
    if [key for key in old if key in new] != [key for key in new if key in old]:
        return None
    differing = [row for key, row in old.items() if key not in new]
    return alone(after, (*differing, *(row for key, row in new.items() if key not in old)))


def _takes_in(touched: DecisionTable, case: Case) -> bool:
    try:
        return any(row.matches for row in decide(touched, case.inputs).rows)
    except RuleInvalid:
        return True


def decide_case(table: DecisionTable, inputs: Mapping[str, JsonValue]) -> Outcome:
    """Decide a case; columns that it does not know are null unless they can be computed."""
    unknown = {column.name: None for column in table.inputs if column.name not in inputs}
    for given in (inputs, {**inputs, **unknown}):
        try:
            decided = decide(table, given)
        except RuleInvalid as error:
            why = error.message
            continue
        matched = tuple(row.id for row in decided.rows if row.matches)
        return Outcome(decided.result, "", decided.fired, matched)
    return Outcome(why=why)


def same_outcome(found: JsonValue, wanted: JsonValue) -> bool:
    """Whether an outcome is as wanted, in the columns that are named there.

    Of a table with one output its value alone may be wanted.
    """
    if not isinstance(wanted, dict | list) and isinstance(found, dict) and len(found) == 1:
        return wanted in found.values()
    return _within(wanted, wanted) == _within(found, wanted)


def _within(result: JsonValue, frame: JsonValue) -> list[JsonValue]:
    """Return the results one by one, with the output columns of another outcome only."""
    frames = [one for one in _each_result(frame) if isinstance(one, dict)]
    names = frames[0] if frames else None
    return [
        {name: one[name] for name in names if name in one}
        if isinstance(one, dict) and names is not None
        else one
        for one in _each_result(result)
    ]


def _each_result(result: JsonValue) -> list[JsonValue]:
    """Return the results one by one: a single result equals a list of one, and null is none."""
    if result is None:
        return []
    return result if isinstance(result, list) else [result]


MAX_CASE_WARNINGS = 10
MAX_REMARK_WARNINGS = 5
# Deriving a case decides it by the whole table: the limit is on rows visited over all cases.
MAX_DERIVED = 10_000

_NO_CONDITION = Message("learn.no_condition")


@dataclass(frozen=True)
class Learnt:
    """A table ready to be written: its document, its content, and warnings for a reviewer."""

    xml: str
    table: DecisionTable
    warnings: tuple[str, ...] = ()


def learn_table(
    draft: RuleDraft, *, rule_id: str, new_row_id: Callable[[], str], feedback_id: str | None
) -> Learnt:
    """Make a new table of a draft, each row with its case. Raises RuleInvalid."""
    table = draft_to_table(draft, new_row_id=new_row_id)
    _refuse_nothing(None, table, table.rows)
    warnings = _checked(None, table, {})
    drafted = {row.id: edit for row, edit in zip(table.rows, draft.rows, strict=True)}
    cases = _cases(table, drafted, {}, feedback_id)
    return Learnt(put_cases(to_xml(table, decision_id=rule_id), cases), table, tuple(warnings))


def learn_edit(
    xml: str,
    draft: RuleDraft,
    merge_mode: MergeMode | None,
    *,
    new_row_id: Callable[[], str],
    feedback_id: str | None,
) -> Learnt:
    """Apply a draft to a document (see `edit_xml`). Raises RuleInvalid.

    All cases of the table before are decided again. Those with another outcome are warnings; a row
    that is edited retains those of its cases that still hold for it.
    """
    before, edited = parse_xml(xml), edit_xml(xml, draft, merge_mode, new_row_id=new_row_id)
    if edited == xml:
        return Learnt(xml, before)
    after = parse_xml(edited)
    drafted = _drafted(draft, before, after, merge_mode)
    _refuse_nothing(before, after, [row for row in after.rows if row.id in drafted])
    warnings = _checked(before, after, _ids(draft, before, after, merge_mode))
    older = cases_of(xml)
    tried, passed_over = try_cases(older, before, after)
    whole = merge_mode is MergeMode.REPLACE
    removed = {row.id for row in before.rows} if whole else set(draft.remove_rows)
    purpose = dict.fromkeys(drafted, Message("learn.changed"))
    purpose |= dict.fromkeys(removed, Message("learn.removed"))
    retained = _retained(older, tried, drafted, removed)
    cases = _cases(after, drafted, retained, feedback_id)
    warnings += _case_warnings(tried, passed_over, before, after, purpose)
    warnings += _remark_warnings(before, after)
    return Learnt(put_cases(edited, cases), after, tuple(warnings))


def learn_document(document: str, known: str | None) -> Learnt:
    """Accept a whole document as it is, in place of the `known` one. Raises RuleInvalid."""
    after = parse_xml(document)
    before = None if known is None else parse_xml(known)
    ids = {row.id: row.id for row in before.rows} if before else {}
    warnings = _checked(before, after, ids)
    if not _has_condition(after):
        warnings.append(_NO_CONDITION)
    if before is not None and known is not None and document != known:
        older = cases_of(known)
        tried, passed_over = try_cases(older, before, after)
        warnings += _case_warnings(tried, passed_over, before, after, {})
        warnings += _remark_warnings(before, after)
        warnings += _lost(older, cases_of(document))
    return Learnt(document, after, tuple(warnings))


def _checked(
    before: DecisionTable | None, after: DecisionTable, ids: Mapping[str, str]
) -> list[str]:
    """Refuse the errors that `after` introduces, and return its warnings."""
    found = introduced(before, after, ids)
    refuse_errors(after, found, new=before is None)
    return warnings_of(after, found)


def _refuse_nothing(
    before: DecisionTable | None, after: DecisionTable, drafted: Sequence[DecisionRow]
) -> None:
    """Refuse a table without any condition, and rows whose outcome is null."""
    problems = [
        Message("learn.no_outcome", row=row_words(after, row.id))
        for row in drafted
        if all(cell in {"", "null", ANY} for cell in row.outputs)
    ]
    if not _has_condition(after) and (before is None or _has_condition(before)):
        problems.append(_NO_CONDITION)
    refuse(problems)


def _has_condition(table: DecisionTable) -> bool:
    return any(cell != ANY for row in table.rows for cell in row.inputs)


def _drafted(
    draft: RuleDraft, before: DecisionTable, after: DecisionTable, merge_mode: MergeMode | None
) -> dict[str, RowEdit]:
    """Return row id after -> the draft's row, for rows that say something new."""
    if merge_mode is MergeMode.REPLACE:
        return {row.id: edit for row, edit in zip(after.rows, draft.rows, strict=True)}
    standing = zip(after.rows, _standing(draft, before), strict=True)
    were = {row.id: row for row in before.rows}
    now = {row.id: row for row in after.rows}
    changed = {
        edit.id: edit
        for edit in draft.rows
        if edit.id and (edit.example or were[edit.id] != now[edit.id])
    }
    return changed | {row.id: edit for row, edit in standing if isinstance(edit, RowEdit)}


def _standing(draft: RuleDraft, before: DecisionTable) -> Iterator[str | RowEdit]:
    retained = [row.id for row in before.rows if row.id not in draft.remove_rows]
    return arranged(retained, [edit for edit in draft.rows if not edit.id])


def _ids(
    draft: RuleDraft, before: DecisionTable, after: DecisionTable, merge_mode: MergeMode | None
) -> dict[str, str]:
    """Return row id before -> row id after, for the rows that stay."""
    if merge_mode is MergeMode.REPLACE:
        return {}
    standing = zip(_standing(draft, before), after.rows, strict=True)
    return {was: row.id for was, row in standing if isinstance(was, str)}


def _retained(
    older: Mapping[str, Sequence[Case]],
    tried: Sequence[Tried],
    drafted: Mapping[str, RowEdit],
    removed: set[str],
) -> dict[str, list[Case]]:
    """Return row id after -> older cases that it retains.

    A changed row retains what it still decides; the cases of a removed row go to the drafted row
    that decides them as before.
    """
    moves = {(one.row_id, id(one.case)): one for one in tried}
    retained: dict[str, list[Case]] = {row_id: [] for row_id in drafted}
    for row_id, cases in older.items():
        if row_id not in drafted and row_id not in removed:
            continue
        for case in cases:
            home = _home(row_id, moves.get((row_id, id(case))), retained)
            if home is not None:
                retained[home].append(case)
    return retained


def _home(row_id: str, tried: Tried | None, drafted: Container[str]) -> str | None:
    if tried is not None and tried.moved:
        return None
    deciding = tried.after.fired if tried is not None else ()
    return next((home for home in (*deciding, row_id) if home in drafted), None)


def _cases(
    table: DecisionTable,
    drafted: Mapping[str, RowEdit],
    retained: Mapping[str, Sequence[Case]],
    feedback_id: str | None,
) -> dict[str, list[Case]]:
    """Return row id -> its cases, for each drafted row. Raises RuleInvalid for a wrong example."""
    problems: list[str] = []
    cases: dict[str, list[Case]] = {}
    spare = MAX_DERIVED
    for row in table.rows:
        if row.id not in drafted:
            continue
        own = [*retained.get(row.id, ())]
        if example := drafted[row.id].example:
            case = learnt_case(table, row, example, problems, feedback_id)
            own = [*_besides(own, case)]
        elif not own and spare > 0:
            spare -= len(table.rows)
            case = derived_case(table, row)
            own = [case] if case else []
        cases[row.id] = own
    refuse(problems, hint=Message("learn.correct_row"))
    return cases


def _besides(older: Sequence[Case], case: Case | None) -> Iterator[Case]:
    """Yield the older cases that come from feedback, then the new one."""
    if case is not None:
        yield from (
            one for one in older if one.origin == FROM_FEEDBACK and one.inputs != case.inputs
        )
        yield case


def _case_warnings(
    tried: Sequence[Tried],
    passed_over: int,
    before: DecisionTable,
    after: DecisionTable,
    purpose: Mapping[str, str],
) -> list[str]:
    """Return a sentence for each case with another outcome, the unintended ones first."""
    moved = sorted((one for one in tried if one.moved), key=lambda one: one.row_id in purpose)
    sentences = [
        moved_words(one, before, after, purpose.get(one.row_id, ""))
        for one in moved[:MAX_CASE_WARNINGS]
    ]
    if len(moved) > MAX_CASE_WARNINGS:
        sentences.append(Message("learn.more_cases_change", n=len(moved) - MAX_CASE_WARNINGS))
    if passed_over:
        sentences.append(Message("learn.cases_not_decided", n=passed_over))
    return sentences


def _remark_warnings(before: DecisionTable, after: DecisionTable) -> list[str]:
    """Return a sentence for each row whose wording alone has changed."""
    now = {row.id: row for row in after.rows}
    sentences = [
        remark_words(after, old, new)
        for old in before.rows
        if (new := now.get(old.id))
        and (new.inputs, new.outputs) == (old.inputs, old.outputs)
        and new.annotation != old.annotation
    ]
    if len(sentences) > MAX_REMARK_WARNINGS:
        more = Message("learn.more_rows_reworded", n=len(sentences) - MAX_REMARK_WARNINGS)
        return [*sentences[:MAX_REMARK_WARNINGS], more]
    return sentences


def _lost(older: Mapping[str, Sequence[Case]], own: Mapping[str, Sequence[Case]]) -> list[str]:
    """Return how many older cases a document no longer contains, in words."""
    there = [case for cases in own.values() for case in cases]
    gone = sum(case not in there for cases in older.values() for case in cases)
    if not gone:
        return []
    return [Message("learn.cases_left_out", n=gone)]
