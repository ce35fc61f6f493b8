"""Parse a query: its terms, their weights, and its words as typed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from core.knowledge.search.tokens import is_single, plain_run, runs, suffix_start

MAX_TERMS = 2_000
MAX_RUNS = 64

# Factors for Hangul, whose pairs of syllables carry the meaning.
SINGLE = 0.3  # one syllable: it occurs in unrelated words
SUFFIX = 0.3  # what a particle or an ending adds
ALONE = 0.5  # a one-syllable word among others

_CLOSE = re.compile(r"[ \t_-]?")


@dataclass(frozen=True)
class Run:
    """A word as typed: case folded, without stray letters.

    `joins`: only a blank, a hyphen or an underscore separates it from the run before.
    """

    kind: str
    text: str
    joins: bool


@dataclass(frozen=True)
class Question:
    """The terms of a query with their counts; a factor below 1 reduces the weight of a term.

    `runs` is empty for a long query, whose single words need no spelling correction.
    """

    counts: Mapping[str, int]
    factors: Mapping[str, float]
    runs: tuple[Run, ...]


def read_question(text: str, *, limit: int = MAX_TERMS) -> Question:
    """Parse a query up to its first `limit` distinct terms.

    A single Hangul syllable weighs less than a pair, half as a word among others; so does what a
    particle or an ending adds.
    """
    counts: Counter[str] = Counter()
    factors: dict[str, float] = {}
    typed: list[Run] = []
    for run, terms in _read(text):
        for term, factor in terms:
            if len(counts) >= limit and term not in counts:
                return Question(counts, factors, ())
            counts[term] += 1
            factors[term] = max(factor, factors.get(term, 0.0))
        typed.append(run)
    if len(typed) > 1:
        factors |= {run.text: ALONE for run in typed if is_single(run.text)}
    return Question(counts, factors, tuple(typed) if len(typed) <= MAX_RUNS else ())


def _read(text: str) -> Iterator[tuple[Run, list[tuple[str, float]]]]:
    composed = unicodedata.normalize("NFC", text)
    end, last = 0, ""
    for kind, piece, tokens in runs(text):
        close = kind == last and _CLOSE.fullmatch(composed, end, piece.start()) is not None
        plain = "".join(char for _, char in plain_run(piece[0])) if kind == "unspaced" else piece[0]
        folded = unicodedata.normalize("NFC", plain.casefold())
        terms = [(token.term, 1.0) for token in tokens]
        if kind == "unspaced":
            terms = _worth(plain)
        yield Run(kind, folded, close), terms
        end, last = piece.end(), kind


def _worth(run: str) -> list[tuple[str, float]]:
    stem = suffix_start(run)
    terms = []
    for at, char in enumerate(run):
        factor = 1.0 if at < stem else SUFFIX
        terms.append((char, SINGLE * factor if is_single(char) and len(run) > 1 else factor))
    for at, (one, two) in enumerate(pairwise(run)):
        terms.append((one + two, 1.0 if at + 1 < stem else SUFFIX))
    return terms
