"""Feedback from Slack: replies of people in threads under an agent's messages, or marked ones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

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
from core.domain.errors import ConfigurationError, SourceDown
from core.domain.messages import Message
from core.domain.models import Outcome
from core.domain.ports import Deliveries, FeedbackSource

NAME = "slack"
Now = Callable[[], datetime]
PAGE = 200
# Errors of its API that pass; it answers them with 200, as all.
_PASSING = frozenset({"ratelimited", "internal_error", "service_unavailable", "fatal_error"})
_GONE = frozenset({"message_not_found", "thread_not_found"})


class SlackSection(Section):
    """The section `slack`.

    Of `channels` (ids), what people reply in threads under messages of `agent_users` (ids of bots
    or users) is feedback; with `mark`, the name of a reaction, what somebody marked by it, too.
    """

    url: str = "https://slack.com/api"
    token: SecretStr = Field(min_length=1)
    channels: tuple[str, ...] = Field(min_length=1)
    agent_users: tuple[str, ...] = ()
    mark: str | None = None
    done: str = "white_check_mark"
    failed: str = "x"
    masked: str = "see_no_evil"


class _Reaction(BaseModel):
    name: str


class _Posted(BaseModel):
    ts: str
    text: str = ""
    user: str | None = None
    bot_id: str | None = None
    subtype: str | None = None
    thread_ts: str | None = None
    reply_count: int = 0
    latest_reply: str | None = None
    reactions: tuple[_Reaction, ...] = ()


class _Next(BaseModel):
    next_cursor: str = ""


class _Page(BaseModel):
    messages: tuple[_Posted, ...] = ()
    response_metadata: _Next | None = None


@asynccontextmanager
async def open_source(
    given: Mapping[str, JsonValue], known: Deliveries
) -> AsyncIterator[FeedbackSource]:
    """Open the source with the section `slack`. Raises ConfigurationError."""
    section = read_section(SlackSection, NAME, given)
    headers = {"Authorization": f"Bearer {section.token.get_secret_value()}"}
    async with open_api(section.url, headers=headers) as api:
        yield AnnotationSource(NAME, Slack(api, section), section, known)


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class Slack:
    """The `Platform` over its Web API; ids are `channel/ts`."""

    def __init__(self, api: JsonApi, section: SlackSection, now: Now = utc_now) -> None:
        self._api, self._section, self._now = api, section, now

    async def said(self, since: datetime) -> Sequence[Said]:
        """Return what people have said in the channels since a time."""
        found: list[Said] = []
        for channel in self._section.channels:
            # A thread is as old as its first message, which may be older than what was said last.
            oldest = str((self._now() - timedelta(days=self._section.since_days)).timestamp())
            for message in await self._all("conversations.history", channel, oldest=oldest):
                found += await self._under(channel, message, since)
        return found

    async def about(self, trace_id: str) -> About:
        """Return the message that a thread is under, as what came out."""
        channel, _, ts = trace_id.partition("/")
        page = await self._call("conversations.replies", channel=channel, ts=ts, limit="1")
        first = next(iter(page.messages), None) if page else None
        is_agents = first is not None and self._is_agents(first)
        return About(output=first.text if first and is_agents else None, thread=trace_id)

    async def tell(self, said_id: str, outcome: Outcome) -> None:
        """Put a reaction on the message, in place of the other one; one more if it was masked."""
        channel, _, ts = said_id.partition("/")
        names = [self._section.done, self._section.failed]
        wanted, other = names[::-1] if outcome.status in FAILED else names
        where = {"channel": channel, "timestamp": ts}
        await self._post("reactions.remove", {**where, "name": other}, "no_reaction")
        told = [wanted, self._section.masked] if outcome.masked else [wanted]
        for name in told:
            await self._post("reactions.add", {**where, "name": name}, "already_reacted")

    async def ping(self) -> None:
        """Check the token."""
        await self._post("auth.test", {}, "")

    async def _under(self, channel: str, message: _Posted, since: datetime) -> list[Said]:
        """Return what counts of a message and its thread."""
        thread = [message]
        answered = _time(message.latest_reply) if message.latest_reply else since
        if message.reply_count and (answered >= since or self._section.mark):
            thread += await self._all("conversations.replies", channel, ts=message.ts)
        is_agents = self._is_agents(message)
        return [
            Said(
                id=f"{channel}/{one.ts}",
                about=f"{channel}/{one.thread_ts or one.ts}",
                content=one.text,
                said_at=_time(one.ts),
                author=one.user,
            )
            for one in {one.ts: one for one in thread}.values()
            if self._is_persons(one)
            and (
                (is_agents and one.ts != message.ts and _time(one.ts) >= since)
                or self._is_marked(one)
            )
        ]

    def _is_agents(self, one: _Posted) -> bool:
        return bool({one.user, one.bot_id} & {*self._section.agent_users})

    def _is_persons(self, one: _Posted) -> bool:
        plain = one.subtype in {None, "thread_broadcast"} and one.bot_id is None
        return plain and one.user not in self._section.agent_users and bool(one.text.strip())

    def _is_marked(self, one: _Posted) -> bool:
        mark = self._section.mark
        return mark is not None and any(reaction.name == mark for reaction in one.reactions)

    async def _all(self, method: str, channel: str, **more: str) -> Sequence[_Posted]:
        found: list[_Posted] = []
        asked = {"channel": channel, "limit": str(PAGE), **more}
        while True:
            page = await self._call(method, **asked) or _Page()
            found += page.messages
            cursor = page.response_metadata.next_cursor if page.response_metadata else ""
            if not cursor:
                return found
            asked["cursor"] = cursor

    async def _call(self, method: str, **asked: str) -> _Page | None:
        answer = _checked(method, await self._api.get(f"/{method}", asked), _GONE)
        return None if answer is None else read(_Page, answer, method)

    async def _post(self, method: str, data: Mapping[str, JsonValue], *fine: str) -> None:
        _checked(method, await self._api.post(f"/{method}", data), {*_GONE, *fine})


def _checked(method: str, answer: JsonValue, fine: frozenset[str] | set[str]) -> JsonValue:
    """Return an answer, None for an error that is fine. Raises SourceDown, ConfigurationError."""
    given = answer if isinstance(answer, dict) else {}
    if given.get("ok") is True:
        return answer
    error = str(given.get("error", "no answer"))
    if error in fine:
        return None
    said = Message("sources.slack", method=method, error=error)
    if error in _PASSING:
        raise SourceDown(said)
    raise ConfigurationError(said, hint=Message("sources.hint_section"))


def _time(ts: str) -> datetime:
    seconds, _, micros = ts.partition(".")
    at = datetime.fromtimestamp(int(seconds), UTC)
    return at.replace(microsecond=int((micros or "0").ljust(6, "0")[:6]))
