"""How much of each passage of a text still stands in another text, changed or not (pure)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice

# Unrelated sentences of one language have up to half of their letters in the same order.
SIMILAR = 0.6
_LONGEST = 400
# More changed passages than this are a rewrite, whatever they say; it bounds the work.
_COMPARED = 4_000
_COMPARED_PAIRS = 64_000_000  # of characters, summed over the pairs of passages
_AMONG = 20_000
_CANDIDATES = 4
_TELLING_WORDS = 6
_WORD_BEGINS = 3  # Korean words keep their beginning, and so do inflected English ones
_SENTENCE_ENDS = re.compile(r"(?<=\D[.!?。])\s+")
_WORD = re.compile(r"\w+")


def passages(text: str) -> list[str]:
    """Give what a text says, a sentence or line each, of at most 400 characters."""
    lines = (line for line in map(str.strip, text.splitlines()) if line)
    sentences = (part for line in lines for part in _SENTENCE_ENDS.split(line))
    return [part[at : at + _LONGEST] for part in sentences for at in range(0, len(part), _LONGEST)]


def held(old: Sequence[str], new: Iterable[str]) -> list[int]:
    """Give of each old passage how many characters stand in the new ones.

    All where the same passage stands there, in any order; of a changed one what it shares with
    the passage most like it, if that is similar; else 0. Each new passage stands in for one.
    """
    left = Counter(new)
    found: list[int] = []
    changed: list[int] = []
    for at, passage in enumerate(old):
        is_there = left[passage] > 0
        left[passage] -= is_there
        found.append(len(passage) if is_there else 0)
        if not is_there:
            changed.append(at)
    fresh = _Fresh([*islice((+left).elements(), _AMONG)])
    for place, at in enumerate(changed[:_COMPARED]):
        found[at] = fresh.shared(old[at], place)
    return found


class _Fresh:
    """New passages, found by the words that they share with an old one."""

    def __init__(self, passages: list[str]) -> None:
        self._passages = passages
        self._used = [False] * len(passages)
        self._left = _COMPARED_PAIRS
        self._places: defaultdict[str, deque[int]] = defaultdict(deque)
        for at, passage in enumerate(passages):
            for word in _words(passage):
                self._places[word].append(at)

    def shared(self, passage: str, place: int) -> int:
        """Take the passage most like this one, and give how many characters the two share."""
        best, size = None, 0
        matcher = SequenceMatcher(None, "", passage, autojunk=False)
        for at in self._candidates(passage, place):
            other = self._passages[at]
            matcher.set_seq1(other)
            at_most = matcher.quick_ratio()
            if at_most < SIMILAR or at_most * (len(passage) + len(other)) <= 2 * size:
                continue
            self._left -= len(passage) * len(other)
            if self._left < 0 or matcher.ratio() < SIMILAR:
                continue
            same = sum(block.size for block in matcher.get_matching_blocks())
            if same > size:
                best, size = at, same
        if best is not None:
            self._used[best] = True
        return size

    def _candidates(self, passage: str, place: int) -> list[int]:
        """Give those that share the rarest words, and the one at the same place."""
        known = [self._unused(word) for word in _words(passage) if word in self._places]
        known.sort(key=len)
        votes = Counter(
            at for places in known[:_TELLING_WORDS] for at in islice(places, _CANDIDATES)
        )
        among = [at for at, _ in votes.most_common(_CANDIDATES)]
        beside = [place] if place < len(self._passages) else []
        return [at for at in dict.fromkeys([*among, *beside]) if not self._used[at]]

    def _unused(self, word: str) -> deque[int]:
        places = self._places[word]
        while places and self._used[places[0]]:
            places.popleft()
        return places


def _words(passage: str) -> Iterator[str]:
    """Give the beginnings of its words, each once."""
    return iter({word[:_WORD_BEGINS].casefold() for word in _WORD.findall(passage)})
