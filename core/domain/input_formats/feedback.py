"""Feedback from JSONL files: parsed line by line and validated before it is stored."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping

from pydantic import JsonValue, ValidationError

from core.domain.errors import InvalidInput
from core.domain.input_formats.json_text import parse_json
from core.domain.input_formats.text import (
    explain,
    is_blank,
    json_problem,
    length_problem,
    name_problem,
    of_field,
)
from core.domain.messages import Message
from core.domain.models import NewFeedback
from core.domain.models.base import Model, Text
from core.domain.models.feedback import is_reserved
from core.domain.text import compact


def feedback_digest(piece: NewFeedback) -> str:
    """Return the SHA-256 (hex) of what was said: it reveals an id reused for other content.

    When it was said and what it is about may be given later or otherwise, as a platform's row does.
    """
    aside = {"id", "said_at", "in_reply_to", "thread", "output", "masked", "roles"}
    content = piece.model_dump(exclude=aside)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()


_BOM = b"\xef\xbb\xbf"


class Line(Model):
    """A line that contains feedback; `size` is its length in bytes."""

    number: int
    size: int
    piece: NewFeedback


class Problem(Model):
    """A line that was rejected, and why."""

    line: int
    reason: Text
    size: int = 0


def read_lines(lines: Iterable[bytes], max_chars: int) -> Iterator[Line | Problem]:
    """Parse JSONL; each non-blank line yields a piece or a problem. Lines count from 1."""
    for number, raw in enumerate(lines, start=1):
        data = raw.removeprefix(_BOM) if number == 1 else raw
        if not data.strip():
            continue
        try:
            piece = checked(_parse(data), max_chars)
        except InvalidInput as error:
            yield Problem(line=number, reason=error.message, size=len(raw))
        else:
            yield Line(number=number, piece=piece, size=len(raw))


def checked(entry: object, max_chars: int) -> NewFeedback:
    """Build feedback from one entry; ids are normalised to NFC, the content stays verbatim.

    Raises InvalidInput.
    """
    if not isinstance(entry, Mapping):
        raise InvalidInput(Message("json.no_object"))
    try:
        piece = NewFeedback.model_validate(entry)
    except ValidationError as error:
        raise InvalidInput(explain(error)) from None
    reason = _problem(piece, max_chars)
    if reason:
        raise InvalidInput(reason)
    return piece.model_copy(
        update={
            "id": None if piece.id is None else _nfc(piece.id),
            "tenant_id": _nfc(piece.tenant_id),
            "in_reply_to": None if piece.in_reply_to is None else _nfc(piece.in_reply_to),
            "thread": None if piece.thread is None else _nfc(piece.thread),
            "agent_ids": tuple(dict.fromkeys(map(_nfc, piece.agent_ids))),
        }
    )


def agent_problem(piece: NewFeedback, tenants: Mapping[str, Collection[str]]) -> str | None:
    """Return which agent of a piece is unknown or not the tenant's, or None.

    `tenants` are those that have an agent of an id.
    """
    for agent_id in piece.agent_ids:
        if is_reserved(agent_id):
            return Message("agent.reserved", id=agent_id)
        if agent_id not in tenants:
            return Message("no.agent", id=agent_id)
        if piece.tenant_id not in tenants[agent_id]:
            return Message("agents.not_of_tenant", agent=agent_id, tenant=piece.tenant_id)
    return None


def _parse(data: bytes) -> JsonValue:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(Message("input.not_utf8")) from None
    return parse_json(text)


def _problem(piece: NewFeedback, max_chars: int) -> str | None:
    if is_blank(piece.content):
        return Message("input.content_blank")
    if len(piece.content) > max_chars:
        return Message("input.content_long", n=len(piece.content), most=max_chars)
    if len(piece.task) > max_chars:
        return Message("input.task_long", n=len(piece.task), most=max_chars)
    if (chars := len(compact(piece.output))) > max_chars:
        return Message("input.output_long", n=chars, most=max_chars)
    if not piece.agent_ids or any(map(is_blank, piece.agent_ids)):
        return Message("input.no_agent")
    return next(_name_problems(piece), None) or next(_text_problems(piece), None)


def _name_problems(piece: NewFeedback) -> Iterator[str]:
    names = [("tenant_id", piece.tenant_id), *(("agent_ids", name) for name in piece.agent_ids)]
    ids = {"id": piece.id, "in_reply_to": piece.in_reply_to, "thread": piece.thread}
    names += [(field, name) for field, name in ids.items() if name is not None]
    found = [(field, name_problem(name)) for field, name in names]
    found.append(("author", length_problem(piece.author or "")))
    return (of_field(field, problem) for field, problem in found if problem)


def _text_problems(piece: NewFeedback) -> Iterator[str]:
    for name in NewFeedback.model_fields:
        problem = json_problem(getattr(piece, name))
        if problem:
            yield of_field(name, problem)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
