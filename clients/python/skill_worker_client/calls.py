"""Calls as data, and their answers read: what sending at once and awaiting have in common."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Generic, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, JsonValue, ValidationError

from skill_worker_client.errors import (
    CallFailed,
    CallRefused,
    NotAllowed,
    SkillWorkerError,
    Unknown,
    Unreachable,
)
from skill_worker_client.models import (
    Context,
    Decision,
    Memories,
    OutcomeTaken,
    SkillFile,
    TakenFeedback,
    UsedItem,
)

A = TypeVar("A", bound=BaseModel)
Json = dict[str, JsonValue]
LONGEST_WAIT = 5.0  # seconds; told to come later than that, a call fails at once
_LATER = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
_NOT_ALLOWED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


@dataclass(frozen=True)
class Call(Generic[A]):
    """One call. Its key makes it safe to send again, also if an answer got lost."""

    path: str
    body: Mapping[str, JsonValue]
    answer: type[A]
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of this call alone."""
        return {"Idempotency-Key": self.key, "Content-Type": "application/json"}

    @property
    def content(self) -> bytes:
        """What is sent. Raises CallRefused for what JSON cannot hold, as half a character."""
        try:
            return json.dumps(dict(self.body), ensure_ascii=False, allow_nan=False).encode()
        except ValueError as error:
            raise CallRefused(f"{self.path}: this cannot be sent as JSON: {error}") from error


@dataclass(frozen=True)
class Caller:
    """In whose name calls are made: an agent's own token needs neither."""

    agent: str | None = None
    tenant_id: str | None = None

    def context(self, task: str, budget_tokens: int, user: str | None) -> Call[Context]:
        """Return the call for a task's context."""
        given: Json = {"task": task, "budget_tokens": budget_tokens, "user": user}
        return Call("/v1/context", self._body(given), Context)

    def search(self, query: str, limit: int, user: str | None) -> Call[Memories]:
        """Return the call for memories."""
        given: Json = {"query": query, "limit": limit, "user": user}
        return Call("/v1/memories/search", self._body(given), Memories)

    def decision(self, name: str, inputs: Mapping[str, JsonValue]) -> Call[Decision]:
        """Return the call for a decision."""
        path = f"/v1/decisions/{quote(name, safe='')}/evaluate"
        return Call(path, self._body({"inputs": dict(inputs)}), Decision)

    def skill(self, name: str, path: str | None) -> Call[SkillFile]:
        """Return the call for a file of a skill."""
        return Call("/v1/skills/load", self._body({"name": name, "path": path}), SkillFile)

    def outcome(
        self, used: Sequence[UsedItem], success: bool, note: str | None
    ) -> Call[OutcomeTaken]:
        """Return the call for an outcome."""
        items: list[JsonValue] = [
            {"id": item.id, **({} if item.version is None else {"version": item.version})}
            for item in used
        ]
        given: Json = {"used": items, "success": success, "note": note}
        return Call("/v1/outcomes", self._body(given), OutcomeTaken)

    def feedback(
        self,
        text: str,
        about: str | None,
        author: str | None,
        output: JsonValue,
        thread: str | None,
    ) -> Call[TakenFeedback]:
        """Return the call for feedback. Raises ValueError if it is nobody's."""
        if self.agent is None:
            raise ValueError("feedback is about an agent: say which, as SkillWorker(agent=...)")
        given: Json = {
            "agent_ids": [self.agent],
            "content": text,
            "task": about,
            "author": author,
            "output": output,
            "thread": thread,
            "tenant_id": self.tenant_id,
        }
        return Call("/v1/feedback", _said(given), TakenFeedback)

    def _body(self, given: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        return _said({**given, "agent": self.agent, "tenant_id": self.tenant_id})


def _said(given: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    return {name: value for name, value in given.items() if value is not None}


def seconds_to_wait(response: httpx.Response, attempt: int) -> float | None:
    """Return after how many seconds a call is sent again; None if it is not."""
    told = response.headers.get("Retry-After", "")
    is_begun = response.status_code == HTTPStatus.CONFLICT and told  # the same call, sent before
    if response.status_code not in _LATER and not is_begun:
        return None
    wait = float(told) if told.isdecimal() else pause(attempt)
    return wait if wait <= LONGEST_WAIT else None


def sendable(token: str) -> str:
    """Return a token as it is sent. Raises ValueError, which does not quote it, if it is none."""
    token = token.strip()
    if not token or not all("!" <= char <= "~" for char in token):
        raise ValueError(
            "the token is empty, or has characters that no token has:"
            " copy what `skill-worker tokens add` printed"
        )
    return token


def unanswered(call: Call[A], base: httpx.URL, error: httpx.TransportError) -> Unreachable:
    """Return the error of a call that got no answer, with the host that was asked."""
    why = str(error) or type(error).__name__
    return Unreachable(f"{base.netloc.decode()}{call.path}: {why}")


def pause(attempt: int) -> float:
    """Return the seconds before the next attempt, from 0.1 on, doubled each time."""
    return float(0.1 * 2**attempt)


def read(call: Call[A], response: httpx.Response) -> A:
    """Return the answer of a call. Raises SkillWorkerError."""
    if not response.is_success:
        raise _error(response)
    try:
        return call.answer.model_validate_json(response.content)
    except ValidationError as error:
        message = f"the answer of {call.path} is not a worker's: {error}"
        raise CallFailed(message, status=response.status_code) from error


def _error(response: httpx.Response) -> SkillWorkerError:
    """Return the error of a failed call, in the worker's words (RFC 9457) where they are its."""
    status = response.status_code
    try:
        told = response.json()
    except ValueError:
        told = None
    detail, hint = f"HTTP {status} of {response.url.host}", ""
    if isinstance(told, dict):
        detail, hint = str(told.get("detail") or detail), str(told.get("hint") or "")
    if status in _NOT_ALLOWED:
        return NotAllowed(detail, status=status, hint=hint)
    if status == HTTPStatus.NOT_FOUND:
        return Unknown(detail, status=status, hint=hint)
    if status in _LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return CallFailed(detail, status=status, hint=hint)
    return CallRefused(detail, status=status, hint=hint)
