"""Feedback from LangSmith: what people write with scores, and their corrections."""

from __future__ import annotations

import uuid
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
from core.domain.text import compact

NAME = "langsmith"
TOLD = "skill-worker"  # the key of the feedback by which it is told how a piece ended
PAGE = 100
_FEEDBACK = "/api/v1/feedback"
_THREADS = ("thread_id", "session_id", "conversation_id")  # as LangSmith groups threads


class LangSmithSection(Section):
    """The section `langsmith`.

    `projects` are ids of tracing projects, all without; `sources` are whose feedback counts: that
    of people in LangSmith (`app`), and, where a program sends what users say, `api`.
    """

    url: str = "https://api.smith.langchain.com"
    api_key: SecretStr = Field(min_length=1)
    projects: tuple[str, ...] = ()
    sources: tuple[str, ...] = ("app",)


class _Source(BaseModel):
    type: str | None = None
    user_id: str | None = None
    user_name: str | None = None


class _Feedback(BaseModel):
    id: str
    created_at: datetime
    modified_at: datetime | None = None
    run_id: str | None = None
    key: str
    score: JsonValue = None
    value: JsonValue = None
    comment: str | None = None
    correction: JsonValue = None
    feedback_source: _Source | None = None


class _Page(BaseModel):
    items: tuple[_Feedback, ...]


class _Extra(BaseModel):
    metadata: Mapping[str, JsonValue] | None = None


class _Run(BaseModel):
    name: str = ""
    outputs: JsonValue = None
    extra: _Extra | None = None


@asynccontextmanager
async def open_source(
    given: Mapping[str, JsonValue], known: Deliveries
) -> AsyncIterator[FeedbackSource]:
    """Open the source with the section `langsmith`. Raises ConfigurationError."""
    section = read_section(LangSmithSection, NAME, given)
    headers = {"x-api-key": section.api_key.get_secret_value()}
    async with open_api(section.url, headers=headers) as api:
        yield AnnotationSource(NAME, LangSmith(api, section), section, known)


class LangSmith:
    """The `Platform` over its API."""

    def __init__(self, api: JsonApi, section: LangSmithSection) -> None:
        self._api = api
        self._asked: dict[str, str | list[str]] = {
            "source": [*section.sources],
            "session": [*section.projects],
        }

    async def said(self, since: datetime) -> Sequence[Said]:
        """Return feedback with words since a time."""
        found: list[Said] = []
        offset = 0
        while True:
            asked = {**self._asked, "limit": str(PAGE), "offset": str(offset)}
            answer = await self._api.get(_FEEDBACK, asked)
            items = read(_Page, {"items": answer or ()}, _FEEDBACK).items
            recent = [one for one in items if (one.modified_at or one.created_at) >= since]
            found += [said for one in recent if (said := _said(one))]
            if len(items) < PAGE:
                return found
            offset += len(items)

    async def about(self, trace_id: str) -> About:
        """Return what a run is about."""
        path = f"/api/v1/runs/{quote(trace_id, safe='')}"
        found = await self._api.get(path)
        if found is None:
            return About()
        run = read(_Run, found, path)
        metadata = (run.extra and run.extra.metadata) or {}
        thread = next((str(metadata[key]) for key in _THREADS if metadata.get(key)), None)
        return About(task=run.name, output=run.outputs, thread=thread)

    async def tell(self, said_id: str, outcome: Outcome) -> None:
        """Put feedback on the run, under an id of its own, so that it is there once."""
        path = f"{_FEEDBACK}/{quote(said_id, safe='')}"
        found = await self._api.get(path)
        run_id = None if found is None else read(_Feedback, found, path).run_id
        if run_id is None:
            return
        own = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{TOLD}:{said_id}"))
        score = 0 if outcome.status in FAILED else 1
        told: dict[str, JsonValue] = {"score": score, "value": outcome.status}
        if outcome.masked:
            told["comment"] = f"masked: {', '.join(outcome.masked)}"
        if await self._api.get(f"{_FEEDBACK}/{own}") is not None:
            await self._api.patch(f"{_FEEDBACK}/{own}", told)
            return
        whose: dict[str, JsonValue] = {"id": own, "run_id": run_id, "key": TOLD}
        await self._api.post(_FEEDBACK, {**whose, **told, "feedback_source": {"type": "api"}})

    async def ping(self) -> None:
        """Ask for one piece of feedback."""
        asked = {**self._asked, "limit": "1"}
        read(_Page, {"items": await self._api.get(_FEEDBACK, asked) or ()}, _FEEDBACK)


def _said(one: _Feedback) -> Said | None:
    """Return what a person wrote; None if it is a score and no more, or ours."""
    correction = one.correction
    words = correction if isinstance(correction, str | None) else compact(correction)
    content = "\n".join(text for text in (one.comment, words) if text and text.strip())
    if one.key == TOLD or one.run_id is None or not content:
        return None
    mark = one.score if one.value is None else one.value
    if mark is not None:
        content = f"{one.key}: {mark if isinstance(mark, str) else compact(mark)}\n{content}"
    source = one.feedback_source or _Source()
    return Said(
        id=one.id,
        about=one.run_id,
        content=content,
        said_at=one.created_at,
        author=source.user_name or source.user_id,
    )
