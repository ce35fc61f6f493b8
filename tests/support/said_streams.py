"""Random streams of feedback on a few targets, a model that obeys them, and what they come to."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import JsonValue

from core.agent.offline.model import AnsweringChatModel
from core.domain.errors import ModelDown
from core.domain.models import NewFeedback
from core.domain.text import read_fenced_json
from core.testing.scripted_model import calls, says

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
TENANT = "t"
FIRST_ROW = "k9"
# agent, kind and name of each target.
TARGETS = [
    ("a", "note", "N1"),
    ("a", "rows", "T2"),
    ("b", "note", "N3"),
    ("b", "table", "T4"),
    ("c", "note", "N5"),
    ("c", "rows", "T6"),
]
_OPS = {
    "note": {"set": 4, "add": 5, "drop": 1},
    "table": {"row": 10, "drop": 2},
    # Never dropped, and with a row from the beginning: to take out the only row of a table is to
    # delete the table, which says more than was meant.
    "rows": {"row": 10, "cut": 4},
}


@dataclass(frozen=True)
class Said:
    """One piece: what it asks for, of which target, and when it was said."""

    number: int
    agent: str
    kind: str
    name: str
    op: str
    key: str
    value: str
    answers: str | None = None

    @property
    def id(self) -> str:
        """The id that its source gives it."""
        return f"s-{self.number}-{self.name}"

    @property
    def said_at(self) -> datetime:
        """When it was said: some at the same time as the one before."""
        minutes = self.number - self.number % 7 % 2
        return BEGIN + timedelta(minutes=minutes)

    @property
    def text(self) -> str:
        """The words of the piece."""
        return f"{self.name} {self.op} {self.key} {self.value}"

    @property
    def piece(self) -> NewFeedback:
        """The piece as it comes in."""
        return NewFeedback(
            id=self.id,
            tenant_id=TENANT,
            agent_ids=(self.agent,),
            content=self.text,
            said_at=self.said_at,
            in_reply_to=self.answers,
        )


def stream(rng: random.Random, count: int) -> list[Said]:
    """Return pieces in the order in which they are said; some take back what they answer."""
    found = [
        Said(0, agent, kind, name, "row", FIRST_ROW, "v9")
        for agent, kind, name in TARGETS
        if kind == "rows"
    ]
    for number in range(1, count - len(found) + 1):
        agent, kind, name = rng.choice(TARGETS)
        (op,) = rng.choices([*_OPS[kind]], [*_OPS[kind].values()])
        key = f"k{rng.randrange(3)}" if op in {"row", "cut"} else ""
        value = f"v{rng.randrange(4)}" if op in {"row", "set"} else ""
        value = f"x{number}" if op == "add" else value
        last = next((said.id for said in reversed(found) if said.name == name), None)
        answers = last if op in {"drop", "cut"} else None
        found.append(Said(number, agent, kind, name, op, key, value, answers))
    return found


State = dict[str, list[str]]


def outcome(pieces: Sequence[Said]) -> State:
    """Return what is known once pieces were taken in the order in which they were said."""
    known: dict[str, dict[str, str]] = {}
    for said in pieces:
        if said.op == "drop":
            known.pop(said.name, None)
        elif said.op == "cut":
            known.get(said.name, {}).pop(said.key, None)
        elif said.op == "set":
            known[said.name] = {"": f"{said.name} set {said.value}"}
        elif said.op == "add":
            known.setdefault(said.name, {})[said.value] = f"{said.name} add {said.value}"
        else:
            known.setdefault(said.name, {})[said.key] = said.value
    return {name: _shown(parts) for name, parts in known.items() if parts}


def _shown(parts: dict[str, str]) -> list[str]:
    """Return a note's lines, as they are; a table's rows, whose order says nothing."""
    if any(key.startswith("k") for key in parts):
        return sorted(f"{key}={value}" for key, value in parts.items())
    return [*parts.values()]


class Obedient(AnsweringChatModel):
    """Does what a piece asks for with the item that it finds; now and then it is out of reach."""

    seed: int = 0
    fails: float = 0.0
    asked: int = 0
    failed: int = 0

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        self.asked += 1
        first = next(message for message in messages if isinstance(message, HumanMessage))
        data = read_fenced_json(first.text)
        assert isinstance(data, dict)
        is_first = _words(data)[2] == FIRST_ROW
        fails = random.Random(self.seed * 10_007 + self.asked).random() < self.fails
        if fails and not is_first:  # a table made without its first row could lose its only one
            self.failed += 1
            raise ModelDown("out of reach")
        last = messages[-1]
        done = [message for message in messages if isinstance(message, ToolMessage)]
        if isinstance(last, ToolMessage) and last.name != "search_similar_knowledge":
            if last.name == "get_knowledge_detail":
                return _call(len(done), *_asked_for(_words(data), json.loads(str(last.content))))
            if json.loads(str(last.content)).get("status") != "refused":
                return says("done")
        if not (isinstance(last, ToolMessage) and last.name == "search_similar_knowledge"):
            query: dict[str, JsonValue] = {"content": _words(data)[0], "limit": 20}
            return _call(len(done), "search_similar_knowledge", query)
        kind, item = _found(_words(data)[0], json.loads(str(last.content)))
        if item is None:
            return _call(len(done), *_asked_for(_words(data), None))
        detail: dict[str, JsonValue] = {"knowledge_type": kind, "knowledge_id": item}
        return _call(len(done), "get_knowledge_detail", detail)


def _call(number: int, name: str, arguments: dict[str, JsonValue]) -> AIMessage:
    message = calls((name, arguments))
    return message.model_copy(
        update={"tool_calls": [{**message.tool_calls[0], "id": f"c{number}"}]}
    )


def _words(data: dict[str, JsonValue]) -> list[str]:
    feedback = data["feedback"]
    assert isinstance(feedback, dict)
    return [*str(feedback["text"]).split(" "), "", ""]


def _found(name: str, hits: object) -> tuple[str, str | None]:
    entries = hits.get("hits", hits) if isinstance(hits, dict) else hits
    for hit in entries if isinstance(entries, list) else []:
        if re.match(rf"{name}\b", str(hit["name"])):
            return str(hit["kind"]), str(hit["id"])
    return "", None


def _asked_for(
    words: list[str], item: dict[str, JsonValue] | None
) -> tuple[str, dict[str, JsonValue]]:
    """Return the call that carries out a piece, given the item as it is."""
    name, op, key, value = words[0], words[1], words[2], words[3]
    if op in {"set", "add"}:
        return _memory(name, op, value, item)
    if op == "drop" and item is not None:
        is_rule = item["kind"] == "DMN_RULE"
        tool, argument = ("dmn_rule", "rule_id") if is_rule else ("memory", "memory_id")
        return f"commit_to_{tool}", {"operation": "DELETE", argument: item["id"], "reason": "gone"}
    if op == "row":
        return _row(name, key, value, item)
    rows = _rows(item)
    if op == "cut" and item is not None and key in rows:
        if len(rows) == 1:
            return "commit_to_dmn_rule", {
                "operation": "DELETE",
                "rule_id": item["id"],
                "reason": "the only row",
            }
        draft: dict[str, JsonValue] = {"remove_rows": [rows[key]]}
        return "commit_to_dmn_rule", _edit(item, draft, "REFINE")
    return "no_action", {"reason": "nothing of the kind", "category": "unclear"}


def _memory(
    name: str, op: str, value: str, item: dict[str, JsonValue] | None
) -> tuple[str, dict[str, JsonValue]]:
    content = f"{name} {op} {value}"
    if item is None:
        how = "SUPERSEDES" if op == "set" else "EXTENDS"  # the new item says which of the two
        return "commit_to_memory", {
            "operation": "CREATE",
            "content": content,
            "relationship": how,
            "reason": "new",
        }
    mode = "REPLACE" if op == "set" else "EXTEND"
    return "commit_to_memory", {
        "operation": "UPDATE",
        "memory_id": item["id"],
        "content": content,
        "merge_mode": mode,
        "reason": "told",
    }


def _row(
    name: str, key: str, value: str, item: dict[str, JsonValue] | None
) -> tuple[str, dict[str, JsonValue]]:
    row: dict[str, JsonValue] = {"inputs": {"case": f'"{key}"'}, "outputs": {"does": f'"{value}"'}}
    if item is None:
        rule: dict[str, JsonValue] = {
            "name": name,
            "inputs": [{"name": "case", "type": "string"}],
            "outputs": [{"name": "does", "type": "string"}],
            "rows": [row],
        }
        return "commit_to_dmn_rule", {"operation": "CREATE", "rule": rule, "reason": "new"}
    known = _rows(item).get(key)
    if known is None:
        return "commit_to_dmn_rule", _edit(item, {"rows": [row]}, "EXTEND")
    return "commit_to_dmn_rule", _edit(item, {"rows": [{**row, "id": known}]}, "REFINE")


def _edit(
    item: dict[str, JsonValue], rule: dict[str, JsonValue], mode: str
) -> dict[str, JsonValue]:
    return {
        "operation": "UPDATE",
        "rule_id": item["id"],
        "merge_mode": mode,
        "rule": rule,
        "reason": "told",
    }


def _rows(item: dict[str, JsonValue] | None) -> dict[str, str]:
    """Return the id of the row of each case."""
    table = item.get("table") if item else None
    rows = table["rows"] if isinstance(table, dict) else []
    assert isinstance(rows, list)
    return {str(row["inputs"][0]).strip('"'): str(row["id"]) for row in rows}  # type: ignore[index, call-overload]
