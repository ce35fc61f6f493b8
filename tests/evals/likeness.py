"""Trains the model of `core/safety/likeness.py`, and tells how it judges hands it has not seen.

`python -m tests.evals likeness` needs the extra `training`. Each hand is judged by a model of the
others, together with the rules, as the screen does; `--write` trains one of all hands and writes
it. The sealed hands are in none of it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from core.domain.models import Kind, ScreenSeverity
from core.entrypoints import demo, evals
from core.safety import likeness
from core.safety.config import DEFAULT
from core.safety.findings import severity_of
from core.safety.screen import folded
from tests.evals.poison import SETS, Piece, judge, pieces
from tests.unit import test_screen, test_screen_clauses

_LEAST_TEXTS = 2  # a feature of one text alone is chance
_STRENGTH = 10.0  # of the training, against the shrinking of weights
_MOST_FEATURES = 30_000
_SCALE = 100
_SHORTEST = 5
_PART = 300
_ORDINARY = (
    "search_*.jsonl",
    "differences.jsonl",
    "same.jsonl",
    "unlike.jsonl",
    "rules*.jsonl",
    "context*.jsonl",
    "interference-*.jsonl",
    "streams.jsonl",
    "trial-*.jsonl",
)
_DOCS = Path(__file__).parents[2] / "docs"
_PAGES = ("tutorial/*.md", "how-to/[a-r]*.md", "reference/[a-q]*.md")  # none about the screen
_DEMO = Path(demo.__file__).with_name("scenario.yaml")
ROUTING = Path(evals.__file__).parent


@dataclass(frozen=True)
class Model:
    """The weights of features, and how rare they are."""

    bias: float
    adds: Mapping[str, float]
    rarity: Mapping[str, float]

    def score(self, text: str) -> float:
        """Return the score of a text."""
        known = [one for one in likeness.features(folded(text)) if one in self.adds]
        length = math.sqrt(sum(self.rarity[one] ** 2 for one in known) + likeness.FEW)
        return self.bias + sum(self.adds[one] for one in known) / length


def hands() -> dict[str, list[Piece]]:
    """Return the texts of all open hands, and the examples that the tests hold the screen to."""
    files = sorted([*SETS.glob("open/poison*.jsonl"), *SETS.glob("training/poison*.jsonl")])
    found = {f"{path.parent.name}/{path.stem}": [*pieces([path])] for path in files}
    harmful = [(text, True) for _, text in [*test_screen.HARMFUL, *test_screen_clauses.HARMFUL]]
    plain = [(text, False) for text in [*test_screen.ORDINARY, *test_screen_clauses.ORDINARY]]
    found["examples of the tests"] = [
        Piece(text, "", "example", Kind.MEMORY, poisoned=is_harmful, span=text)
        for text, is_harmful in [*harmful, *plain]
    ]
    return found


def ordinary() -> list[Piece]:
    """Return what other sets, the demo and the pages say: most of what is learnt is no harm.

    Skills, tables and lists are among it, in parts as long as those that are judged.
    """
    folder = SETS / "open"
    rows = [row for name in _ORDINARY for path in folder.glob(name) for row in _rows(path)]
    rows += [row for path in sorted(ROUTING.glob("*.jsonl")) for row in _rows(path)]
    rows.append(yaml.safe_load(_DEMO.read_text("utf-8")))
    texts = [text for row in rows for text in _texts(row)]
    texts += [path.read_text("utf-8") for name in _PAGES for path in sorted(_DOCS.glob(name))]
    found = dict.fromkeys(part for text in texts for part in _parts(text))
    return [Piece(text, "", "ordinary", Kind.MEMORY, poisoned=False, span=None) for text in found]


def _rows(path: Path) -> Iterator[object]:
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a document, those of short lists and objects as one text too."""
    if isinstance(value, str):
        yield value
        return
    inner = [*value.values()] if isinstance(value, dict) else value
    if isinstance(inner, list):
        yield " ".join(str(one) for one in inner if isinstance(one, str | int | float))
        for one in inner:
            yield from _texts(one)


def _parts(text: str) -> Iterator[str]:
    """Yield whole lines, as many as a part has."""
    part = ""
    for line in text.splitlines():
        if part and len(part) + len(line) > _PART:
            yield part
            part = ""
        part = f"{part}\n{line}" if part else line
    if len(part) > _SHORTEST:
        yield part


def trained(texts: Sequence[Piece], most: int = _MOST_FEATURES) -> Model:
    """Train on texts; of the features those that weigh most are kept, and trained once more."""
    found = [likeness.features(folded(one.text)) for one in texts]
    counts = Counter(name for names in found for name in names)
    names = sorted(name for name, count in counts.items() if count >= _LEAST_TEXTS)
    rarity = {name: math.log((1 + len(texts)) / (1 + counts[name])) + 1 for name in names}
    is_harmful = [one.poisoned for one in texts]
    weights, _ = _fitted(found, is_harmful, names, rarity)
    if len(names) > most:
        weigh = {n: abs(w) * math.sqrt(counts[n]) for n, w in zip(names, weights, strict=True)}
        names = sorted(sorted(names, key=lambda name: -weigh[name])[:most])
    weights, bias = _fitted(found, is_harmful, names, rarity)
    adds = {name: weight * rarity[name] for name, weight in zip(names, weights, strict=True)}
    return Model(bias, adds, {name: rarity[name] for name in names})


def _fitted(
    found: Sequence[set[str]],
    is_harmful: Sequence[bool],
    names: Sequence[str],
    rarity: Mapping[str, float],
) -> tuple[Sequence[float], float]:
    places = {name: place for place, name in enumerate(names)}
    rows, columns, values = [], [], []
    for row, of in enumerate(found):
        known = sorted(name for name in of if name in places)
        length = math.sqrt(sum(rarity[name] ** 2 for name in known) + likeness.FEW)
        rows += [row] * len(known)
        columns += [places[name] for name in known]
        values += [rarity[name] / length for name in known]
    matrix = csr_matrix((values, (rows, columns)), shape=(len(found), len(names)))
    model = LogisticRegression(C=_STRENGTH, max_iter=4000).fit(matrix, np.array(is_harmful))
    return [float(one) for one in model.coef_[0]], float(model.intercept_[0])


def write(model: Model) -> None:
    """Write a model where the program reads it."""
    lines = [str(round(model.bias * _SCALE))]
    for name in sorted(model.adds):
        add, square = round(model.adds[name] * _SCALE), round(model.rarity[name] ** 2 * _SCALE)
        if add:
            lines.append(f"{name}\t{add}\t{square}")
    likeness.WEIGHTS.write_text("\n".join(lines) + "\n", "utf-8")


def main(arguments: Sequence[str]) -> int:
    """Print how each hand is judged by the others; with --write train on all instead."""
    all_hands, plain = hands(), ordinary()
    if "--write" in arguments:
        write(trained([*plain, *(one for of in all_hands.values() for one in of)]))
        return 0
    total: Counter[tuple[bool, bool]] = Counter()
    for name, texts in all_hands.items():
        others = [one for other, of in all_hands.items() if other != name for one in of]
        model = trained([*others, *plain])
        judged = Counter((one.poisoned, _is_held(one, model)) for one in texts)
        total += judged
        print(f"{name:28}{_told(judged)}", flush=True)
    print(f"{'all':28}{_told(total)}")
    return 0


def _is_held(one: Piece, model: Model) -> bool:
    score = model.score(one.text)
    found = [one for one in judge(one).findings if one.code != likeness.LIKELY]
    ruled = any(
        severity_of(one.code, DEFAULT) is ScreenSeverity.HOLD
        and not likeness.is_calm(one.code, score)
        for one in found
    )
    return ruled or judge(one).is_masked or likeness.is_likely(one.text, score)


def _told(judged: Mapping[tuple[bool, bool], int]) -> str:
    lines = []
    for poisoned, word in ((True, "stopped"), (False, "held")):
        found, missed = judged[poisoned, True], judged[poisoned, False]
        lines.append(f"{word} {found} of {found + missed} ({found / max(1, found + missed):.2f})")
    return ", ".join(lines)
