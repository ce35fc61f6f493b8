"""Streams of feedback said one after another: what holds in the end, and what is gone.

Each stream is told to an agent of its own: one thread, at the times when the pieces were said,
with the answers and outputs of the set. A statement of `state` is held, and one of `gone` is
not, as far as a person would accept it without reading on; how that is judged by a program:

- The terms of a text are its informative stems and its quantities, both normalised as for
  duplicates (won/KRW, 3만원/30,000), and whether it denies.
- What a statement must have is what sets it apart from those of the other list: with `state` "달러"
  and `gone` "원화" both must be found to be held.
- A statement is held if one known item has all that sets it apart and at least 60 % of its terms.
  The end of a memory is read with it, in both languages.
- A stream is right if every statement of `state` is held and none of `gone`.

It is strict about wording (an item that says the same in other words is not held) and lenient about
what an item says besides.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from core.app.program import App
from core.decision_table import parse_xml, search_text
from core.domain.models import Agent, Kind, KnowledgeItem, NewFeedback
from core.domain.models.base import Model
from core.knowledge.duplicates.words import LITTLE, words_of

ENOUGH = 0.6
SEOUL = timezone(timedelta(hours=9))
OPEN = Path(__file__).with_name("sets") / "open" / "streams.jsonl"


class Said(Model):
    """One piece of a stream; `in_reply_to` is the place of the piece it answers."""

    said_at: datetime
    text: str
    in_reply_to: int | None = None
    output: str | None = None


class Stream(Model):
    """What is said, what holds after it and what no longer does."""

    lang: str
    pieces: tuple[Said, ...]
    state: tuple[str, ...]
    gone: tuple[str, ...]
    asks: str | None = None


@dataclass(frozen=True)
class Played:
    """A stream, the statements that are held of each list, and what is known."""

    stream: Stream
    held: tuple[str, ...]
    not_gone: tuple[str, ...]
    knows: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether all that holds is known, and nothing that does not."""
        return set(self.held) == set(self.stream.state) and not self.not_gone


def streams(path: Path = OPEN) -> list[Stream]:
    """Read the streams of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Stream.model_validate(json.loads(line)) for line in lines if line.strip()]


async def play(app: App, told: Sequence[Stream], concurrency: int = 4) -> list[Played]:
    """Tell each stream in a tenant of its own, work all off, and judge what is known."""
    for number, stream in enumerate(told):
        tenant_id, agent_id = f"tenant-{number}", f"agent-{number}"
        agent = Agent(id=agent_id, tenant_id=tenant_id, name=f"Assistant {number}")
        await app.stores.agents.save(agent)
        await app.stores.inbox.add("streams", _pieces(number, stream))
    await app.run(True, concurrency, asyncio.Event(), lambda _: None)
    return [await _played(app, number, stream) for number, stream in enumerate(told)]


def _pieces(number: int, stream: Stream) -> list[NewFeedback]:
    return [
        NewFeedback(
            id=f"{number}-{place}",
            tenant_id=f"tenant-{number}",
            agent_ids=(f"agent-{number}",),
            content=said.text,
            author="user",
            said_at=said.said_at,
            in_reply_to=None if said.in_reply_to is None else f"{number}-{said.in_reply_to}",
            thread=f"stream {number}",
            output=said.output,
        )
        for place, said in enumerate(stream.pieces)
    ]


async def _played(app: App, number: int, stream: Stream) -> Played:
    knowledge = app.stores.knowledge
    items: list[KnowledgeItem] = []
    for expired in (False, True):  # a stream may be older than what it says of its end
        items += await knowledge.list(
            tenant_id=f"tenant-{number}", agent_id=None, kind=None, expired=expired
        )
    knows = tuple(_text(item) for item in items if item.kind is not Kind.SKILL)
    return Played(
        stream=stream,
        held=tuple(one for one in stream.state if holds(one, stream.gone, knows)),
        not_gone=tuple(one for one in stream.gone if holds(one, stream.state, knows)),
        knows=knows,
    )


def _text(item: KnowledgeItem) -> str:
    if item.kind is Kind.DMN_RULE:
        return search_text(parse_xml(item.content))
    if item.valid_until is None:
        return item.content
    end = item.valid_until.astimezone(SEOUL)
    korean, english = f"{end:%Y년 %-m월 %-d일}까지", f"until {end.day} {end:%B %Y}"
    return f"{item.content}\n{korean} {english}"


def holds(statement: str, others: Iterable[str], knows: Iterable[str]) -> bool:
    """Whether a known text says a statement, set apart from those of the other list."""
    own = terms(statement)
    elsewhere = [terms(other) for other in others]
    # Compared with the most similar one of the other list: it is that which it must not be.
    rival = max(elsewhere, key=lambda other: len(other & own), default=frozenset())
    for text in knows:
        known = terms(text)
        if own - rival <= known and len(own & known) >= ENOUGH * len(own) and own:
            return True
    return False


def terms(text: str) -> frozenset[str]:
    """Return the informative stems of a text, its quantities, and whether it denies."""
    words = words_of(text)
    found = {word.stem for word in words.words if word.weight > LITTLE}
    found |= {f"{quantity.value:f} {quantity.what}" for quantity in words.quantities}
    return frozenset(found | ({"not"} if words.denies else set()))


def report(played: Sequence[Played]) -> str:
    """Return how many streams end right, by language, and how many statements."""
    right, all_ = Counter[str](), Counter[str]()
    for one in played:
        all_[one.stream.lang] += 1
        right[one.stream.lang] += one.is_right
    lines = [f"{lang}: {right[lang]} of {all_[lang]} streams right" for lang in sorted(all_)]
    state = sum(len(one.stream.state) for one in played)
    gone = sum(len(one.stream.gone) for one in played)
    held = sum(len(one.held) for one in played)
    not_gone = sum(len(one.not_gone) for one in played)
    return "\n".join(
        [
            *lines,
            f"{sum(right.values())} of {len(played)} streams right",
            f"{held} of {state} statements held that hold, {not_gone} of {gone} that are gone",
        ]
    )
