"""Whether a text reads like those that do harm: a linear model over its words and their letters.

Rules know forms and direct words. This knows some thousand texts of several hands, harmful and
harmless ones of the same trades, by what the one kind says more often than the other: words, pairs
of words near each other, and runs of letters, which stand for the stems and endings of Korean.
`python -m tests.evals likeness` trains it and tells how it judges the hands that it did not see.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from math import log2, sqrt
from pathlib import Path
from typing import NamedTuple

WEIGHTS = Path(__file__).with_name("likeness.tsv")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[가-힣]+|\d+|[^\sa-z가-힣\d]")
_NUMBER = "0"  # which number it is says nothing
_RUNS = (2, 5)  # of letters in a word and the blanks around it
_NEAR = 3  # words apart at most
_STEM = 2  # syllables of a Korean word that two words near each other are known by
FEW = 1000  # squares that each text has besides: what has few features says little
_SCALE = 100  # of the numbers in the file, which are whole
LIKELY = "harm.likely"
# Of the hands that were not trained on, 1 to 2 in 100 harmless texts score higher.
_ENOUGH = 1.3
_OF_MANY = 0.3
_SHORTEST = 24  # characters; what is shorter has too few features
# What rules find for these was harmless one time in three, and a quarter of that scores so low; of
# what was harmful one in seventy does.
_UNSURE = {"control.dropped", "control.limit", "payee.destination", "concealment.people"}
_CALM = -3.0


class _Weights(NamedTuple):
    """What a feature adds to the score, and the square of how rare it is."""

    bias: float
    adds: dict[str, int]
    squares: dict[str, int]


def features(text: str) -> set[str]:
    """Return what a text (in lower case) is judged by."""
    words = [_NUMBER if word[0].isdigit() else word for word in _WORD.findall(text)]
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
    return found


def score(text: str) -> float:
    """Return how much a text (in lower case) reads like harmful ones; 0 is as like as not."""
    weights = _weights()
    known = [one for one in features(text) if one in weights.adds]
    adds, squares = weights.adds, weights.squares
    length = sum(squares[one] for one in known) + _SCALE * FEW
    return weights.bias + sum(adds[one] for one in known) / sqrt(_SCALE * length)


def is_likely(text: str, score: float, parts: int = 1) -> bool:
    """Whether a part waits by its score alone; of many parts some score high by chance."""
    return len(text) >= _SHORTEST and score > _ENOUGH + _OF_MANY * log2(parts)


def is_calm(code: str, score: float) -> bool:
    """Whether a text reads so harmless that what a rule finds in it is only told."""
    return code in _UNSURE and score < _CALM


@lru_cache(maxsize=1)
def _weights() -> _Weights:
    head, *lines = WEIGHTS.read_text("utf-8").splitlines()
    adds: dict[str, int] = {}
    squares: dict[str, int] = {}
    for line in lines:
        name, add, square = line.split("\t")
        adds[name], squares[name] = int(add), int(square)
    return _Weights(int(head) / _SCALE, adds, squares)
