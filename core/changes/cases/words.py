"""The words by which a change finds the cases that it may break (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from core.decision_table import read_xml, search_text
from core.domain.errors import RuleInvalid
from core.domain.models import Change, Kind, Snapshot
from core.domain.models.cases import CaseBody, Check
from core.knowledge.search.documents import skill_search_text
from core.knowledge.search.tokens import is_counted, stem, term_counts

_ASKING = {
    *(Check.RECALL, Check.SILENCE, Check.CHOSEN, Check.NOT_CHOSEN, Check.UNSAID, Check.BEHAVIOUR),
}
_READ_CHARS = 20_000
_MOST = 400


def asked_words(body: CaseBody) -> tuple[str, ...]:
    """Return the terms that a case asks with, or that must not be said, none of others."""
    if body.check not in _ASKING:
        return ()
    return tuple(sorted(filter(is_counted, term_counts(body.text))))


def brought_words(change: Change) -> tuple[str, ...]:
    """Return the terms that a change brings, by which it may be found before others."""
    had = _words(change.kind, change.before)
    return tuple(word for word in _words(change.kind, change.after) if word not in had)[:_MOST]


def name_word(change: Change) -> str | None:
    """Return the term of a skill's name as others mention it, None for other kinds."""
    if change.kind is not Kind.SKILL or change.before is None:
        return None
    return stem(change.target_id.replace("-", ""))


def _words(kind: Kind, state: Snapshot | None) -> Mapping[str, int]:
    if state is None:
        return {}
    counts = term_counts(f"{state.name}\n{_text(kind, state)}"[:_READ_CHARS])
    return {word: number for word, number in counts.items() if is_counted(word)}


def _text(kind: Kind, state: Snapshot) -> str:
    if kind is Kind.SKILL:
        return skill_search_text(state.content)
    if kind is not Kind.DMN_RULE:
        return state.content
    try:
        return search_text(read_xml(state.content))
    except RuleInvalid:
        return state.content
