"""Texts in memory by their letter pairs: which of thousands stand nearest to one more."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from core.domain.text import normal_form
from core.knowledge.duplicates.texts import Known

MAX_CHARS = 4_000
RAREST = 24  # letter pairs of a text that find others; common ones tell little and cost most
MOST_POSTINGS = 1_000  # texts read for one pair
# Of many, texts that share less of those pairs are not near: measured, 98 % of those near do.
LEAST_SHARE, MANY = 0.12, 200


class TextsIndex:
    """Known texts, found by the rarest letter pairs that they share with another."""

    def __init__(self) -> None:
        self._texts: list[Known | None] = []
        self._places: dict[str, int] = {}
        self._postings: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, item_id: str) -> bool:
        return item_id in self._places

    def add(self, known: Known) -> None:
        """Add a text, in place of the one with its id."""
        self.drop(known.id)
        place = self._places[known.id] = len(self._texts)
        self._texts.append(known)
        for pair in _pairs(known.text):
            self._postings[pair].append(place)

    def drop(self, item_id: str) -> None:
        """Drop a text, if it is there: the others are found as if it had never been."""
        place = self._places.pop(item_id, None)
        known = self._texts[place] if place is not None else None
        if place is None or known is None:
            return
        self._texts[place] = None
        for pair in _pairs(known.text):
            self._postings[pair].remove(place)

    def nearest(self, text: str, limit: int) -> Sequence[Known]:
        """Return the texts that share most with one, the nearest first."""
        there = [found for pair in sorted(_pairs(text)) if (found := self._postings.get(pair))]
        there.sort(key=len)
        scores: defaultdict[int, float] = defaultdict(float)
        ideal = 0.0
        for postings in there[:RAREST]:
            weight = math.log(1 + len(self) / len(postings))
            ideal += weight
            if len(postings) <= MOST_POSTINGS:
                for place in postings:
                    scores[place] += weight
        least = LEAST_SHARE * ideal if len(self) > MANY else 0.0
        enough = [place for place, score in scores.items() if score >= least]
        enough.sort(key=lambda place: (-scores[place], place))
        known = (one for place in enough if (one := self._texts[place]) is not None)
        return [*islice(known, limit)]


def _pairs(text: str) -> set[str]:
    plain = normal_form(text[:MAX_CHARS])
    return {plain[at : at + 2] for at in range(max(1, len(plain) - 1))}
