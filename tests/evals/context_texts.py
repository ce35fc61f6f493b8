"""The items of the contexts' evaluation: those that tasks need, and look-alikes of others.

The look-alikes are made by a seed, half of them Korean. Each is about a customer, a branch, a
product or a person that no task names, in the words of the tasks' own topics and of others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import JsonValue

from core.decision_table import search_text, to_xml
from core.domain.hashing import new_item_id
from core.domain.models import (
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    Kind,
    OutputColumn,
)
from core.domain.models.base import Model
from core.knowledge.search.documents import SearchDocument
from tests.benchmarks.search_sets import TENANT

HERE = Path(__file__).parent
AGENT = "a1"
SEED = 20261123
_TABLES, _SKILLS = 0.14, 0.05  # shares of all; the rest are memories


class Item(Model):
    """An item as its store has it: `content` is text, DMN XML, or a skill's indexed text."""

    id: str
    kind: Kind
    name: str
    content: str
    searched: str

    @property
    def document(self) -> SearchDocument:
        """The item as it is indexed."""
        return SearchDocument(
            tenant_id=TENANT,
            kind=self.kind,
            item_id=self.id,
            agent_id=None if self.kind is Kind.SKILL else AGENT,
            name=self.name,
            content=self.searched,
        )


class Words(Model):
    """What the look-alikes of one language are made of."""

    names: tuple[str, ...]
    firms: tuple[str, ...]
    places: tuple[str, ...]
    goods: tuple[str, ...]
    people: tuple[str, ...]
    topics: tuple[str, ...]
    days: tuple[str, ...]
    tools: tuple[str, ...]
    memories: tuple[str, ...]
    tables: tuple[str, ...]
    columns: Mapping[str, str]
    results: tuple[str, ...]
    skills: tuple[str, ...]


class LookAlikes:
    """Makes items from one seed; `held_back`: about the topics of the held-back tasks."""

    def __init__(self, seed: int = SEED, *, held_back: bool = False) -> None:
        self._dice = random.Random(seed)
        self._held_back = held_back

    @cached_property
    def _words(self) -> Mapping[str, Words]:
        read = _read("context_words.yaml")
        if self._held_back:
            for language, topics in _read("context_words_held_back.yaml").items():
                read[language]["topics"] = topics
        return {language: Words.model_validate(words) for language, words in read.items()}

    def items(self, count: int, *, first: int = 0) -> Iterator[Item]:
        """Yield items in both languages by turns, numbered from `first` on."""
        for number in range(first, first + count):
            language = ("en", "ko")[number % 2]
            words, drawn = self._words[language], self._dice.random()
            if drawn < _TABLES:
                yield table_item(f"other {number}", self._table(words, language))
            elif drawn < _TABLES + _SKILLS:
                text = self._filled(words, language, self._dice.choice(words.skills))
                yield skill_item(f"skill-{number}", text)
            else:
                text = self._filled(words, language, self._dice.choice(words.memories))
                yield memory_item(f"other {number}", text)

    def _firm(self, words: Words, language: str) -> str:
        pick = self._dice.choice
        between = "" if language == "ko" else " "
        return f"{pick(words.names)}{pick(('', pick(words.names)))}{between}{pick(words.firms)}"

    def _filled(self, words: Words, language: str, template: str) -> str:
        pick = self._dice.choice
        return template.format(
            firm=self._firm(words, language),
            firm2=self._firm(words, language),
            place=pick(words.places),
            good=pick(words.goods),
            person=pick(words.people),
            other=pick(words.people),
            topic=pick(words.topics),
            topic2=pick(words.topics),
            day=pick(words.days),
            tool=pick(words.tools),
            money=f"{pick((5, 10, 25, 50, 100, 250)):,}",
            n=self._dice.randint(2, 12),
            n2=self._dice.randint(100, 999),
        )

    def _table(self, words: Words, language: str) -> DecisionTable:
        columns = self._dice.sample([*words.columns.items()], self._dice.choice((1, 2, 2, 3)))
        rows = tuple(
            DecisionRow(
                id=f"r{number}",
                inputs=tuple(self._cell(kind) for _, kind in columns),
                outputs=(f'"{self._dice.choice(words.results)}"',),
            )
            for number in range(1, self._dice.randint(3, 6))
        )
        return DecisionTable(
            name=self._filled(words, language, self._dice.choice(words.tables)),
            hit_policy=HitPolicy.FIRST,
            inputs=tuple(InputColumn(name=name, type=kind) for name, kind in columns),
            outputs=(OutputColumn(name="결과" if language == "ko" else "result"),),
            rows=rows,
        )

    def _cell(self, kind: str) -> str:
        pick = self._dice.choice
        if self._dice.random() < 0.3:
            return "-"
        if kind == "number":
            return f"{pick(('<', '<=', '>', '>='))} {pick((3, 5, 10, 30, 100, 500))}"
        return pick(("true", "false")) if kind == "boolean" else f'"{pick("ABCD")}"'


def _read(name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", yaml.safe_load((HERE / name).read_text("utf-8")))


def memory_item(key: str, text: str) -> Item:
    """Return a memory."""
    name = text if len(text) <= 60 else f"{text[:59]}…"
    item_id = new_item_id("mem", key)
    return Item(id=item_id, kind=Kind.MEMORY, name=name, content=text, searched=text)


def skill_item(name: str, description: str) -> Item:
    """Return a skill by its head."""
    text = f"{name}\n{description}"
    return Item(id=name, kind=Kind.SKILL, name=name, content=text, searched=text)


def table_item(key: str, table: DecisionTable) -> Item:
    """Return a decision table."""
    item_id = new_item_id("rule", key)
    xml = to_xml(table, decision_id=item_id)
    searched = search_text(table)
    return Item(id=item_id, kind=Kind.DMN_RULE, name=table.name, content=xml, searched=searched)


def read_item(line: Mapping[str, JsonValue]) -> Item:
    """Return an item of the set."""
    key = str(line["id"])
    match line["kind"]:
        case "SKILL":
            return skill_item(key, str(line["description"]))
        case "DMN_RULE":
            return table_item(key, _read_table(line))
        case _:
            return memory_item(key, str(line["text"]))


def _read_table(line: Mapping[str, JsonValue]) -> DecisionTable:
    inputs, outputs, rows = line["inputs"], line["outputs"], line["rows"]
    assert isinstance(inputs, dict)
    assert isinstance(outputs, dict)
    assert isinstance(rows, list)
    kinds = [str(kind) for kind in (*inputs.values(), *outputs.values())]
    made: list[DecisionRow] = []
    for number, row in enumerate(rows, start=1):
        assert isinstance(row, list)
        cells = [_feel(cell, kind) for cell, kind in zip(row, kinds, strict=True)]
        split = len(inputs)
        given, told = tuple(cells[:split]), tuple(cells[split:])
        made.append(DecisionRow(id=f"r{number}", inputs=given, outputs=told))
    return DecisionTable(
        name=str(line["name"]),
        hit_policy=HitPolicy.FIRST,
        inputs=tuple(InputColumn(name=n, type=str(kind)) for n, kind in inputs.items()),
        outputs=tuple(OutputColumn(name=n, type=str(kind)) for n, kind in outputs.items()),
        rows=tuple(made),
    )


def _feel(cell: JsonValue, kind: str) -> str:
    """Return a cell of the set as FEEL: texts are not quoted there."""
    is_plain = not isinstance(cell, str) or cell == "-" or kind != "string"
    return (
        str(cell).lower()
        if isinstance(cell, bool)
        else str(cell)
        if is_plain
        else json.dumps(cell, ensure_ascii=False)
    )
