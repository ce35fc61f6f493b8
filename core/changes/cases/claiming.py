"""Whether a change takes over a question that another item is to answer, by its words (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from core.changes.cases.words import asked_words, said_words
from core.domain.messages import Message
from core.domain.models import Change
from core.domain.models.cases import Case, CaseOrigin, CaseResult, CaseRole, Check
from core.domain.text import shorten
from core.knowledge.search.little_words import is_little
from core.knowledge.search.tokens import runs

# Of a question of three words any item of the same subject may have all.
_LEAST, _NEARLY = 4, 0.75
_SHOWN = 160
BRINGING = frozenset((Check.RECALL, Check.CHOSEN))


def takes_over(change: Change, result: CaseResult) -> bool:
    """Whether a question that never found its item now finds that of a change, by its own words."""
    return _is_stated(change, result.case) and _says(change, result.case, _NEARLY)


def claimed(change: Change, passed: Sequence[CaseResult]) -> Sequence[CaseResult]:
    """Return the questions that bring up the item of a change first, since it says all their words.

    Only proofs: a proof has at most half of its words in common with its own item.
    """
    return [
        one.model_copy(update={"passed": False, "why": _why(one.case)})
        for one in passed
        if one.passed and one.found[:1] == (change.target_id,)
        if one.case.body.check is Check.RECALL and one.case.role is CaseRole.PROOF
        if _is_stated(change, one.case) and _says(change, one.case, 1)
    ]


def _why(case: Case) -> Message:
    return Message("case.claimed", question=shorten(" ".join(case.body.text.split()), _SHOWN))


def _is_stated(change: Change, case: Case) -> bool:
    is_own = (case.kind, case.item_id) == (change.kind, change.target_id)
    return case.body.check in BRINGING and not is_own and case.origin is not CaseOrigin.DERIVED


def _says(change: Change, case: Case, share: float) -> bool:
    """Whether a change brings its item to say that share of the words of a question."""
    if sum(not is_little(piece[0]) for _, piece, _ in runs(case.body.text)) < _LEAST:
        return False
    asked = asked_words(case.body)
    had, has = (said_words(change.kind, state) for state in (change.before, change.after))
    said = sum(word in has for word in asked)
    return said >= share * len(asked) and said > sum(word in had for word in asked)
