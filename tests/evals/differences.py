"""What code says of pairs that differ, that say the same, and that have nothing to do: figures."""

from __future__ import annotations

import asyncio
import csv
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.agent.local_embeddings import build_local
from core.agent.offline.neighbours import settle
from core.agent.offline.rules import View
from core.domain.errors import ConfigurationError
from core.domain.models import MemoryRequest, MergeMode, Operation
from core.domain.models.vectors import Vector
from core.knowledge.duplicates import Evidence, Known, evidence
from core.knowledge.embedding_backfill import UNRELATED
from core.knowledge.search.vectors import closeness, cosine, noise
from core.learning_committers.memory_committer import merged

SETS = Path(__file__).with_name("sets")
HANDS = ("open", "sealed")
NAMES = ("differences", "same", "unlike")
RANDOM_PAIRS = 20_000
# Of pairs judged by people from 0 to 5: these say the same, and those have nothing in common.
SAME_SCORE, OTHER_SCORE = 4.5, 1.0
Pair = tuple[str, str]


@dataclass(frozen=True)
class Told:
    """What code says of pairs, each taken both ways."""

    same: int
    near_told: int
    near_untold: int
    apart: int

    @property
    def near(self) -> int:
        """The pairs that are near or the same."""
        return self.same + self.near_told + self.near_untold

    @property
    def all(self) -> int:
        """All pairs."""
        return self.near + self.apart


def pairs(hand: str, name: str) -> list[Pair]:
    """Read the pairs of a set."""
    return [(str(line["a"]), str(line["b"])) for line in lines(hand, name)]


def lines(hand: str, name: str) -> list[dict[str, object]]:
    """Read a set."""
    text = (SETS / hand / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def random_pairs(hand: str, seed: int = 14) -> list[Pair]:
    """Return pairs of texts from different lines of the three sets."""
    texts = [pair for name in NAMES for pair in pairs(hand, name)]
    chance = random.Random(seed)
    drawn = (chance.sample(texts, 2) for _ in range(RANDOM_PAIRS))
    return [(chance.choice(one), chance.choice(other)) for one, other in drawn]


def told(given: Iterable[Pair], meaning: Meaning | None = None) -> Told:
    """Count what code says of pairs, both ways."""
    both_ways = (pair for one, other in given for pair in ((one, other), (other, one)))
    counts = Counter(_kind(*pair, meaning) for pair in both_ways)
    return Told(counts["same"], counts["told"], counts["untold"], counts["apart"])


def _kind(new: str, known: str, meaning: Meaning | None) -> str:
    close = meaning.closeness(new, known) if meaning else None
    found = evidence(new, Known("k", "k", known, closeness=close))
    if found.is_exact or _is_called_the_same(new, known, found):
        return "same"
    if not found.is_near:
        return "apart"
    return "told" if found.told else "untold"


def _is_called_the_same(new: str, known: str, found: Evidence) -> bool:
    """Whether the stand-in would call it known, or a merge would drop the new text."""
    adding = MemoryRequest(
        operation=Operation.UPDATE, target_id="k", content=new, merge_mode=MergeMode.EXTEND
    )
    if merged(known, adding) == known:
        return True
    tool, _ = settle(View(new, "", ()), new, [{"id": "k", "name": "k", "excerpt": known}])
    return found.is_near and tool == "no_action"


class Meaning:
    """Vectors of texts by the model `local`, and the closeness of two, as a search returns it."""

    def __init__(self, vectors: Mapping[str, Vector], unrelated: float) -> None:
        self._vectors = vectors
        self._unrelated = unrelated

    def closeness(self, one: str, other: str) -> float:
        """Return the closeness of two texts, 0 to 1."""
        return closeness(cosine(self._vectors[one], self._vectors[other]), self._unrelated)


async def read_meaning(texts: Iterable[str]) -> Meaning:
    """Embed texts. Raises ConfigurationError where the model cannot run."""
    model = build_local()
    distinct = [*dict.fromkeys(texts)]
    vectors = await model.embed_documents(distinct)
    unrelated = noise(await model.embed_documents(UNRELATED))
    await model.close()
    return Meaning(dict(zip(distinct, vectors, strict=True)), unrelated)


def judged(path: Path, holds: Callable[[float], bool]) -> list[Pair]:
    """Return the pairs of a KorSTS file with a score that holds."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(r["sentence1"], r["sentence2"]) for r in rows if holds(float(r["score"]))]


def table(given: Sequence[tuple[str, Sequence[Pair]]], meaning: Meaning | None) -> str:
    """Return the figures, a row per set; with meaning also what is near then."""
    head = f"{'pairs, both ways':<28}{'all':>7}{'same':>9}{'near':>9}{'told':>9}{'untold':>9}"
    rows = [head + (f"{'near with meaning':>20}{'untold':>9}" if meaning else "")]
    for name, some in given:
        counts = told(some)
        shares = [counts.same, counts.near, counts.near_told, counts.near_untold]
        row = f"{name:<28}{counts.all:>7}" + _percent(shares, counts.all)
        if meaning:
            meant = told(some, meaning)
            row += " " * 11 + _percent([meant.near, meant.near_untold], counts.all)
        rows.append(row)
    return "\n".join(rows)


def _percent(counts: Sequence[int], all_of: int) -> str:
    return "".join(f"{100 * part / max(1, all_of):>8.2f}%" for part in counts)


def _meaning(given: Sequence[tuple[str, Sequence[Pair]]]) -> Meaning | None:
    try:
        return asyncio.run(read_meaning(t for _, some in given for pair in some for t in pair))
    except ConfigurationError as error:
        print(f"without meaning: {error.message}", file=sys.stderr)
        return None


def main(arguments: Sequence[str]) -> int:
    """Print the figures of both halves, and of judged pairs in the file given; 1 if one is bad."""
    if len(arguments) > 1 or (arguments and not Path(arguments[0]).is_file()):
        print("usage: python -m tests.evals differences [KORSTS.tsv]")
        return 2
    given: list[tuple[str, Sequence[Pair]]] = []
    for hand in HANDS:
        given += [(f"{hand}: {name}", pairs(hand, name)) for name in ("differences", "same")]
        given += [
            (f"{hand}: unlike", pairs(hand, "unlike")),
            (f"{hand}: random", random_pairs(hand)),
        ]
    if arguments:
        path = Path(arguments[0])
        given += [
            ("judged the same (>= 4.5)", judged(path, lambda score: score >= SAME_SCORE)),
            ("judged apart (< 1)", judged(path, lambda score: score < OTHER_SCORE)),
        ]
    print(table(given, _meaning(given)))
    wrong = [told(pairs(hand, "differences")) for hand in HANDS]
    return 1 if any(counts.same or counts.near_untold for counts in wrong) else 0
