"""What code says of pairs that differ, that say the same, and that have nothing to do: figures."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.agent.offline.neighbours import settle
from core.agent.offline.rules import View
from core.domain.models import MemoryRequest, MergeMode, Operation
from core.knowledge.duplicates import Evidence, Known, evidence
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


def told(given: Iterable[Pair]) -> Told:
    """Count what code says of pairs, both ways."""
    counts = Counter(_kind(*pair) for one, other in given for pair in ((one, other), (other, one)))
    return Told(counts["same"], counts["told"], counts["untold"], counts["apart"])


def _kind(new: str, known: str) -> str:
    found = evidence(new, Known("k", "k", known))
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


def judged(path: Path, holds: Callable[[float], bool]) -> list[Pair]:
    """Return the pairs of a KorSTS file with a score that holds."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(r["sentence1"], r["sentence2"]) for r in rows if holds(float(r["score"]))]


def table(given: Sequence[tuple[str, Sequence[Pair]]]) -> str:
    """Return the figures, a row per set."""
    head = f"{'pairs, both ways':<28}{'all':>7}{'same':>9}{'near':>9}{'told':>9}{'untold':>9}"
    rows = [head]
    for name, some in given:
        counts = told(some)
        shares = (counts.same, counts.near, counts.near_told, counts.near_untold)
        told_shares = "".join(f"{100 * part / max(1, counts.all):>8.2f}%" for part in shares)
        rows.append(f"{name:<28}{counts.all:>7}{told_shares}")
    return "\n".join(rows)


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
    print(table(given))
    wrong = [told(pairs(hand, "differences")) for hand in HANDS]
    return 1 if any(counts.same or counts.near_untold for counts in wrong) else 0
