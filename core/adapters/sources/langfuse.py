"""Feedback from Langfuse: comments of people, and what they write with scores and corrections."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from urllib.parse import quote

from pydantic import BaseModel, Field, JsonValue, SecretStr

from core.adapters.sources.annotations import (
    FAILED,
    About,
    AnnotationSource,
    JsonApi,
    Said,
    Section,
    open_api,
    read,
    read_section,
)
from core.domain.models import Outcome
from core.domain.ports import Deliveries, FeedbackSource

NAME = "langfuse"
TOLD = "skill-worker"  # the name of the scores by which it is told how a piece ended
PAGE = 100
_SCORES, _COMMENTS = "/api/public/v3/scores", "/api/public/comments"
_WORDS = frozenset({"TEXT", "CORRECTION"})  # data types whose value is what a person wrote


class LangfuseSection(Section):
    """The section `langfuse`. `scores` are whose scores count: those that people give in Langfuse
    (`ANNOTATION`), and, where a program sends what users say, `API`."""

    url: str = "https://cloud.langfuse.com"
    public_key: str = Field(min_length=1)
    secret_key: SecretStr = Field(min_length=1)
    scores: tuple[str, ...] = ("ANNOTATION",)


class _Subject(BaseModel):
    kind: str = ""
    id: str = ""
    traceId: str | None = None  # noqa: N815 - of an observation; names are Langfuse's


class _Score(BaseModel):
    id: str
    name: str
    dataType: str = ""  # noqa: N815
    value: JsonValue = None
    comment: str | None = None
    timestamp: datetime
    subject: _Subject | None = None
    authorUserId: str | None = None  # noqa: N815


class _ScoreMeta(BaseModel):
    cursor: str | None = None


class _Scores(BaseModel):
    data: tuple[_Score, ...]
    meta: _ScoreMeta = _ScoreMeta()


class _Comment(BaseModel):
    id: str
    createdAt: datetime  # noqa: N815
    updatedAt: datetime  # noqa: N815
    objectType: str  # noqa: N815
    objectId: str  # noqa: N815
    content: str
    authorUserId: str | None = None  # noqa: N815


class _CommentMeta(BaseModel):
    totalPages: int = 1  # noqa: N815


class _Comments(BaseModel):
    data: tuple[_Comment, ...]
    meta: _CommentMeta = _CommentMeta()


class _Trace(BaseModel):
    name: str | None = None
    output: JsonValue = None
    sessionId: str | None = None  # noqa: N815


@asynccontextmanager
async def open_source(
    given: Mapping[str, JsonValue], known: Deliveries
) -> AsyncIterator[FeedbackSource]:
    """Open the source with the section `langfuse`. Raises ConfigurationError."""
    section = read_section(LangfuseSection, NAME, given)
    keys = section.public_key, section.secret_key.get_secret_value()
    async with open_api(section.url, auth=keys) as api:
        yield AnnotationSource(NAME, Langfuse(api, section.scores), section, known)


class Langfuse:
    """The `Platform` over its public API."""

    def __init__(self, api: JsonApi, scores: Sequence[str]) -> None:
        self._api, self._scores = api, scores

    async def said(self, since: datetime) -> Sequence[Said]:
        """Return comments on traces, and scores with words, since a time."""
        scores = [said for score in await self._all_scores(since) if (said := _of_score(score))]
        comments = [
            Said(
                id=f"comment:{comment.id}",
                about=comment.objectId,
                content=comment.content,
                said_at=comment.createdAt,
                author=comment.authorUserId,
            )
            for comment in await self._all_comments()
            if comment.objectType == "TRACE" and comment.updatedAt >= since
        ]
        return [*scores, *(comment for comment in comments if comment.content.strip())]

    async def about(self, trace_id: str) -> About:
        """Return what a trace is about."""
        path = f"/api/public/traces/{quote(trace_id, safe='')}"
        found = await self._api.get(path)
        if found is None:
            return About()
        trace = read(_Trace, found, path)
        return About(task=trace.name or "", output=trace.output, thread=trace.sessionId)

    async def tell(self, said_id: str, outcome: Outcome) -> None:
        """Put a score on the trace, under an id of its own, so that it is there once."""
        trace_id = await self._trace_of(said_id)
        if trace_id is None:
            return
        score: dict[str, JsonValue] = {
            "id": f"{TOLD}:{said_id}",
            "traceId": trace_id,
            "name": TOLD,
            "value": "failed" if outcome.status in FAILED else "done",
            "dataType": "CATEGORICAL",
            "comment": "; masked: ".join(filter(None, (outcome.status, ", ".join(outcome.masked)))),
        }
        await self._api.post("/api/public/scores", score)

    async def ping(self) -> None:
        """Ask for one score."""
        read(_Scores, await self._api.get(_SCORES, {"limit": "1"}), _SCORES)

    async def _trace_of(self, said_id: str) -> str | None:
        kind, _, own_id = said_id.partition(":")
        if kind == "comment":
            path = f"{_COMMENTS}/{quote(own_id, safe='')}"
            found = await self._api.get(path)
            return None if found is None else read(_Comment, found, path).objectId
        asked = {"id": own_id, "fields": "subject", "limit": "1"}
        scores = read(_Scores, await self._api.get(_SCORES, asked), _SCORES)
        return next((_trace(score.subject) for score in scores.data), None)

    async def _all_scores(self, since: datetime) -> Sequence[_Score]:
        asked = {
            "source": ",".join(self._scores),
            "fields": "details,subject,annotation",
            "fromTimestamp": since.isoformat(),
            "limit": str(PAGE),
        }
        found: list[_Score] = []
        while True:
            page = read(_Scores, await self._api.get(_SCORES, asked), _SCORES)
            found += page.data
            if page.meta.cursor is None:
                return found
            asked["cursor"] = page.meta.cursor

    async def _all_comments(self) -> Sequence[_Comment]:
        found: list[_Comment] = []
        number = 1
        while True:
            asked = {"page": str(number), "limit": str(PAGE)}
            page = read(_Comments, await self._api.get(_COMMENTS, asked), _COMMENTS)
            found += page.data
            if number >= page.meta.totalPages:
                return found
            number += 1


def _of_score(score: _Score) -> Said | None:
    """Return what a person wrote with a score; None if it is a number and no more, or ours."""
    trace_id = _trace(score.subject)
    words = str(score.value or "") if score.dataType in _WORDS else ""
    content = "\n".join(text for text in (words, score.comment or "") if text.strip())
    if score.name == TOLD or trace_id is None or not content:
        return None
    if not words and score.value is not None:
        content = f"{score.name}: {score.value}\n{content}"
    return Said(
        id=f"score:{score.id}",
        about=trace_id,
        content=content,
        said_at=score.timestamp,
        author=score.authorUserId,
    )


def _trace(subject: _Subject | None) -> str | None:
    if subject is None:
        return None
    return subject.id if subject.kind == "trace" else subject.traceId
