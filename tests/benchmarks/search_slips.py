"""Generated typing errors: one per query, the same at every run."""

from __future__ import annotations

import random
import re
from zlib import crc32

_WORD = re.compile("[가-힣]{2,}|[A-Za-z]{5,}")
_BLANK = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_])")
_FIRST = 0xAC00
# Neighbouring keys of the Korean two-set layout, by number of onset, vowel and coda.
_ONSETS = {
    0: (18, 11),
    2: (3, 6),
    3: (2, 9),
    5: (11, 18),
    6: (2, 11),
    7: (12, 9),
    9: (0, 7),
    11: (6, 5),
    12: (7, 3),
    14: (16, 17),
    15: (16, 17),
    16: (15, 14),
    17: (14,),
    18: (5, 0),
}
_VOWELS = {
    0: (4, 20),
    1: (5,),
    2: (6, 4),
    4: (0, 8),
    5: (1,),
    6: (2, 12),
    8: (4, 13),
    12: (6, 17),
    13: (17, 18),
    17: (13, 12),
    18: (13, 20),
    20: (0, 18),
}
_CODAS = {
    1: (27, 19),
    4: (7, 16),
    7: (4, 19),
    8: (21, 0),
    16: (21, 4),
    17: (22, 7),
    19: (1, 17),
    21: (16, 8),
    22: (17,),
    27: (8, 1),
}
_KEYS = {
    "a": "s",
    "e": "r",
    "i": "o",
    "o": "p",
    "n": "m",
    "r": "t",
    "s": "d",
    "t": "y",
    "c": "v",
    "l": "k",
    "u": "y",
    "d": "f",
}


def slipped(query: str, known: str) -> str | None:
    """Return the query with one typing error, or None if no letter allows one.

    A result that occurs in the `known` texts is another word, not an error, and is discarded.
    """
    dice = random.Random(crc32(query.encode()))
    words = [*_WORD.finditer(query)]
    blanks = [*_BLANK.finditer(query)]
    if blanks and dice.random() < 0.15:
        blank = dice.choice(blanks)
        return query[: blank.start()] + query[blank.end() :]
    for _ in range(20):
        if not words:
            return None
        word = dice.choice(words)
        wrong = _hangul(word[0], dice) if word[0][0] >= "가" else _latin(word[0], dice)
        if wrong.casefold() not in known:
            return query[: word.start()] + wrong + query[word.end() :]
    return None


def _latin(word: str, dice: random.Random) -> str:
    at = dice.randrange(1, len(word) - 1)
    match dice.randrange(4):
        case 0:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        case 1:
            return word[:at] + word[at + 1 :]
        case 2:
            return word[:at] + word[at] + word[at:]
        case _:
            return word[:at] + _KEYS.get(word[at].casefold(), "e") + word[at + 1 :]


def _hangul(word: str, dice: random.Random) -> str:
    at = dice.randrange(len(word))
    rest, coda = divmod(ord(word[at]) - _FIRST, 28)
    onset, vowel = divmod(rest, 21)
    match dice.randrange(4):
        case 0:
            onset = dice.choice(_ONSETS.get(onset, (onset,)))
        case 1 if coda:
            coda = dice.choice((0, *_CODAS.get(coda, (0,))))
        case 2:
            return word[: at + 1] + dice.choice("ㅇㅎㅁㅣ") + word[at + 1 :]
        case _:
            vowel = dice.choice(_VOWELS.get(vowel, (vowel,)))
    return word[:at] + chr(_FIRST + (onset * 21 + vowel) * 28 + coda) + word[at + 1 :]
