"""What may have been meant by words that stand nowhere: slips of the keyboard, and of the blank."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from core.search.keyboard import is_syllable, near, slips
from core.search.question import Question, Run
from core.search.tokens import stem

MAX_WORDS = 2
MAX_MEANT = 4
MARK = "="

_NEAR, _FAR = 0.6, 0.4
_SPLIT = 0.9
_JOIN = 0.7
_LEAST_WORD, _LONGEST_WORD = 4, 20
_LEAST_PART = 3
_VOWELS = "aeiou"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Guess(NamedTuple):
    """What may be meant by a word: `words` that must all be known, and how sure that is.

    A word with a mark is one as written, without it a stem, and where the guess is one of
    blanks it may be either.
    """

    words: tuple[str, ...]
    factor: float
    of_blanks: bool = False


Guesses = Mapping[str, tuple[Guess, ...]]


def marked(word: str) -> str:
    """Give the key of a word as written, beside the one of its stem."""
    return MARK + word


def guesses(question: Question, known: Callable[[str], bool]) -> Guesses:
    """Give what may be meant by words of a query that stand nowhere: term -> guesses.

    Of a Korean word only the first two syllables are guessed at: it begins with what it says, and
    ends with what is looked for in vain even where all is right. A word of Latin letters may be
    amiss as written or in its stem. A term that only joins two words has no
    place in the query itself.
    """
    found: dict[str, tuple[Guess, ...]] = {}
    for term, made in _unknown(question.runs, known):
        if len(found) >= MAX_WORDS:
            break
        found.setdefault(term, tuple(made))
    return found | dict(_joined(question.runs))


def keys(found: Guesses) -> list[str]:
    """Give all keys to look up in the index."""
    guessed = [guess for made in found.values() for guess in made]
    either = {word for guess in guessed if guess.of_blanks for word in guess.words}
    words = {word for guess in guessed for word in guess.words}
    return sorted(words | {marked(word) for word in either if word.isascii()})


def likely(found: Guesses, known: Container[str]) -> dict[str, float]:
    """Give the terms that may be meant, as far as keys are known: term -> how sure that is."""
    terms: dict[str, float] = {}
    for made in found.values():
        sure = [guess for guess in made if all(_key(word, known) for word in guess.words)]
        sure.sort(key=lambda guess: -guess.factor)
        for guess in sure[:MAX_MEANT]:
            for word in guess.words:
                key = _key(word, known)
                term = stem(key.removeprefix(MARK)) if key.startswith(MARK) else key
                terms[term] = max(guess.factor, terms.get(term, 0.0))
    return terms


def _key(word: str, known: Container[str]) -> str:
    """Give the key by which a word is known, as written before its stem; empty where by none."""
    keys = (word,) if word.startswith(MARK) else (marked(word), word)
    return next((key for key in keys if key in known), "")


def _unknown(
    typed: Iterable[Run], known: Callable[[str], bool]
) -> Iterator[tuple[str, Iterable[Guess]]]:
    for run in typed:
        if run.kind == "unspaced" and len(run.text) > 1 and not known(run.text[:2]):
            yield run.text[:2], _meant_by_pair(run.text[:2])
        elif run.kind == "word" and _can_be_guessed(run.text) and not known(stem(run.text)):
            yield stem(run.text), _meant_by_word(run.text)


def _can_be_guessed(word: str) -> bool:
    return word.isascii() and _LEAST_WORD <= len(word) <= _LONGEST_WORD


def _joined(typed: Iterable[Run]) -> Iterator[tuple[str, tuple[Guess, ...]]]:
    """Give what two words make that a blank has parted.

    Korean words of two syllables and more are found by what they hold themselves.
    """
    for one, two in pairwise(typed):
        if two.joins and one.kind == two.kind:
            if one.kind == "unspaced" and 1 in {len(one.text), len(two.text)}:
                pair = one.text[-1] + two.text[0]
                yield pair, (Guess((pair,), _JOIN, of_blanks=True),)
            elif one.kind == "word" and (one.text + two.text).isascii():
                joined = one.text + two.text
                yield f"{one.text} {two.text}", (Guess((joined,), _JOIN, of_blanks=True),)


def _meant_by_word(word: str) -> Iterator[Guess]:
    for at in range(_LEAST_PART, len(word) - _LEAST_PART + 1):
        yield Guess((word[:at], word[at:]), _SPLIT, of_blanks=True)
    for other, is_near in sorted(_slips_of_word(word).items()):
        yield Guess((marked(other),), _sure(is_near))
    if len(stem(word)) >= _LEAST_WORD:
        for other, is_near in sorted(_slips_of_word(stem(word)).items()):
            yield Guess((other,), _sure(is_near))


def _sure(is_near: bool) -> float:
    """Give how sure a slip is; a near one is of letters side by side on a keyboard."""
    return _NEAR if is_near else _FAR


def _slips_of_word(word: str) -> dict[str, bool]:
    """Give the words that one letter less, swapped, more or other would make (Damerau 1964).

    Another letter is one beside it on the keyboard, or a vowel for a vowel.
    """
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    slips = {a + c + b: False for a, b in parts for c in _LETTERS}
    slips |= {a + c + b[1:]: True for a, b in parts if b for c in _instead_of(b[0])}
    slips |= {a + b[1:]: True for a, b in parts if b}
    slips |= {a + b[1] + b[0] + b[2:]: True for a, b in parts if len(b) > 1}
    return {other: is_near for other, is_near in slips.items() if other != word}


@cache
def _instead_of(letter: str) -> frozenset[str]:
    beside = frozenset(other for other in _LETTERS if near(letter, other))
    return beside | frozenset(_VOWELS) if letter in _VOWELS else beside


def _meant_by_pair(pair: str) -> Iterator[Guess]:
    """Give the pairs of Hangul in which one letter of one syllable is another one."""
    one, two = pair[0], pair[1]
    if is_syllable(one):
        yield from (Guess((other + two,), _sure(is_near)) for other, is_near in slips(one))
    if is_syllable(two):
        yield from (Guess((one + other,), _sure(is_near)) for other, is_near in slips(two))
