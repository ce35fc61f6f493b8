"""How often a change that breaks another item is found, and how often a safe one is stopped.

A harmful line is found if a finding names the item that relies on it; a safe line is stopped by
any finding. Beside it stand two rules of one line each: any number or quoted name of the changed
lines that another item has, and any word of them. Besides: whether the item that relies on a
harmful line is among those that a model would be asked about, which is what a model that never
errs would find; also with the items of all other stories in between. Of files that are given it
prints figures alone unless `--show` says more, and of the sealed ones never more.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from random import Random

from pydantic import JsonValue

from core.changes.interference import JudgeReliance
from core.decision_table import search_text
from core.domain.models import (
    SKILL_MD,
    Change,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    Kind,
    OutputColumn,
)
from core.knowledge.duplicates.words import words_of
from core.knowledge.interference import (
    Item,
    Reliance,
    doubt,
    find_reliance,
    read_known,
    read_memory,
    read_skill,
    read_table,
)
from core.knowledge.interference.delta import compare
from core.knowledge.interference.words import names, says

SETS = Path(__file__).parent / "sets"
OPEN = SETS / "open"
KINDS = ("precondition", "step_added", "step_removed", "value_changed")
HANDS = {"open": ("a", "b", "c", "d"), "sealed": ("a", "b")}


@dataclass(frozen=True)
class Line:
    """A change of an item, what the agent knows besides, and what of it relies on the change."""

    id: str
    hand: str
    kind: str
    lang: str
    said: str
    before: Item
    after: Item
    others: tuple[Item, ...]
    relies: str | None

    @property
    def is_harmful(self) -> bool:
        return self.relies is not None


def lines(path: Path) -> Iterator[Line]:
    """Read a set."""
    for text in path.read_text("utf-8").splitlines():
        row = json.loads(text)
        item = row["item"]
        before, after = (_item({**item, **item[state]}) for state in ("before", "after"))
        yield Line(
            id=row["id"],
            hand=row["hand"],
            kind=row["kind"],
            lang=row["lang"],
            said=row["said"],
            before=before,
            after=after,
            others=tuple(map(_known, row["others"])),
            relies=row["relies"],
        )


def _item(row: Mapping[str, JsonValue]) -> Item:
    if row["kind"] == "MEMORY":
        return read_memory(str(row["id"]), str(row["text"]))
    if row["kind"] == "DMN_RULE":
        return read_table(str(row["id"]), read_rows(row))
    head = f"---\nname: {row['name']}\ndescription: {row['description']}\n---\n"
    files = row["files"]
    assert isinstance(files, dict)
    texts = {path: str(text) for path, text in files.items()}
    return read_skill(str(row["id"]), str(row["name"]), {SKILL_MD: f"{head}{row['body']}", **texts})


def _known(row: Mapping[str, JsonValue]) -> Item:
    """Return another item as the gate reads it: of a table the text that is searched."""
    if row["kind"] != "DMN_RULE":
        return _item(row)
    told = str(row["id"]), str(row["name"]), search_text(read_rows(row))
    return read_known(Kind.DMN_RULE, *told)


def read_rows(row: Mapping[str, JsonValue]) -> DecisionTable:
    """Return a table of a set."""
    inputs, outputs, rows = row["inputs"], row["outputs"], row["rows"]
    assert isinstance(inputs, dict)
    assert isinstance(outputs, dict)
    assert isinstance(rows, list)
    made = []
    for number, cells in enumerate(rows):
        assert isinstance(cells, list)
        texts = [cell if isinstance(cell, str) else json.dumps(cell) for cell in cells]
        parts = tuple(texts[: len(inputs)]), tuple(texts[len(inputs) :])
        made.append(DecisionRow(id=f"row-{number + 1}", inputs=parts[0], outputs=parts[1]))
    return DecisionTable(
        name=str(row["name"]),
        hit_policy=HitPolicy(str(row["hit_policy"])),
        inputs=tuple(InputColumn(name=n, type=str(t)) for n, t in inputs.items()),
        outputs=tuple(OutputColumn(name=n, type=str(t)) for n, t in outputs.items()),
        rows=tuple(made),
    )


Rule = Callable[[Line], list[str]]


def by_rules(line: Line) -> list[str]:
    """Return the ids of the items that the product finds."""
    return [one.item.id for one in found(line)]


def found(line: Line) -> list[Reliance]:
    """Return what the product finds."""
    return find_reliance(line.before, line.after, line.others)


def by_values(line: Line) -> list[str]:
    """The rival: any number or quoted name of the changed lines that another item has."""
    changed = _changed(line)
    return [
        other.id
        for other in line.others
        if any(words_of(other.text).holds(value) for value in words_of(changed).quantities)
        or any(says(name, other.text) for name in names(changed))
    ]


def by_words(line: Line) -> list[str]:
    """The other rival: any informative word of the changed lines that another item has."""
    mine = {word.stem for word in words_of(_changed(line)).words if word.weight >= 1}
    return [
        other.id
        for other in line.others
        if mine & {word.stem for word in words_of(other.text).words if word.weight >= 1}
    ]


def _changed(line: Line) -> str:
    delta = compare(line.before, line.after)
    texts = [one.text for one in (*delta.removed, *delta.added, *delta.conditions)]
    texts += [" ".join((*one.gone, *one.come)) for one in delta.replaced]
    return "\n".join([*texts, *(one.text for one, _ in delta.moved)])


RULES: Mapping[str, Rule] = {"found": by_rules, "values": by_values, "words": by_words}


def is_right(line: Line, told: Sequence[str]) -> bool:
    """Whether a harmful line names what relies on it, or a safe one nothing."""
    return line.relies in told if line.is_harmful else not told


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return the interval of 95 % of a share (Wilson)."""
    if not of:
        return 0.0, 1.0
    z, share = 1.96, hits / of
    middle = share + z * z / (2 * of)
    around = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    ends = (middle - around, middle + around)
    low, high = (min(1.0, max(0.0, end / (1 + z * z / of))) for end in ends)
    return low, high


def share(hits: int, of: int) -> str:
    """Return a share with its interval, as it is printed."""
    low, high = wilson(hits, of)
    return (
        f"{hits:>3}/{of:<3} {100 * hits / max(1, of):>5.1f} % ({100 * low:.0f}-{100 * high:.0f} %)"
    )


def asked_about(line: Line, strangers: Sequence[Item] = ()) -> list[Item]:
    """Return the items that a model would be asked about, the likeliest first."""
    others = [*line.others, *strangers]
    reliances = find_reliance(line.before, line.after, others)
    return [one.item for one in doubt(line.before, line.after, others, reliances).pairs]


def strangers_of(line: Line, every: Sequence[Line]) -> list[Item]:
    """Return the items of all other stories."""
    items = {(one.kind, one.id, one.text): one for other in every for one in other.others}
    mine = {(one.kind, one.id, one.text) for one in line.others}
    return [one for key, one in items.items() if key not in mine]


def _groups(every: Sequence[Line]) -> Iterator[tuple[str, Sequence[Line]]]:
    yield "all", every
    for kind in KINDS:
        yield kind, [one for one in every if one.kind == kind]
    for lang in ("ko", "en"):
        yield lang, [one for one in every if one.lang == lang]
    for said in ("same words", "paraphrase"):
        yield said, [one for one in every if one.said == said]


def table(every: Sequence[Line], rule: Rule) -> str:
    """Return what a rule finds and stops, by kind and language."""
    rows = [f"  {'':<18}{'found of harmful':<27}stopped of safe"]
    told = {line.id: rule(line) for line in every}
    for name, some in _groups(every):
        bad = [one for one in some if one.is_harmful]
        safe = [one for one in some if not one.is_harmful]
        hits = sum(is_right(one, told[one.id]) for one in bad)
        stopped = sum(bool(told[one.id]) for one in safe)
        rows.append(f"  {name:<18}{share(hits, len(bad)):<27}{share(stopped, len(safe))}")
    return "\n".join(rows)


async def judged(every: Sequence[Line], judge: JudgeReliance) -> Mapping[str, list[str]]:
    """Return the ids of the items that a model says are broken, by line."""
    told = {}
    for line in every:
        asked = doubt(line.before, line.after, line.others, found(line))
        change = Change.model_construct(key=line.id, tenant_id=line.id)
        answers = await judge(change, asked) if asked.pairs else ()
        told[line.id] = [one.item.id for one in answers if one.is_broken]
    return told


def table_of_asked(every: Sequence[Line], around: Sequence[Line]) -> str:
    """Return how often what relies is among what the model would be asked, alone and in a crowd."""
    bad = [one for one in every if one.is_harmful]
    crowd = {one.id: strangers_of(one, around) for one in bad}
    forty = {key: _drawn(items, key) for key, items in crowd.items()}
    told = [
        {one.id: _asked(one, some.get(one.id, ())) for one in bad} for some in ({}, forty, crowd)
    ]
    head = f"+{_AS_SEARCHED} items of others", f"+{max(map(len, crowd.values()), default=0)}"
    rows = [f"  {'among what is asked':<20}{'its agent alone':<27}{head[0]:<27}{head[1]}"]
    for name, some in _groups(bad):
        cells = (share(sum(by_id[one.id][0] for one in some), len(some)) for by_id in told)
        rows.append(f"  {name:<20}" + "".join(f"{cell:<27}" for cell in cells).rstrip())
    counts = (sum(n for _, n in by_id.values()) / max(1, len(bad)) for by_id in told)
    rows.append(f"  {'asked a change':<20}" + "".join(f"{n:<27.1f}" for n in counts).rstrip())
    return "\n".join(rows)


_AS_SEARCHED = 40  # the search proposes at most so many


def _drawn(items: Sequence[Item], seed: str) -> list[Item]:
    return Random(seed).sample(items, min(_AS_SEARCHED, len(items)))


def _asked(line: Line, strangers: Sequence[Item]) -> tuple[bool, int]:
    """Return whether a model would be asked about what relies, and about how many in all."""
    items = asked_about(line, strangers)
    mine = [one for one in line.others if one.id == line.relies]
    return any(one is item for one in mine for item in items), len(items)


def sets(arguments: Sequence[str]) -> Sequence[Path]:
    """Return the files that are given, or the open or the sealed ones."""
    where = "sealed" if "--sealed" in arguments else "open"
    files = [Path(one) for one in arguments if not one.startswith("-")]
    return files or [SETS / where / f"interference-{hand}.jsonl" for hand in HANDS[where]]


def main(arguments: Sequence[str], judge: JudgeReliance | None = None) -> int:
    """Print the figures of the open files, of the sealed ones or of those given.

    With a judge also of what it says where the agent of each story is alone.

    1 below the bar: 95 % found, 5 % stopped.
    """
    options = {one for one in arguments if one.startswith("-")}
    files = [one for one in arguments if not one.startswith("-")]
    if not options <= {"--sealed", "--show", "--judge"} or (files and "--sealed" in options):
        print(
            "usage: python -m tests.evals interference [--sealed | FILE...]"
            " [--show | --searched | --judge (with LLM_MODEL)]"
        )
        return 2
    every = [one for path in sets(arguments) for one in _printed(path)]
    began = time.perf_counter()
    print(f"all, {len(every)} lines\n{table(every, by_rules)}")
    print(f"  {1000 * (time.perf_counter() - began) / len(every):.1f} ms a line")
    print(table_of_asked(every, every))
    if judge is not None:
        told = asyncio.run(judged(every, judge))
        print(f"all, as the model judges\n{table(every, lambda line: told[line.id])}")
    for name, rule in RULES.items():
        if rule is not by_rules:
            print(f"all, the rule of shared {name} alone\n{table(every, rule)}")
    if "--show" in options and all(path.parent.name != "sealed" for path in sets(arguments)):
        _show(every)
    bad = [one for one in every if one.is_harmful]
    safe = [one for one in every if not one.is_harmful]
    is_enough = sum(is_right(one, by_rules(one)) for one in bad) >= 0.95 * len(bad)
    return int(not is_enough or sum(bool(by_rules(one)) for one in safe) > 0.05 * len(safe))


def _printed(path: Path) -> list[Line]:
    some = list(lines(path))
    print(f"{path.name}, {len(some)} lines\n{table(some, by_rules)}\n{table_of_asked(some, some)}")
    return some


def _show(every: Sequence[Line]) -> None:
    for line in every:
        told = found(line)
        if not is_right(line, [one.item.id for one in told]):
            print(f"{line.id} {'missed ' + str(line.relies) if line.is_harmful else 'stopped'}")
            for one in told:
                print(f"    {one.kind} {one.weight:.2f} {one.item.id}: {one.changed.text!r}"
                      f" <- {one.relies.text!r}")  # fmt: skip
