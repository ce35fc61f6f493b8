"""A second look at what a change adds, by a model that sees only that: it holds, never releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from pydantic import Field, JsonValue, field_validator

from core.agent.asked_once import AskedOnce
from core.domain.errors import LeaseLost, SkillWorkerError
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import Change, Finding, ScreenSeverity
from core.domain.models.base import Model
from core.domain.text import compact, shorten
from core.safety.findings import look_failed

_QUOTE_CHARS = 300


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
    """A chat model that looks at what changes add; without a model every look fails, and holds."""

    def __init__(self, asked: AskedOnce) -> None:
        self._asked = asked

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
            return [look_failed(error.message, compact({**new}))]

    async def _ask(self, change: Change, new: Mapping[str, str]) -> Sequence[Suspect]:
        added: list[JsonValue] = [{"place": place, "text": text} for place, text in new.items()]
        data: dict[str, JsonValue] = {"kind": change.kind.value, "added": added}
        chars = sum(map(len, new.values()))
        opinion = await self._asked.ask(change, "second_look", data, SecondOpinion, chars=chars)
        return opinion.findings


def _new(before: str, after: str) -> str:
    """Return the lines of a text that did not stand in it before."""
    known = set(before.splitlines())
    return "\n".join(line for line in after.splitlines() if line.strip() and line not in known)


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
