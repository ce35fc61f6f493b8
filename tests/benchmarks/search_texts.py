"""Items of mixed lengths in Korean and English for timing, with realistic word frequencies."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import accumulate

from core.domain.models import Kind
from core.knowledge.search.documents import SearchDocument
from tests.benchmarks.search_sets import AGENT, DATA, TENANT

WORDS = 40_000
_PARTICLES = (
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "에",
    "의",
    "로",
    "과",
    "에서",
    "까지",
    "",
    "",
    "",
)
_ENDINGS = ("한다", "합니다", "하지 않는다", "해야 한다", "된다", "알린다", "확인한다")
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvw", "aeiou"


class Texts:
    """Generates items and queries from one seed.

    Word frequencies follow Zipf's law. Of twenty items fourteen are memories of 5 to 40 words, five
    rules of 30 to 120, and one a skill of 150 to 900; one in three is English.
    """

    def __init__(self, seed: int = 20261121) -> None:
        self._dice = random.Random(seed)
        self._nouns, self._syllables = (line.split() for line in _read_words())
        korean = [*self._nouns, *self._new_words(self._korean)]
        english = self._new_words(self._english)
        self._words = {True: korean[:WORDS], False: english}
        self._weights = [*accumulate(1 / rank for rank in range(1, WORDS + 1))]

    def items(self, count: int, first: int = 0) -> Iterator[SearchDocument]:
        """Yield items with ids from `first` on."""
        for number in range(first, first + count):
            yield self._item(number)

    def query(self) -> str:
        """Return a query of one to eight words, with the frequencies of the texts."""
        korean = self._dice.random() < 2 / 3
        return self._text(korean, self._dice.randint(1, 8))

    def _item(self, number: int) -> SearchDocument:
        korean = self._dice.random() < 2 / 3
        kind, least, most = self._dice.choice(_SHAPES)
        text = self._text(korean, self._dice.randint(least, most))
        return SearchDocument(
            tenant_id=TENANT,
            kind=kind,
            item_id=f"item-{number}",
            agent_id=None if kind is Kind.SKILL else f"{AGENT}-{number % 20}",
            name=text[:60],
            content=f"# {text[:40]}\n\n{text}" if kind is Kind.SKILL else text,
            files=("scripts/run_report.py",) if kind is Kind.SKILL else (),
        )

    def _text(self, korean: bool, words: int) -> str:
        chosen = self._dice.choices(self._words[korean], cum_weights=self._weights, k=words)
        if korean:
            chosen = [word + self._dice.choice(_PARTICLES) for word in chosen]
            chosen.append(self._dice.choice(_ENDINGS))
        return " ".join(chosen) + (f" {self._dice.randint(1, 999)},000원" if korean else "")

    def _new_words(self, make: Callable[[], str]) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < WORDS:
            words[make()] = None
        return [*words]

    def _korean(self) -> str:
        return "".join(self._dice.choices(self._syllables, k=self._dice.choice((2, 2, 2, 3, 3, 4))))

    def _english(self) -> str:
        pairs = self._dice.randint(2, 4)
        end = self._dice.choice(("", "s", "ed", "ing", "er", "ment", "tion"))
        return (
            "".join(
                self._dice.choice(_CONSONANTS) + self._dice.choice(_VOWELS) for _ in range(pairs)
            )
            + end
        )


_SHAPES = (
    *[(Kind.MEMORY, 5, 40)] * 14,
    *[(Kind.DMN_RULE, 30, 120)] * 5,
    (Kind.SKILL, 150, 900),
)


def _read_words() -> list[str]:
    """Return a line of common nouns and a line of syllables of which Korean words are made."""
    return (DATA / "words.txt").read_text("utf-8").splitlines()
