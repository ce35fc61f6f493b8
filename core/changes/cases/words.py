"""The words by which a change finds the cases that it may break (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from core.decision_table import read_xml, search_text
from core.domain.errors import RuleInvalid
from core.domain.models import Change, Kind, Snapshot
from core.domain.models.cases import CaseBody, Check
from core.knowledge.search.documents import skill_search_text, text_counts
from core.knowledge.search.tokens import LITTLE_MARK, is_counted, stem, term_counts

_ASKING = {
    *(Check.RECALL, Check.SILENCE, Check.CHOSEN, Check.NOT_CHOSEN, Check.UNSAID, Check.BEHAVIOUR),
}
_MOST = 400


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
