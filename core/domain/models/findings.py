"""Findings of the screen: what a text adds that may do harm, and exactly where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from enum import StrEnum

from pydantic import Field, model_validator

from core.domain.models.base import Model, Text, read_message
from core.domain.models.knowledge import Kind


class ScreenSeverity(StrEnum):
    """What a finding comes to: told, masked before it is stored and told, or held for a person."""

    NOTE = "note"
    MASK = "mask"
    HOLD = "hold"


LOOK_FAILED = "second_look.failed"  # what a second look that could not be taken is told as


class Finding(Model):
    """One thing that the screen found, at a span of a text.

    `code` names the rule, `text` says what was found, in words for a reviewer. `place` is the part
    of what was screened: "" for the text of an item or a piece of feedback, the path of a file of a
    skill. `start` and `end` count characters of that text. `quote` is the text at the span, masked
    if it is a secret. `digest` is the SHA-256 (hex) of code and text: what a person has allowed is
    known again by it, and `is_allowed` says that one has.
    """

    code: str
    text: Text
    severity: ScreenSeverity
    place: str = ""
    start: int
    end: int
    quote: str = ""
    digest: str
    is_allowed: bool = False

    @model_validator(mode="before")
    @classmethod
    def _with_message(cls, data: object) -> object:
        """Return stored data with its text as the message that it was written from."""
        if not isinstance(data, Mapping) or "said" not in data:
            return data
        told = {name: value for name, value in data.items() if name != "said"}
        with suppress(ValueError):
            told["text"] = read_message(data["said"])
        return told

    @property
    def is_looked(self) -> bool:
        """Whether a model found it that looked a second time."""
        return self.code.startswith("second_look.")

    def still_in(self, text: str) -> Finding | None:
        """Return it at its place in an edited text, None if it is gone.

        In a file it stays, and so does one whose quote never stood in the text word for word.
        """
        has_place = not self.place and self.end > self.start
        start = text.find(self.quote.removesuffix("…")) if has_place else self.start
        if start < 0:
            return None
        return self.model_copy(update={"start": start, "end": start + self.end - self.start})

    @property
    def holds(self) -> bool:
        """Whether a change waits because of it."""
        return self.severity is ScreenSeverity.HOLD and not self.is_allowed


class Addition(Model):
    """A text that a screen of a plug-in looks at, and what stood in its place before.

    `place` names it among those of one look: "" for the text of an item or of a piece of feedback,
    the path of a skill's file, a path such as `output.items.0.note`. `kind` is None at intake.
    """

    text: str
    before: str = ""
    place: str = ""
    kind: Kind | None = None


class Found(Model):
    """What a screen of a plug-in found in one of its texts: the worker makes a finding of it.

    `code` names the rule, without the plug-in's name, `text` says for a reviewer what was found.
    `start` and `end` count characters of the text at `place`.
    """

    code: str = Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")
    text: str = Field(min_length=1)
    severity: ScreenSeverity = ScreenSeverity.HOLD
    place: str = ""
    start: int = Field(ge=0)
    end: int = Field(ge=1)


def counted(codes: Iterable[str]) -> tuple[str, ...]:
    """Return codes of findings, each once with how often it is there: `secret.token×2`."""
    return tuple(f"{code}×{count}" for code, count in Counter(codes).items())


class Allowed(Model):
    """A finding that a person of a tenant has allowed: the same text is not held again there."""

    tenant_id: str
    digest: str
    code: str
    reason: str
    allowed_by: str
    change_id: str
    allowed_at: datetime | None = None


class Facts(Model):
    """What is known of who said what a change carries out, and how far it would spread.

    `author` and `source` are None where no feedback caused it. `is_known`: the author has taught
    something before; `is_accepted`: a person has approved something of theirs. `others` counts
    other people who said the same, `spread` the agents that would learn it. `allowed` are those of
    the findings' digests that a person has allowed.
    """

    author: str | None = None
    source: str | None = None
    is_known: bool = False
    is_accepted: bool = False
    others: int = 0
    spread: int = 1
    allowed: frozenset[str] = frozenset()
