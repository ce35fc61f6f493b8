"""The project's own corpus and queries, in Korean and English, by what makes each query hard."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.decision_table import search_text
from core.domain.models import (
    DecisionRow,
    DecisionTable,
    InputColumn,
    Kind,
    OutputColumn,
    SkillSummary,
)
from core.domain.models.skills import SKILL_MD, Bundle, SkillFile
from core.knowledge.search.documents import SearchDocument, skill_search_document
from tests.benchmarks.search_slips import slipped

DATA = Path(__file__).with_name("search_data")
TENANT = "benchmark"
AGENT = "bench-agent"


@dataclass(frozen=True)
class Query:
    """A query and the items that answer it; `held_out` queries were never tuned to."""

    category: str
    text: str
    wanted: frozenset[str]
    held_out: bool


def documents() -> list[SearchDocument]:
    """Return memories, rules and skills as the index stores them."""
    return [*_memories(), *_rules(), *_skills()]


def queries() -> list[Query]:
    """Return all queries; every second one of a category is held out.

    Typing errors are generated from the other queries, the same at every run; NFD are those with
    Hangul, decomposed.
    """
    with (DATA / "queries.tsv").open(encoding="utf-8", newline="") as file:
        written = [*csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    text = "\n".join(document.content for document in documents()).casefold()
    slips = [
        ("typing error", wrong, wanted)
        for category, right, wanted in written
        if category not in {"identifier", "number"} and (wrong := slipped(right, text))
    ]
    rows = [*((category, query, wanted) for category, query, wanted in written), *slips]
    made: list[Query] = []
    seen: dict[str, int] = {}
    for category, query, wanted in rows:
        seen[category] = seen.get(category, 0) + 1
        made.append(Query(category, query, frozenset(wanted.split(",")), seen[category] % 2 == 0))
    return [*made, *_decomposed(made)]


def _decomposed(made: list[Query]) -> Iterator[Query]:
    for query in made:
        text = unicodedata.normalize("NFD", query.text)
        if text != query.text:
            yield Query("NFD input", text, query.wanted, query.held_out)


def _memories() -> Iterator[SearchDocument]:
    for line in (DATA / "memories.tsv").read_text("utf-8").splitlines():
        item_id, text = line.split("\t")
        yield SearchDocument(
            tenant_id=TENANT,
            kind=Kind.MEMORY,
            item_id=item_id,
            agent_id=AGENT,
            name=text if len(text) <= 60 else text[:59] + "…",
            content=text,
        )


def _rules() -> Iterator[SearchDocument]:
    for line in (DATA / "rules.jsonl").read_text("utf-8").splitlines():
        rule = json.loads(line)
        ins = [*dict.fromkeys(name for row in rule["rows"] for name in row["if"])]
        outs = [*dict.fromkeys(name for row in rule["rows"] for name in row["then"])]
        rows = tuple(
            DecisionRow(
                id=f"r{number}",
                inputs=tuple(row["if"].get(name, "-") for name in ins),
                outputs=tuple(row["then"].get(name, "null") for name in outs),
                annotation=row["note"],
            )
            for number, row in enumerate(rule["rows"])
        )
        table = DecisionTable(
            name=rule["name"],
            inputs=tuple(InputColumn(name=name) for name in ins),
            outputs=tuple(OutputColumn(name=name) for name in outs),
            rows=rows,
        )
        yield SearchDocument(
            tenant_id=TENANT,
            kind=Kind.DMN_RULE,
            item_id=rule["id"],
            agent_id=AGENT,
            name=rule["name"],
            content=search_text(table),
        )


def _skills() -> Iterator[SearchDocument]:
    for line in (DATA / "skills.jsonl").read_text("utf-8").splitlines():
        skill = json.loads(line)
        head = f"---\nname: {skill['name']}\ndescription: {skill['description']}\n---\n\n"
        files = {SKILL_MD: SkillFile(data=(head + skill["body"]).encode())}
        files |= {path: SkillFile(data=b"x") for path in skill["files"]}
        summary = SkillSummary(
            name=skill["name"], description=skill["description"], file_count=len(files)
        )
        yield skill_search_document(Bundle(name=skill["name"], files=files), summary, TENANT)
