"""Trains the model of `core/safety/likeness.py`, and tells how it judges hands it has not seen.

`python -m tests.evals likeness` needs the extra `training`. Each hand is judged by a model of the
others, together with the rules, as the screen does; `--write` trains one of all hands and writes
it. The sealed hands are in none of it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from core.agent.offline import author
from core.domain.models import Kind, ScreenSeverity
from core.entrypoints import demo, evals
from core.safety import likeness
from core.safety.config import DEFAULT
from core.safety.findings import severity_of
from core.safety.said import said
from core.safety.screen import folded
from tests.evals.poison import SETS, Piece, judge, pieces
from tests.support.offline_stories import STORIES
from tests.unit import test_screen, test_screen_clauses

_LEAST_TEXTS = 2  # a feature of one text alone is chance
_STRENGTH = 20.0  # of the training, against the shrinking of weights
_MOST_FEATURES = 40_000
_RULE_WEIGHT = 0.1  # of a rule, as if it were so long a text
_SCALE = 100
_SHORTEST = 5
Row = NDArray[np.int64]
# Texts that rules were mended on, examples of the tests, and what is neither harmful nor alike.
_TUNED, _EXAMPLE, _PLAIN = "tuned", "example", "ordinary"
_WEIGHTS = {_PLAIN: 0.05}  # there are three times as many, and they are easy
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

    def score(self, text: str, codes: Collection[str]) -> float:
        """Return the score of a text in which rules found these codes."""
        known = [one for one in likeness.features(folded(text)) if one in self.adds]
        length = math.sqrt(sum(self.rarity[one] ** 2 for one in known) + likeness.FEW)
        ruled = sum(self.adds.get(one, 0) for one in likeness.of_rules(codes))
        return self.bias + ruled + sum(self.adds[one] for one in known) / length


def hands() -> dict[str, list[Piece]]:
    """Return the texts of all open hands, and the examples that the tests hold the screen to."""
    files = sorted([*SETS.glob("open/poison*.jsonl"), *SETS.glob("training/poison*.jsonl")])
    found = {f"{path.parent.name}/{path.stem}": _of_hand(path) for path in files}
    harmful = [(text, True) for _, text in [*test_screen.HARMFUL, *test_screen_clauses.HARMFUL]]
    stories = [text for told, _ in STORIES.values() for text in told]
    # What the stand-in writes into every skill.
    stories += [one for of in (author.ENGLISH, author.KOREAN) for one in of.values()]
    plain = [
        (text, False) for text in [*test_screen.ORDINARY, *test_screen_clauses.ORDINARY, *stories]
    ]
    found["examples of the tests"] = [
        Piece(text, "", _EXAMPLE, Kind.MEMORY, poisoned=is_harmful, span=text)
        for text, is_harmful in [*harmful, *plain]
    ]
    return found


def _of_hand(path: Path) -> list[Piece]:
    is_tuned = path.parent.name == "open" and path.stem != "poison_indirect"
    return [replace(one, about=_TUNED) if is_tuned else one for one in pieces([path])]


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
    return [Piece(text, "", _PLAIN, Kind.MEMORY, poisoned=False, span=None) for text in found]


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
    rows = [_features(one.text) for one in texts]
    counted = Counter(np.concatenate(rows).tolist())
    kept = {mark: count for mark, count in counted.items() if count >= _LEAST_TEXTS}
    del counted
    names = {_NAMES[mark]: count for mark, count in kept.items()}
    rarity = {name: math.log((1 + len(texts)) / (1 + names[name])) + 1 for name in sorted(names)}
    weights = _both(rows, texts, rarity).weights
    if len(rarity) > most:
        weigh = {n: abs(w) * math.sqrt(names[n]) for n, w in zip(rarity, weights, strict=True)}
        best = sorted(sorted(weigh, key=lambda name: -weigh[name])[:most])
        rarity = {name: rarity[name] for name in best}
    found = _both(rows, texts, rarity)
    adds = {
        name: float(weight) * rarity[name]
        for name, weight in zip(rarity, found.weights, strict=True)
    }
    return Model(found.bias, adds | found.of_rules, rarity)


@dataclass(frozen=True)
class _Fit:
    """The weights of features and of rules, and the bias; `spread` is that of the scores."""

    weights: NDArray[np.float64]
    of_rules: Mapping[str, float]
    bias: float
    spread: float


def _both(found: Sequence[Row], texts: Sequence[Piece], rarity: Mapping[str, float]) -> _Fit:
    """Return the mean of a plain model, and of one whose features count by their ratio.

    The second is that of Wang and Manning (2012), "Baselines and Bigrams": features are multiplied
    by the logarithm of how much more often the one kind has them. Both are linear, and so is the
    mean, which errs less on hands that neither saw than either.
    """
    plain = _fitted(found, texts, rarity, None)
    other = _fitted(found, texts, rarity, _ratios(found, texts, rarity))
    scale = plain.spread / other.spread
    return _Fit(
        (plain.weights + other.weights * scale) / 2,
        {name: (w + other.of_rules[name] * scale) / 2 for name, w in plain.of_rules.items()},
        (plain.bias + other.bias * scale) / 2,
        plain.spread,
    )


def _ratios(
    found: Sequence[Row], texts: Sequence[Piece], rarity: Mapping[str, float]
) -> NDArray[np.float64]:
    places = {hash(name): place for place, name in enumerate(rarity)}
    counts = np.ones((2, len(places)))
    for row, one in zip(found, texts, strict=True):
        known = [places[mark] for mark in row.tolist() if mark in places]
        counts[int(one.poisoned), known] += _WEIGHTS.get(one.about, 1.0)
    harmless, harmful = counts / counts.sum(axis=1, keepdims=True)
    ratios: NDArray[np.float64] = np.log(harmful / harmless)
    return ratios


_NAMES: dict[int, str] = {}  # of features, by their hashes


@cache
def _features(text: str) -> Row:
    """Return the features of a text by their hashes."""
    named = {hash(name): name for name in likeness.features(folded(text))}
    _NAMES.update(named)
    return np.array([*named], np.int64)


@cache
def _rules(one: Piece) -> frozenset[str]:
    """Return what unsure rules find; of hands that rules were mended on it would say too much."""
    if one.about in (_TUNED, _EXAMPLE):
        return frozenset()
    return frozenset(likeness.of_rules(code for code, *_ in said(folded(one.text))))


def _fitted(
    found: Sequence[Row],
    texts: Sequence[Piece],
    rarity: Mapping[str, float],
    ratios: NDArray[np.float64] | None,
) -> _Fit:
    """Return what fits the texts best; features are multiplied by `ratios`."""
    ruled = [_rules(one) for one in texts]
    rules = sorted({name for of in ruled for name in of})
    places = {hash(name): place for place, name in enumerate(rarity)}
    of_rules = {name: len(places) + place for place, name in enumerate(rules)}
    rare = np.array([*rarity.values()])
    ends, columns, values = [0], [], []
    for of, by in zip(found, ruled, strict=True):
        known = np.array(sorted(places[mark] for mark in of.tolist() if mark in places), np.int32)
        length = math.sqrt(float((rare[known] ** 2).sum()) + likeness.FEW)
        columns += [known, np.array([of_rules[name] for name in sorted(by)], np.int32)]
        values += [rare[known] / length, np.full(len(by), _RULE_WEIGHT)]
        ends.append(ends[-1] + len(known) + len(by))
    shape = (len(found), len(places) + len(rules))
    matrix = csr_matrix((np.concatenate(values), np.concatenate(columns), ends), shape=shape)
    counts = np.ones(shape[1])
    if ratios is not None:
        counts[: len(places)] = ratios
    matrix = csr_matrix(matrix.multiply(counts))
    model = LogisticRegression(
        C=_STRENGTH, solver="liblinear", dual=True, max_iter=1000, tol=1e-3, random_state=0
    )
    weights = [_WEIGHTS.get(one.about, 1.0) for one in texts]
    model.fit(matrix, np.array([one.poisoned for one in texts]), sample_weight=weights)
    of_all = model.coef_[0] * counts
    adds = {name: float(of_all[place]) * _RULE_WEIGHT for name, place in of_rules.items()}
    labelled = np.array([one.about != _PLAIN for one in texts])
    spread = float(model.decision_function(matrix)[labelled].std())
    return _Fit(of_all[: len(places)], adds, float(model.intercept_[0]), spread)


def write(model: Model) -> None:
    """Write a model where the program reads it."""
    lines = [str(round(model.bias * _SCALE))]
    for name in sorted(model.adds):
        rarity = model.rarity.get(name, 0)
        add, square = round(model.adds[name] * _SCALE), round(rarity**2 * _SCALE)
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
    """Whether a piece waits: by what a rule finds that is meant, by its score, or masked."""
    judged = judge(one)
    codes = {found.code for found in judged.findings if found.code != likeness.LIKELY}
    score = model.score(one.text, codes)
    text = folded(one.text)
    meant = any(
        severity_of(code, DEFAULT) is ScreenSeverity.HOLD and likeness.is_meant(text, score, code)
        for code in codes
    )
    return meant or judged.is_masked or likeness.is_likely(text, score)


def _told(judged: Mapping[tuple[bool, bool], int]) -> str:
    lines = []
    for poisoned, word in ((True, "stopped"), (False, "held")):
        found, missed = judged[poisoned, True], judged[poisoned, False]
        lines.append(f"{word} {found} of {found + missed} ({found / max(1, found + missed):.2f})")
    return ", ".join(lines)
