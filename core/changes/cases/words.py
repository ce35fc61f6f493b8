"""The words by which a change finds the cases that it may break, or takes over (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.decision_table import read_xml, search_text
from core.domain.errors import RuleInvalid
from core.domain.messages import Message
from core.domain.models import Change, Kind, Snapshot
from core.domain.models.cases import Case, CaseBody, CaseOrigin, CaseResult, CaseRole, Check
from core.domain.text import shorten
from core.knowledge.search.documents import skill_search_text, text_counts
from core.knowledge.search.tokens import LITTLE_MARK, is_counted, is_little, runs, stem, term_counts

_ASKING = {
    *(Check.RECALL, Check.SILENCE, Check.CHOSEN, Check.NOT_CHOSEN, Check.UNSAID, Check.BEHAVIOUR),
}
_MOST = 400
# Of a question of three words any item of the same subject may have all.
_LEAST, _NEARLY = 4, 0.75
_SHOWN = 160
BRINGING = frozenset((Check.RECALL, Check.CHOSEN))


def asked_words(body: CaseBody) -> tuple[str, ...]:
    """Return the terms that a case asks with, or that must not be said, none of others."""
    if body.check not in _ASKING:
        return ()
    return tuple(sorted(filter(is_counted, term_counts(body.text))))


def brought_words(change: Change) -> tuple[str, ...]:
    """Return the terms that a change brings, by which it may be found before others."""
    had = said_words(change.kind, change.before)
    return tuple(word for word in said_words(change.kind, change.after) if word not in had)[:_MOST]


def name_word(change: Change) -> str | None:
    """Return the term of a skill's name as others mention it, None for other kinds."""
    if change.kind is not Kind.SKILL or change.before is None:
        return None
    return stem(change.target_id.replace("-", ""))


def said_words(kind: Kind, state: Snapshot | None) -> Mapping[str, int]:
    """Return the terms by which an item is found, and how often each is there."""
    if state is None:
        return {}
    counts = term_counts(state.name) | text_counts(_text(kind, state))
    return {word: number for word, number in counts.items() if _is_brought(word)}


def _is_brought(word: str) -> bool:
    return is_counted(word) and not word.startswith(LITTLE_MARK)


def _text(kind: Kind, state: Snapshot) -> str:
    if kind is Kind.SKILL:
        return skill_search_text(state.content)
    if kind is not Kind.DMN_RULE:
        return state.content
    try:
        return search_text(read_xml(state.content))
    except RuleInvalid:
        return state.content


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
