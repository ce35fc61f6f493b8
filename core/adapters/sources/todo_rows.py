"""Rows of the platform's `todolist`, parsed: what was said, and for which agents (pure)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from pydantic import JsonValue

from core.domain.errors import InvalidInput
from core.domain.input_formats.json_text import parse_json
from core.domain.input_formats.text import (
    MAX_NAME_CHARS,
    is_blank,
    json_problem,
    name_problem,
    text_problem,
)
from core.domain.messages import Message
from core.domain.models.base import Model
from core.domain.text import compact, shorten

DIGEST_CHARS = 32
OUTPUT_CHARS = 10_000
BEGINNING = datetime.min.replace(tzinfo=UTC)
# What begins so is JSON, even if cut off; other brackets may be a user's own.
_JSON_BEGINS = re.compile(r'\s*(\[\s*)?\{\s*"')


class Item(Model):
    """One thing that was said on a row. `id` is derived from the row's id and the content.

    `answers` is the id of the item before it.
    """

    id: str
    content: str
    author: str | None
    at: datetime
    answers: str | None = None

    @property
    def said_at(self) -> datetime | None:
        """When it was said; None if neither its row nor an item before it has a time."""
        return None if self.at == BEGINNING else self.at


class TodoRow(Model):
    """One row: its items, oldest first, and what could not be parsed.

    `agent_ids` are those of `user_id`, `assignee_ids` those of `assignees`; `output` is what the
    items are about, as text if it is long.
    """

    id: str
    tenant_id: str = ""
    task: str = ""
    output: JsonValue = None
    items: tuple[Item, ...] = ()
    agent_ids: tuple[str, ...] = ()
    assignee_ids: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def read_row(value: JsonValue) -> TodoRow | None:
    """Parse a row; None if it has no id, since nothing could be reported about it."""
    if not isinstance(value, dict) or not isinstance(value.get("id"), str | int):
        return None
    row_id = str(value["id"])
    if name_problem(row_id) or text_problem(row_id):
        return None
    tenant_id, description = value.get("tenant_id"), value.get("description")
    agent_ids = _comma_list(value.get("user_id"))
    assignee_ids = _assignee_ids(value.get("assignees"))
    problem = _row_problem(tenant_id, [*agent_ids, *assignee_ids])
    if problem:
        return TodoRow(id=row_id, problems=(problem,))
    items, problems = _read_items(row_id, value.get("feedback"))
    return TodoRow(
        id=row_id,
        tenant_id=str(tenant_id),
        task=description if isinstance(description, str) and not text_problem(description) else "",
        output=_output(value.get("output")),
        items=tuple(_chained(items)),
        agent_ids=tuple(agent_ids),
        assignee_ids=tuple(assignee_ids),
        problems=tuple(problems),
    )


def _output(value: JsonValue) -> JsonValue:
    """Return a row's output, cut where it is long: it helps to understand, no more."""
    if json_problem(value):
        return None
    text = compact(value)
    return value if len(text) <= OUTPUT_CHARS else shorten(text, OUTPUT_CHARS)


def _chained(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items with what each answers; one without a time is said when the next one is."""
    timed = next((item.at for item in items if item.said_at), BEGINNING)
    before: str | None = None
    for item in items:
        yield item.model_copy(update={"at": max(item.at, timed), "answers": before})
        before = item.id


def row_id_of(source_id: str) -> str:
    """Return the id of the row that a piece belongs to."""
    return source_id.rpartition("/")[0]


def _row_problem(tenant_id: JsonValue, agent_ids: Sequence[str]) -> str | None:
    if not isinstance(tenant_id, str):
        return Message("row.no_tenant")
    if problem := name_problem(tenant_id) or text_problem(tenant_id):
        return Message("row.tenant", why=problem)
    return None if agent_ids else Message("row.no_agent")


def _read_items(row_id: str, feedback: JsonValue) -> tuple[list[Item], list[str]]:
    items: dict[str, Item] = {}
    problems: list[str] = []
    at = BEGINNING
    try:
        entries = list(_entries(feedback))
    except InvalidInput as error:
        return [], [Message("row.like_json", why=error.message)]
    for number, entry in enumerate(entries, start=1):
        try:
            item = _item(row_id, entry, at)
        except InvalidInput as error:
            problems.append(Message("row.item", n=number, why=error.message))
            continue
        if item is not None:
            at = item.at
            items.setdefault(item.id, item)
    return sorted(items.values(), key=lambda item: item.at), problems


def _entries(feedback: JsonValue) -> Iterator[JsonValue]:
    """Yield the entries of an array, of JSON text, or the single entry. Raises InvalidInput."""
    value = _parsed(feedback) if isinstance(feedback, str) else feedback
    if isinstance(value, list):
        for entry in value:
            yield from _entries(entry)
    elif value not in (None, {}):
        yield value


def _parsed(text: str) -> JsonValue:
    """Parse text that is a JSON array or object; any other text is what a user said."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return parse_json(text)
    except InvalidInput:
        if _JSON_BEGINS.match(text):
            raise
        return text


def _item(row_id: str, entry: JsonValue, before: datetime) -> Item | None:
    """Parse an entry, None if it is blank; without a time it follows the one `before`.

    Raises InvalidInput.
    """
    fields = entry if isinstance(entry, dict) else {"content": entry}
    content, time, author = (fields.get(name) for name in ("content", "time", "user_id"))
    if content is None and "content" in fields:
        return None
    if not isinstance(content, str):
        raise InvalidInput(Message("row.no_text"))
    if problem := text_problem(content):
        raise InvalidInput(problem)
    if is_blank(content):
        return None
    return Item(
        id=f"{row_id}/{_digest(content, time, author)}",
        content=content,
        author=_author(author),
        at=_moment(time) or before,
    )


def _digest(content: str, time: JsonValue, author: JsonValue) -> str:
    canonical = json.dumps([content, time, author], sort_keys=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:DIGEST_CHARS]


def _author(author: JsonValue) -> str | None:
    if not isinstance(author, str) or is_blank(author) or text_problem(author):
        return None
    return author[:MAX_NAME_CHARS]


def _moment(time: JsonValue) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(time))
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _comma_list(value: JsonValue) -> list[str]:
    return _ids(value.split(",")) if isinstance(value, str) else []


def _assignee_ids(value: JsonValue) -> list[str]:
    """Return the ids in `[].endpoint[]`, where an endpoint may be one id or a list of them."""
    try:
        parsed = parse_json(value) if isinstance(value, str) else value
    except InvalidInput:
        return []
    assignees = parsed if isinstance(parsed, list) else [parsed]
    found: list[JsonValue] = []
    for assignee in assignees:
        endpoint = assignee.get("endpoint") if isinstance(assignee, dict) else None
        found.extend(endpoint if isinstance(endpoint, list) else [endpoint])
    return _ids(part for text in found if isinstance(text, str) for part in text.split(","))


def _ids(texts: Iterator[str] | Sequence[str]) -> list[str]:
    stripped = (text.strip() for text in texts)
    good = (text for text in stripped if not (name_problem(text) or text_problem(text)))
    return list(dict.fromkeys(good))
