"""Whether what was said may be about one subject: cheap, and rather too often than too seldom."""

from __future__ import annotations

from core.domain.models import Feedback, Outline
from core.knowledge.duplicates.words import LITTLE, Words, words_of


def may_concern(feedback: Feedback | Outline, earlier: Feedback | Outline) -> bool:
    """Whether an earlier piece may decide what this one means, or teach what it changes."""
    if is_answer(feedback, earlier):
        return True
    if feedback.thread is not None and feedback.thread == earlier.thread:
        return True
    return may_share_subject(feedback.content, earlier.content)


def is_answer(feedback: Feedback | Outline, earlier: Feedback | Outline) -> bool:
    """Whether a piece says that it answers the other."""
    return feedback.in_reply_to in {earlier.id, earlier.source_id}


def may_share_subject(one: str, other: str) -> bool:
    """Whether both share an informative word and do not name different identifiers."""
    first, second = words_of(one), words_of(other)
    if not _subjects(first) & _subjects(second):
        return False
    codes = _codes(first), _codes(second)
    return not (all(codes) and codes[0].isdisjoint(codes[1]))


def _subjects(words: Words) -> frozenset[str]:
    return frozenset(word.stem for word in words.words if word.weight > LITTLE)


def _codes(words: Words) -> frozenset[str]:
    """Return the identifiers (`PROJ-12`, `customer 17`) of a text."""
    named = (word.stem for word in words.words if word.names)
    return frozenset(stem for stem in named if any(letter.isdigit() for letter in stem))
