"""What an older case gives way to: an explicit correction, and nothing else (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from pydantic import JsonValue

from core.changes.cases.proposed import asks, expects
from core.changes.cases.running import says
from core.decision_table import parse_xml
from core.decision_table.evaluation.decide import decide
from core.decision_table.learning.learn import decide_case
from core.domain.errors import RuleInvalid
from core.domain.models import (
    Change,
    DecisionTable,
    MemoryRequest,
    MergeMode,
    RestoreRequest,
    RuleRequest,
)
from core.domain.models.cases import Case, CaseOrigin, Check
from core.domain.text import normal_form

_TEXT = re.compile(r'"([^"]+)"')


class Corrections:
    """What a change corrects explicitly: by a case that says otherwise, by naming a row, by words.

    What code derives from a change corrects nothing: it follows from any change, also a wrong one.
    """

    def __init__(self, change: Change, own: Sequence[Case]) -> None:
        self._change = change
        stated = [case.body for case in own if case.origin is not CaseOrigin.DERIVED]
        self._decisions = [body for body in stated if body.check is Check.DECISION]
        self._withdrawn = [body for body in stated if body.check is Check.WITHDRAWN]
        self._stated = {asks(body): expects(body) for body in stated}

    def cover(self, older: Case) -> bool:
        """Whether an older case that fails now gives way."""
        change = self._change
        if (older.kind, older.item_id) != (change.kind, change.target_id):
            return False
        if isinstance(change.request, RestoreRequest):
            return True  # a person brings back a state with the cases that it had
        said = self._stated.get(asks(older.body))
        if said is not None and said != expects(older.body):
            return self._is_meant(older)
        if self._withdraws(older) or self._moves_alike(older):
            return True
        # What a model or a person has stated gives way to a statement alone.
        is_derived = older.origin is CaseOrigin.DERIVED
        gives_way = self._ends(older) or self._says_again(older) or self._edits_row(older)
        return is_derived and gives_way

    def _ends(self, older: Case) -> bool:
        """Whether a memory is found no more since its end, which is set, is over."""
        asked = self._change.request
        is_end = isinstance(asked, MemoryRequest) and asked.valid_until is not None
        return is_end and older.body.check is Check.RECALL

    def _is_meant(self, older: Case) -> bool:
        """Whether the feedback may be about what an older decision is about.

        It is not where it names another value of the same column, and not this one.
        """
        said = self._change.candidate_content or self._change.feedback_content
        if older.body.check is not Check.DECISION or self._before is None or not said:
            return True
        for place, column in enumerate(self._before.inputs):
            value = older.body.inputs.get(column.name)
            if isinstance(value, str) and value and not _names(said, value):
                cells = (row.inputs[place] for row in self._before.rows)
                others = {text for cell in cells for text in _TEXT.findall(cell)} - {value}
                if any(_names(said, other) for other in others):
                    return False
        return True

    def _withdraws(self, older: Case) -> bool:
        """Whether a statement is withdrawn, or words in it."""
        if older.body.check is not Check.STANDS:
            return False
        return any(
            says(older.body.text, gone.text)
            and normal_form(gone.section) in {"", normal_form(older.body.section)}
            for gone in self._withdrawn
        )

    def _moves_alike(self, older: Case) -> bool:
        """Whether a limit is moved, and a stated case moves across it as an older one does.

        From one row to another, both of which answered so before and do now.
        """
        if older.body.check is not Check.DECISION or older.origin is CaseOrigin.PERSON:
            return False
        return (move := self._move(older.body.inputs)) is not None and move in self._moves

    @cached_property
    def _moves(self) -> Collection[object]:
        return [self._move(body.inputs) for body in self._decisions]

    def _move(self, inputs: Mapping[str, JsonValue]) -> object:
        if self._before is None or self._after is None or not self._decisions:
            return None
        was, now = decide_case(self._before, inputs), decide_case(self._after, inputs)
        rows = (*was.fired, *now.fired)
        is_limit = was.fired != now.fired and all(self._answers_alike(row) for row in rows)
        return (was.fired, now.fired) if is_limit and was.fired and now.fired else None

    def _answers_alike(self, row_id: str) -> bool:
        tables = (self._before, self._after)
        found = [row.outputs for table in tables if table for row in table.rows if row.id == row_id]
        return len(found) == len(tables) and found[0] == found[1]

    def _says_again(self, older: Case) -> bool:
        """Whether the words of a memory bring back what it was no longer to say.

        Not those of an addition: it would say both.
        """
        asked = self._change.request
        if older.body.check is not Check.UNSAID or not isinstance(asked, MemoryRequest):
            return False
        return asked.merge_mode is not MergeMode.EXTEND and says(asked.content, older.body.text)

    def _edits_row(self, older: Case) -> bool:
        """Whether all rows that decided a case are edited by their ids, or removed."""
        if older.body.check is not Check.DECISION or not self._rows or self._before is None:
            return False
        try:
            fired = decide(self._before, older.body.inputs).fired
        except RuleInvalid:
            return False
        return bool(fired) and self._rows.issuperset(fired)

    @cached_property
    def _rows(self) -> frozenset[str]:
        asked = self._change.request
        if not isinstance(asked, RuleRequest) or asked.document:
            return frozenset()
        if asked.merge_mode is MergeMode.REPLACE:
            return frozenset()
        named = (row.id for row in asked.rule.rows if row.id)
        return frozenset((*named, *asked.rule.remove_rows))

    @cached_property
    def _after(self) -> DecisionTable | None:
        state = self._change.after
        return parse_xml(state.content) if state is not None else None

    @cached_property
    def _before(self) -> DecisionTable | None:
        state = self._change.before
        return parse_xml(state.content) if state is not None else None


def _names(text: str, value: str) -> bool:
    """Whether a text names a value: of one syllable a word must begin with it (`일` in `평일`)."""
    if len(value) > 1 or value.isascii():
        return says(text, value)
    return re.search(rf"(?<!\w){re.escape(value)}", text) is not None
