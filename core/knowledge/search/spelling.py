"""Corrections of query words that occur nowhere: typing errors, and missing or extra blanks."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from core.knowledge.search.tokens import WRITTEN, Question, Run, stem, written

_ROWS = (
    ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    ("ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ", "ㅁㄴㅇㄹㅎㅗㅓㅏㅣ", "ㅋㅌㅊㅍㅠㅜㅡ"),
)
# Letters that share a key, and letters that sound alike.
_ON_ONE_KEY = "ㅂㅃ ㅈㅉ ㄷㄸ ㄱㄲ ㅅㅆ ㅐㅒ ㅔㅖ"
_ALIKE = "ㅐㅔ ㅚㅙ ㅚㅞ ㅙㅞ ㅢㅣ ㅗㅚ ㅜㅟ ㅓㅝ ㅏㅘ ㄴㄶ ㄹㅀ ㅂㅄ ㄱㄳ ㄹㄺ"
_ONSETS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_MEDIALS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_CODAS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
_FIRST, _LAST = 0xAC00, 0xD7A3


def letters(syllable: str) -> tuple[str, str, str]:
    """Return the three letters of a Hangul syllable, a blank in place of a missing final."""
    rest, coda = divmod(ord(syllable) - _FIRST, len(_CODAS))
    onset, vowel = divmod(rest, len(_MEDIALS))
    return _ONSETS[onset], _MEDIALS[vowel], _CODAS[coda]


def is_syllable(char: str) -> bool:
    """Whether a character is a composed Hangul syllable."""
    return _FIRST <= ord(char) <= _LAST


@cache
def slips(syllable: str) -> tuple[tuple[str, bool], ...]:
    """Return the syllables that differ in one letter, and whether that is a likely slip."""
    onset, vowel, coda = letters(syllable)
    found = [(_syllable(other, vowel, coda), near(onset, other)) for other in _ONSETS]
    found += [(_syllable(onset, other, coda), near(vowel, other)) for other in _MEDIALS]
    found += [
        (_syllable(onset, vowel, other), near(coda, other) or " " in {coda, other})
        for other in _CODAS
    ]
    return tuple((other, is_near) for other, is_near in found if other != syllable)


def near(one: str, other: str) -> bool:
    """Whether two letters are adjacent on the keyboard, share a key, or sound alike."""
    return other in _neighbours().get(one, "")


@cache
def _neighbours() -> dict[str, str]:
    found: dict[str, str] = {}
    for rows in _ROWS:
        for y, row in enumerate(rows):
            for x, letter in enumerate(row):
                places = [(y, x - 1), (y, x + 1), (y - 1, x), (y - 1, x + 1), (y + 1, x - 1)]
                beside = [*places, (y + 1, x)]
                found[letter] = "".join(
                    rows[b][a] for b, a in beside if 0 <= b < len(rows) and 0 <= a < len(rows[b])
                )
    for pair in f"{_ON_ONE_KEY} {_ALIKE}".split():
        one, other = pair[0], pair[1]
        found[one] = found.get(one, "") + other
        found[other] = found.get(other, "") + one
    return found


def _syllable(onset: str, vowel: str, coda: str) -> str:
    index = _ONSETS.index(onset) * len(_MEDIALS) + _MEDIALS.index(vowel)
    return chr(_FIRST + index * len(_CODAS) + _CODAS.index(coda))


MAX_WORDS = 2  # a word of ten letters has 349 variants to look up, a Korean pair 130
MAX_MEANT = 4

# What a corrected word counts, as a part of one typed right: likely slips, others, blanks.
_NEAR, _FAR = 0.6, 0.4
_SPLIT = 0.9
_JOIN = 0.7
_LEAST_WORD, _LONGEST_WORD = 4, 20
_LEAST_PART = 3
_VOWELS = "aeiou"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Guess(NamedTuple):
    """Words that must all occur for the guess to apply, and its confidence."""

    words: tuple[str, ...]
    factor: float


class Meant(NamedTuple):
    """Corrections of a word: `slips` (key -> confidence), or different `blanks`.

    A marked key is a written word, an unmarked one a stem; a word of `blanks` may be either.
    """

    slips: Mapping[str, float]
    blanks: tuple[Guess, ...] = ()


Guesses = Mapping[str, Meant]


def guesses(question: Question, known: Callable[[str], bool]) -> Guesses:
    """Return corrections for the words of a query that occur nowhere: term -> corrections.

    For a Korean word only the first two syllables are corrected: its meaning is at the beginning,
    while endings are often unknown even if spelt right. A Latin word may be wrong as written or
    in its stem. The key of a join of two words is no term of the query.
    """
    found: dict[str, Meant] = {}
    for run, term in _unknown(question.runs, known):
        if len(found) >= MAX_WORDS:
            break
        if term not in found:
            found[term] = _meant_by(run)
    return found | dict(_joined(question.runs))


def keys(found: Guesses) -> list[str]:
    """Return all keys to look up in the index."""
    asked: dict[str, object] = {}
    for meant in found.values():
        asked.update(meant.slips)
        words = [word for guess in meant.blanks for word in guess.words]
        asked |= dict.fromkeys(words) | {written(word): None for word in words if word.isascii()}
    return [*asked]


def likely(found: Guesses, known: Container[str]) -> dict[str, float]:
    """Return the corrected terms whose keys occur: term -> confidence."""
    terms: dict[str, float] = {}
    for meant in found.values():
        for guess in _sure(meant, known)[:MAX_MEANT]:
            for word in guess.words:
                key = _key(word, known)
                term = stem(key.removeprefix(WRITTEN)) if key.startswith(WRITTEN) else key
                terms[term] = max(guess.factor, terms.get(term, 0.0))
    return terms


def _sure(meant: Meant, known: Container[str]) -> list[Guess]:
    """Return the guesses that occur, the most confident first, then alphabetically."""
    slips = [
        Guess((key,), factor)
        for key, factor in meant.slips.items()
        if key in known or (key[0] != WRITTEN and written(key) in known)
    ]
    if slips and slips[0].words[0].isascii():
        slips.sort()
    blanks = [guess for guess in meant.blanks if all(_key(word, known) for word in guess.words)]
    return sorted([*blanks, *slips], key=lambda guess: -guess.factor)


def _key(word: str, known: Container[str]) -> str:
    """Return the known key of a word, its written form before its stem; empty if neither is."""
    keys = (word,) if word.startswith(WRITTEN) else (written(word), word)
    return next((key for key in keys if key in known), "")


def _unknown(typed: Iterable[Run], known: Callable[[str], bool]) -> Iterator[tuple[Run, str]]:
    """Yield the words to correct, each with its unknown term."""
    for run in typed:
        if run.kind == "unspaced" and len(run.text) > 1 and not known(run.text[:2]):
            yield run, run.text[:2]
        elif run.kind == "word" and _can_be_guessed(run.text) and not known(stem(run.text)):
            yield run, stem(run.text)


def _can_be_guessed(word: str) -> bool:
    return word.isascii() and _LEAST_WORD <= len(word) <= _LONGEST_WORD


def _joined(typed: Iterable[Run]) -> Iterator[tuple[str, Meant]]:
    """Yield joins of two words that a blank may have separated.

    Korean words of two or more syllables are found by their own pairs already.
    """
    for one, two in pairwise(typed):
        if two.joins and one.kind == two.kind:
            if one.kind == "unspaced" and 1 in {len(one.text), len(two.text)}:
                pair = one.text[-1] + two.text[0]
                yield pair, Meant({}, (Guess((pair,), _JOIN),))
            elif one.kind == "word" and (one.text + two.text).isascii():
                joined = one.text + two.text
                yield f"{one.text} {two.text}", Meant({}, (Guess((joined,), _JOIN),))


def _meant_by(run: Run) -> Meant:
    return _meant_by_word(run.text) if run.kind == "word" else Meant(_meant_by_pair(run.text))


def _meant_by_word(word: str) -> Meant:
    cuts = range(_LEAST_PART, len(word) - _LEAST_PART + 1)
    blanks = tuple(Guess((word[:at], word[at:]), _SPLIT) for at in cuts)
    slips = _slips_of_word(word, WRITTEN)
    if len(stem(word)) >= _LEAST_WORD:
        slips |= _slips_of_word(stem(word))
    return Meant(slips, blanks)


def _slips_of_word(word: str, mark: str = "") -> dict[str, float]:
    """Return the words at one deletion, transposition, insertion or substitution (Damerau 1964).

    A substitute is a letter adjacent on the keyboard, or a vowel for a vowel.
    """
    parts = [(mark + word[:at], word[at:]) for at in range(len(word) + 1)]
    slips = dict.fromkeys([a + c + b for a, b in parts for c in _LETTERS], _FAR)
    slips |= dict.fromkeys([a + c + b[1:] for a, b in parts if b for c in _instead_of(b[0])], _NEAR)
    slips |= dict.fromkeys([a + b[1:] for a, b in parts if b], _NEAR)
    slips |= dict.fromkeys([a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1], _NEAR)
    slips.pop(mark + word, None)
    return slips


@cache
def _instead_of(letter: str) -> frozenset[str]:
    beside = frozenset(other for other in _LETTERS if near(letter, other))
    return beside | frozenset(_VOWELS) if letter in _VOWELS else beside


def _meant_by_pair(run: str) -> dict[str, float]:
    """Return the variants of the first Hangul pair with one letter changed."""
    one, two = run[0], run[1]
    meant: dict[str, float] = {}
    if is_syllable(one):
        meant |= {other + two: _NEAR if is_near else _FAR for other, is_near in slips(one)}
    if is_syllable(two):
        meant |= {one + other: _NEAR if is_near else _FAR for other, is_near in slips(two)}
    return meant
