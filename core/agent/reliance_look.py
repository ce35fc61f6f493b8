"""A model asked whether a change breaks what other items say: code proposes, the model judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field, JsonValue

from core.agent.asked_once import AskedOnce
from core.domain.models import Change
from core.domain.models.base import Model
from core.domain.text import shorten
from core.knowledge.interference import QUOTED_CHARS, Answer, Doubt, Pair, Statement

_MOST_PAST = 5  # of the lines that a moved one went past


class Judged(Model):
    """What becomes of one of the others."""

    n: int = Field(description="the number of the other item")
    broken: bool = Field(description="whether something that it says no longer holds")
    changed: str = Field(default="", description="the line of the change, copied exactly")
    relies: str = Field(default="", description="the line of the other item, copied exactly")
    why: str = Field(default="", description="one sentence: what no longer holds")


class Judgements(Model):
    """An answer for each of the others."""

    answers: tuple[Judged, ...]


class RelianceLook:
    """A chat model that is shown a change's difference and what a few other items say."""

    def __init__(self, asked: AskedOnce) -> None:
        self._asked = asked

    async def __call__(self, change: Change, doubt: Doubt) -> Sequence[Answer]:
        """Return what the model says of the others; of those that it leaves out, nothing.

        Raises SkillWorkerError where it cannot be asked or gives no usable answer.
        """
        changes = [*_changes(doubt)]
        others = [_other(n, pair) for n, pair in enumerate(doubt.pairs, 1)]
        item: JsonValue = {"kind": doubt.item.kind.value, "name": doubt.item.name}
        data: JsonValue = {"item": item, "changes": [*changes], "others": [*others]}
        judged = await self._asked.ask(
            change, "interference", data, Judgements, chars=len(str(data))
        )
        return [*_answers(judged, doubt)]


def _changes(doubt: Doubt) -> Iterator[JsonValue]:
    delta = doubt.delta
    for one in delta.removed:
        yield {"what": "removed", "text": _text(one), **_at(one)}
    for pair in delta.replaced:
        both: dict[str, JsonValue] = {"before": _text(pair.old), "after": _text(pair.new)}
        yield {"what": "changed", **both, **_at(pair.old)}
    for moved, passed in delta.moved:
        past: list[JsonValue] = [_text(one) for one in passed[:_MOST_PAST]]
        yield {"what": "moved", "text": _text(moved), "past": past, **_at(moved)}
    for one in (*delta.added, *delta.conditions):
        what = "condition" if one in delta.conditions or one.is_condition else "added"
        yield {"what": what, "text": _text(one), **_at(one)}


def _at(one: Statement) -> Mapping[str, JsonValue]:
    place = " / ".join(filter(None, (one.place, one.section)))
    return {"place": place} if place else {}


def _text(one: Statement) -> str:
    return shorten(one.text, QUOTED_CHARS)


def _other(n: int, pair: Pair) -> JsonValue:
    item = pair.item
    says: list[JsonValue] = [_text(one) for one in pair.shown]
    return {"n": n, "kind": item.kind.value, "name": item.name, "says": says}


def _answers(judged: Judgements, doubt: Doubt) -> Iterator[Answer]:
    """Yield the answers to what was asked, the first of each; quotes are lines that there are."""
    told: dict[int, Judged] = {}
    for one in judged.answers:
        told.setdefault(one.n, one)
    lines = doubt.lines
    for n, pair in enumerate(doubt.pairs, 1):
        if n in told:
            changed = _line(told[n].changed, lines, pair.changed)
            relies = _line(told[n].relies, pair.shown, pair.relies)
            yield Answer(pair.item, told[n].broken, changed, relies, told[n].why)


def _line(quote: str, lines: Sequence[Statement], nearest: Statement) -> Statement:
    """Return the line that a quote stands in, the nearest where a model quotes what is nowhere."""
    wanted = " ".join(quote.removesuffix("…").split())
    found = (one for one in lines if wanted in " ".join(one.text.split()))
    return next(found, nearest) if wanted else nearest
