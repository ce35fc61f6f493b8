"""What an older case gives way to: an explicit correction, and nothing else (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from core.changes.cases.proposed import asks, expects
from core.changes.cases.running import says
from core.decision_table import parse_xml
from core.decision_table.evaluation.decide import decide
from core.domain.errors import RuleInvalid
from core.domain.models import Change, DecisionTable, MemoryRequest, MergeMode, RuleRequest
from core.domain.models.cases import Case, CaseOrigin, Check


class Corrections:
    """What a change corrects explicitly: by a case that says otherwise, by naming a row, by words.

    What code derives from a change corrects nothing: it follows from any change, also a wrong one.
    """

    def __init__(self, change: Change, own: Sequence[Case]) -> None:
        self._change = change
        stated = [case.body for case in own if case.origin is not CaseOrigin.DERIVED]
        self._stated = {asks(body): expects(body) for body in stated}

    def cover(self, older: Case) -> bool:
        """Whether an older case that fails now gives way."""
        change = self._change
        if (older.kind, older.item_id) != (change.kind, change.target_id):
            return False
        said = self._stated.get(asks(older.body))
        if said is not None and said != expects(older.body):
            return True
        if older.origin is CaseOrigin.PERSON:  # gives way to a person alone
            return False
        return self._says_again(older) or self._edits_row(older)

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
    def _before(self) -> DecisionTable | None:
        state = self._change.before
        return parse_xml(state.content) if state is not None else None
