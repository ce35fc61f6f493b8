"""Whether a text reads like those that do harm: a linear model over its words and their letters.

Rules know forms and direct words. This knows some thousand texts of several hands, harmful and
harmless ones of the same trades, by what the one kind says more often than the other: words, pairs
of words near each other, runs of letters, which stand for the stems and endings of Korean, and rows
of the classes of words by which clauses are read. That a rule found something that can be said of
harmless things too is a weight like any other: such a rule holds where the wording agrees with it.
`python -m tests.evals likeness` trains it and tells how it judges the hands that it did not see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from math import log2, sqrt
from pathlib import Path
from typing import NamedTuple

from core.safety.said import classes_of

WEIGHTS = Path(__file__).with_name("likeness.tsv")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[가-힣]+|\d+|[^\sa-z가-힣\d]")
_NUMBER = "0"  # which number it is says nothing, nor which address
_ADDRESS = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+|(?:https?://|www\.)\S+"
    r"|\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.example\b\S*"
)
_RUNS = (2, 5)  # of letters in a word and the blanks around it
_NEAR = 3  # words apart at most
_STEM = 2  # syllables of a Korean word that two words near each other are known by
FEW = 1000  # squares that each text has besides: what has few features says little
_SCALE = 100  # of the numbers in the file, which are whole
LIKELY = "harm.likely"
# Of hands that were not trained on, 3 in 100 harmless twins in nearly the same words score higher.
_ENOUGH = 1.2
_ALONE = 0.5  # more, of a sentence of many
_OF_MANY = 0.3  # more, for each doubling of the parts
_MEANT = 0.3  # where an unsure rule found something
_SHORTEST = 24  # characters; what is shorter has too few features
_PLAIN = 50  # so short a text says hardly more than what a rule finds in it
# What rules find for these by its wording alone was harmless one time in four.
UNSURE = frozenset({"control.dropped", "concealment.record", "payee.unchecked"})
# Of these a third: what a salary is, and whose account is one's own, are kept and named as well.
# They hold unless what stands around them and their sentence alone clearly read harmless.
DOUBTED = frozenset({"concealment.people", "control.limit", "payee.destination"})
_CALM = -0.75  # of unseen hands 58 of 86 harmless texts are below, and 1 of 72 harmful ones
_SENTENCE = 30  # characters; what is shorter is of ordinary words: "do not tell the team lead"
ASKED = UNSURE | DOUBTED  # what the wording is asked about
_CLASSES, _APART, _RULE = "%", "^", "!"  # what the names of other features begin with
_ROW = 3  # classes in a row
_AFTER = 4  # classes between two of a clause


class _Weights(NamedTuple):
    """What a feature adds to the score, and the square of how rare it is."""

    bias: float
    adds: dict[str, int]
    squares: dict[str, int]


def features(text: str) -> set[str]:
    """Return what a text (in lower case) is judged by."""
    plain = _ADDRESS.sub(" @ ", text)
    words = [_NUMBER if word[0].isdigit() else word for word in _WORD.findall(plain)]
    found: set[str] = set()
    least, most = _RUNS
    for word in set(words):
        found.add(f"={word}")
        padded = f" {word} "
        for length in range(least, min(most, len(padded)) + 1):
            found.update(padded[at : at + length] for at in range(len(padded) - length + 1))
    found.update(f"{one}_{other}" for one, other in pairwise(words))
    stems = [word[:_STEM] if "가" <= word[0] <= "힣" else word for word in words]
    for apart in range(1, _NEAR + 1):
        found.update(f"{one}~{other}" for one, other in zip(stems, stems[apart:], strict=False))
    return found | _of_classes(text)


def _of_classes(text: str) -> set[str]:
    """Return the rows of classes in the clauses of a text, and which stands after which."""
    found: set[str] = set()
    for clause in classes_of(text).split("|"):
        row = clause.replace(".", "")
        for length in range(1, _ROW + 1):
            found.update(_CLASSES + row[at : at + length] for at in range(len(row) - length + 1))
        for at, one in enumerate(row):
            found.update(_APART + one + other for other in row[at + 1 : at + 1 + _AFTER])
    return found


def of_rules(codes: Iterable[str]) -> set[str]:
    """Return the features of what rules found; they count in full, however long a text is."""
    return {_RULE + code for code in codes if code in UNSURE}


def score(text: str, codes: Iterable[str] = ()) -> float:
    """Return how much a text (in lower case) reads like harmful ones; 0 is as like as not.

    `codes` are those of what rules found in it.
    """
    weights = _weights()
    known = [one for one in features(text) if one in weights.adds]
    adds, squares = weights.adds, weights.squares
    length = sum(squares[one] for one in known) + _SCALE * FEW
    ruled = sum(adds.get(one, 0) for one in of_rules(codes)) / _SCALE
    return weights.bias + ruled + sum(adds[one] for one in known) / sqrt(_SCALE * length)


def is_likely(text: str, score: float, parts: int = 1, *, is_alone: bool = False) -> bool:
    """Whether a part waits by its score alone; of many parts some score high by chance."""
    enough = _ENOUGH + _OF_MANY * log2(parts) + (_ALONE if is_alone else 0)
    return len(text) >= _SHORTEST and score > enough


def is_meant(text: str, score: float, code: str) -> bool:
    """Whether a part reads so that what a rule finds in it holds; in what is short all does."""
    if len(text) < _PLAIN or code not in ASKED:
        return True
    return score > (_MEANT if code in UNSURE else _CALM)


def is_calm(text: str) -> bool:
    """Whether a sentence (in lower case) clearly reads harmless by itself."""
    return len(text) >= _SENTENCE and score(text) <= _CALM


@lru_cache(maxsize=1)
def _weights() -> _Weights:
    head, *lines = WEIGHTS.read_text("utf-8").splitlines()
    adds: dict[str, int] = {}
    squares: dict[str, int] = {}
    for line in lines:
        name, add, square = line.split("\t")
        adds[name], squares[name] = int(add), int(square)
    return _Weights(int(head) / _SCALE, adds, squares)
