"""English function words: they tell sentences apart, though they say little."""

from __future__ import annotations

import re

_WORDS = (
    "a am an and any are as at be been but by can could did do does for from had has have he her"
    " his how i if in into is it its may me might my of on or our s she should so some t than that"
    " the their them then there they this to us was we were what when where which who why will"
    " with would you your"
)
_LITTLE = frozenset(_WORDS.split())
_APOSTROPHES = "'\u2019"
_SHOUTED_WORDS = 3
_WORD = re.compile(r"[^\W\d_]+")
_LATIN_AFTER = re.compile(r"\s*[A-Za-z]")


def is_little(word: str) -> bool:
    """Whether a word is an English function word, in any case."""
    return len(word) <= len("should") and word.casefold() in _LITTLE


def is_name(text: str, start: int, end: int) -> bool:
    """Whether a function word in a text is capitalised as a name: IT, WHO or plan A.

    A single letter is none before an English word or an apostrophe: it begins a sentence.
    """
    if not text[start:end].isupper():
        return False
    if end - start > 1:
        return True
    touched = text[max(0, start - 1) : start] + text[end : end + 1]
    return not any(char in touched for char in _APOSTROPHES) and not _LATIN_AFTER.match(text, end)


def shouts(text: str) -> bool:
    """Whether a text is all capitals, which then mark no names."""
    return text.isupper() and len(_WORD.findall(text[:1_000])) >= _SHOUTED_WORDS
