"""What people say beside traces, as feedback: what sources of that kind have in common."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

import httpx
from pydantic import BaseModel, Field, JsonValue, TypeAdapter, ValidationError

from core.domain.errors import ConfigurationError, SourceDown
from core.domain.hashing import text_hash
from core.domain.http_origin import is_loopback, verification
from core.domain.http_retry import passes, retry_after
from core.domain.input_formats.text import explain
from core.domain.messages import Message
from core.domain.models import FeedbackStatus, Fetched, NewFeedback, Outcome
from core.domain.models.base import Model
from core.domain.ports import Deliveries
from core.domain.text import one_line

CONNECT_SECONDS = 10.0
CALL_SECONDS = 30.0
# What is written now may show up later: platforms take minutes to index it.
OVERLAP = timedelta(minutes=30)
FAILED = frozenset({FeedbackStatus.FAILED, FeedbackStatus.DEAD})
_MARK_CHARS = 12
_JSON = TypeAdapter[dict[str, JsonValue] | list[JsonValue]](dict[str, JsonValue] | list[JsonValue])


class Section(Model):
    """What every section of the kind has: whose feedback it is, and from when on it counts.

    `tells`: whether the platform is told how each piece ended. `poll_seconds`: how long it is not
    asked again once there was nothing new; platforms limit how often they may be.
    """

    tenant: str = Field(min_length=1)
    agents: tuple[str, ...] = Field(min_length=1)
    poll_seconds: float = Field(default=60, ge=0, le=86_400)
    since_days: float = Field(default=30, gt=0, le=3650)
    tells: bool = True


class Said(Model):
    """Something a person has written about a trace or a run (`about`); `id` is the platform's."""

    id: str
    about: str
    content: str
    said_at: datetime
    author: str | None = None


class About(Model):
    """What it is about: what was asked, what came out, and the conversation it belongs to."""

    task: str = ""
    output: JsonValue = None
    thread: str | None = None


class Platform(Protocol):
    """A platform with traces on which people leave words."""

    async def said(self, since: datetime) -> Sequence[Said]:
        """Return what people have said since then."""

    async def about(self, trace_id: str) -> About:
        """Return what a trace is about; nothing if it is gone."""

    async def tell(self, said_id: str, outcome: Outcome) -> None:
        """Note on the trace how a piece ended, and what was masked. Idempotent; gone is fine."""

    async def ping(self) -> None:
        """Check that it answers."""


class AnnotationSource:
    """The `FeedbackSource` port over such a platform."""

    def __init__(
        self,
        name: str,
        platform: Platform,
        section: Section,
        known: Deliveries,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.name = name
        self._platform, self._section, self._known, self._now = platform, section, known, now
        self._whole_until: datetime | None = None  # all that was said before is stored
        self._asked_at: datetime | None = None  # and then nothing was new

    async def fetch(self, limit: int) -> Fetched:
        """Return what is not stored yet, oldest first."""
        begun = self._now()
        if self._asked_at and begun - self._asked_at < timedelta(
            seconds=self._section.poll_seconds
        ):
            return Fetched()
        since = self._whole_until or begun - timedelta(days=self._section.since_days)
        said = sorted(await self._platform.said(since), key=lambda one: (one.said_at, one.id))
        ids = {_piece_id(one): one for one in said}
        stored = await self._known.known(self.name, list(ids))
        new = {piece: one for piece, one in ids.items() if piece not in stored}
        if not new:
            self._whole_until, self._asked_at = begun - OVERLAP, begun
        pieces = [await self._piece(piece, one) for piece, one in list(new.items())[:limit]]
        return Fetched(pieces=tuple(pieces))

    async def accept(self, pieces: Sequence[NewFeedback]) -> None:
        """Do nothing: what is stored is asked for."""

    async def acknowledge(self, source_id: str, outcome: Outcome) -> None:
        """Tell the platform how a piece ended."""
        said_id = source_id.rpartition(":")[0]
        if self._section.tells and said_id:
            await self._platform.tell(said_id, outcome)

    async def ping(self) -> None:
        """Check that the platform answers."""
        await self._platform.ping()

    async def _piece(self, piece_id: str, said: Said) -> NewFeedback:
        about = await self._platform.about(said.about)
        return NewFeedback(
            id=piece_id,
            tenant_id=self._section.tenant,
            agent_ids=self._section.agents,
            content=said.content,
            author=said.author,
            said_at=said.said_at,
            **about.model_dump(),
        )


def _piece_id(said: Said) -> str:
    """Return an id that changes with the content, which the platform lets people edit."""
    return f"{said.id}:{text_hash(said.content)[:_MARK_CHARS]}"


_S = TypeVar("_S", bound=Section)
_B = TypeVar("_B", bound=BaseModel)


def read_section(model: type[_S], name: str, given: Mapping[str, JsonValue]) -> _S:
    """Return a section of the file. Raises ConfigurationError, naming the field."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        why = explain(error)
        raise ConfigurationError(Message("sources.section", name=name, why=why)) from None


class JsonApi:
    """Calls of one platform, with its failures as the program's errors."""

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self._url, self._http = url.rstrip("/"), http

    async def get(
        self, path: str, params: Mapping[str, str | list[str]] | None = None
    ) -> JsonValue:
        """Return what a path answers; None where there is nothing."""
        return await self._send("GET", path, params=dict(params or {}))

    async def post(self, path: str, data: Mapping[str, JsonValue]) -> JsonValue:
        """Send data; None where what it is about is gone."""
        return await self._send("POST", path, json=dict(data))

    async def patch(self, path: str, data: Mapping[str, JsonValue]) -> JsonValue:
        """Change what is there; None where it is gone."""
        return await self._send("PATCH", path, json=dict(data))

    async def _send(self, method: str, path: str, **more: Mapping[str, object]) -> JsonValue:
        where = f"{method} {self._url}{path}"
        try:
            async with asyncio.timeout(CALL_SECONDS):
                answer = await self._http.request(method, f"{self._url}{path}", **more)  # type: ignore[arg-type]
        except (httpx.HTTPError, TimeoutError) as error:
            why = str(error) or type(error).__name__
            raise SourceDown(Message("call.failed", where=where, why=why)) from error
        if answer.status_code == httpx.codes.NOT_FOUND:
            return None
        if not answer.is_success:
            raise _refusal(answer, where)
        try:
            return _JSON.validate_json(answer.content)
        except ValidationError:
            status = answer.status_code
            said = Message("call.answered", where=where, status=status, why=_excerpt(answer))
            raise SourceDown(said) from None


def _refusal(answer: httpx.Response, where: str) -> ConfigurationError | SourceDown:
    said = Message("call.answered", where=where, status=answer.status_code, why=_excerpt(answer))
    if passes(answer.status_code):
        return SourceDown(said, retry_after=retry_after(answer.headers))
    return ConfigurationError(said, hint=Message("sources.hint_section"))


def _excerpt(answer: httpx.Response) -> str:
    return one_line(answer.content[:400].decode("utf-8", "replace"))[:160] or "nothing"


@asynccontextmanager
async def open_api(
    url: str, *, auth: tuple[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> AsyncIterator[JsonApi]:
    """Open a connection pool to a platform. Raises ConfigurationError for a malformed URL."""
    try:
        direct = is_loopback(httpx.URL(url).host)
    except httpx.InvalidURL as error:
        raise ConfigurationError(Message("sources.url", url=url, why=error)) from error
    async with httpx.AsyncClient(
        auth=auth,
        headers=dict(headers or {}),
        trust_env=not direct,
        timeout=httpx.Timeout(CALL_SECONDS, connect=CONNECT_SECONDS),
        verify=verification(url),
    ) as http:
        yield JsonApi(url, http)


def read(model: type[_B], data: object, where: str) -> _B:
    """Return an answer as a model. Raises SourceDown if it is none."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        why = explain(error)
        raise SourceDown(Message("sources.answer", where=where, why=why)) from None
