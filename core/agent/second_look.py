"""A second look at what a change adds, by a model that sees only that: it holds, never releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import Field, JsonValue, field_validator

from core.agent.budgets import Meter
from core.agent.model.chat_model import ask_structured, parse_structured, prompt
from core.domain.errors import LeaseLost, SkillWorkerError
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import Change, Finding, ScreenSeverity
from core.domain.models.base import Model
from core.domain.models.findings import LOOK_FAILED
from core.domain.ports import CircuitBreaker, Replies
from core.domain.text import compact, fenced_json, shorten

MOST_CHARS = 100_000
_KEY_CHARS = 16
_QUOTE_CHARS = 300
_MOST_KEPT = 500


class About(StrEnum):
    """What a model is asked for: the classes of the screen, as one says them."""

    HIDDEN_TEXT = "hidden_text"
    MODEL_INSTRUCTION = "model_instruction"
    FORGED = "forged"
    PAYEE = "payee"
    CONTROL_DROPPED = "control_dropped"
    LIMIT_LIFTED = "limit_lifted"
    CONCEALMENT = "concealment"
    PERSONAL_ID = "personal_id"
    SECRET = "secret"  # noqa: S105
    CODE = "code"
    OTHER = "found"


class Suspect(Model):
    """One thing that a person should see before it is learnt."""

    about: About = Field(default=About.OTHER, description="which of the classes it is")
    place: str = Field(default="", description="the place of the text, exactly as given")
    quote: str = Field(description="the words in question, copied exactly")
    why: str = Field(description="one sentence: what they may do")

    @field_validator("about", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        """Return a class that there is: a finding under another name is one all the same."""
        return value if isinstance(value, str) and value in set(About) else About.OTHER


class SecondOpinion(Model):
    """What a person should see; empty where nothing stands out."""

    findings: tuple[Suspect, ...] = ()


class SecondLookModel:
    """A chat model that looks at what changes add; without a model every look fails, and holds.

    What one tenant's changes add alike is asked once: what one piece of feedback teaches several
    agents is one question.
    """

    def __init__(
        self,
        model: BaseChatModel | None,
        breaker: CircuitBreaker | None,
        replies: Replies,
        meter: Meter,
    ) -> None:
        self._model = model
        self._breaker = breaker
        self._replies = replies
        self._meter = meter
        self._kept: dict[tuple[str, str], JsonValue] = {}

    async def __call__(
        self, change: Change, added: Mapping[str, tuple[str, str]]
    ) -> Sequence[Finding]:
        """Return what the model finds, by place: (text before, text after).

        A look that fails is a finding that holds. Raises LeaseLost.
        """
        new = {place: text for place, (old, now) in added.items() if (text := _new(old, now))}
        if not new:
            return ()
        texts = {place: now for place, (_, now) in added.items()}
        try:
            return [_finding(suspect, texts) for suspect in await self._ask(change, new)]
        except LeaseLost:
            raise
        except SkillWorkerError as error:
            return [_failed(error.message, compact({**new}))]

    async def _ask(self, change: Change, new: Mapping[str, str]) -> Sequence[Suspect]:
        if self._model is None or self._breaker is None:
            raise SkillWorkerError(Message("second_look.no_model"))
        if (chars := sum(map(len, new.values()))) > MOST_CHARS:
            raise SkillWorkerError(Message("second_look.too_long", n=chars, most=MOST_CHARS))
        raw = await self._answer(change, new)
        opinion, problem = parse_structured(raw, SecondOpinion)
        if opinion is None:
            raise SkillWorkerError(problem)
        return opinion.findings

    async def _answer(self, change: Change, new: Mapping[str, str]) -> JsonValue:
        digest = text_hash(compact({"kind": change.kind.value, "added": {**new}}))
        known = change.tenant_id, digest
        if known in self._kept:
            return self._kept[known]
        key = f"{change.key}:look:{digest[:_KEY_CHARS]}"
        stored = await self._replies.get(key, 1)
        raw = stored[0] if stored else await self._reply(change, key, new)
        if len(self._kept) == _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[known] = raw
        return raw

    async def _reply(self, change: Change, key: str, new: Mapping[str, str]) -> JsonValue:
        assert self._model is not None
        assert self._breaker is not None
        async with self._meter.budgets.call(change.tenant_id, key):
            async with self._breaker.call():
                reply = await ask_structured(
                    self._model, _question(change, new), SecondOpinion, price=self._meter.price
                )
            await self._replies.put(key, 1, reply.raw, reply.usage, tenant_id=change.tenant_id)
        return reply.raw


def _new(before: str, after: str) -> str:
    """Return the lines of a text that did not stand in it before."""
    known = set(before.splitlines())
    return "\n".join(line for line in after.splitlines() if line.strip() and line not in known)


def _question(change: Change, new: Mapping[str, str]) -> list[BaseMessage]:
    added: list[JsonValue] = [{"place": place, "text": text} for place, text in new.items()]
    data: dict[str, JsonValue] = {"kind": change.kind.value, "added": added}
    return [SystemMessage(prompt("second_look")), HumanMessage(fenced_json(data))]


def _finding(suspect: Suspect, texts: Mapping[str, str]) -> Finding:
    """Return a finding at the place of its quote; of one that is nowhere at the beginning."""
    place = suspect.place if suspect.place in texts else next(iter(texts))
    start = max(0, texts[place].find(suspect.quote))
    is_there = suspect.quote in texts[place]
    return Finding(
        code=f"second_look.{suspect.about}",
        text=Message("second_look.found", why=shorten(suspect.why, _QUOTE_CHARS)),
        severity=ScreenSeverity.HOLD,
        place=place,
        start=start,
        end=start + len(suspect.quote) if is_there else start,
        quote=shorten(suspect.quote, _QUOTE_CHARS),
        digest=text_hash(f"second_look.found\0{suspect.quote}"),
    )


def _failed(why: str, new: str) -> Finding:
    return Finding(
        code=LOOK_FAILED,
        text=Message("second_look.failed", why=why),
        severity=ScreenSeverity.HOLD,
        start=0,
        end=0,
        digest=text_hash(f"second_look.failed\0{new}"),
    )
