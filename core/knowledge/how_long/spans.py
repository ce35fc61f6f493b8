"""Find the span that says how long something holds, and leave it out of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from core.knowledge.how_long import patterns
from core.knowledge.how_long.days import MONTHS, Groups, end_of

MOST_CHARS = 4_000  # spans stand in what people say, not in long documents
_HINT = re.compile(
    r"까지|동안|간만|간[\s,]|내내|\b(?:un)?till?\b|\bthrough|\bthru\b|\bfor\b|\bover the|\bduring"
    r"|\bonly\b|\bthroughout",
    re.IGNORECASE,
)
_PARTICLE = re.compile(r"(?:만|는|은|의)?(?=[\s,.!]|$),?\s*")
_ABBREVIATED = "".join(rf"(?<!\b{name[:3].title()}\.)" for name in MONTHS)
_SENTENCE = re.compile(rf"(?<=[.!?。])(?!(?<=\d\.)\s\d){_ABBREVIATED}\s+(?=\S)|\n+")
_HANGUL = re.compile("[가-힣]")
LEAST_LETTERS = 4


@dataclass(frozen=True)
class Span:
    """Where a text says how long it holds; `needed` if the words make no sense without it."""

    start: int
    end: int
    needed: bool
    groups: Groups

    def last(self, said: datetime) -> date | datetime | None:
        """Return the last day or moment, None if there is no such day or it was over then."""
        return end_of(self.groups, said)


def span_in(text: str) -> Span | None:
    """Return the one span that says how long a text holds; None if there is none or several."""
    found = _spans(text)
    return found[0] if len(found) == 1 else None


def _spans(text: str) -> list[Span]:
    """Return the spans of a text, of those that overlap the longest of the first."""
    if len(text) > MOST_CHARS or not _HINT.search(text):
        return []
    found: list[Span] = []
    for span in sorted(_matches(text), key=lambda one: (one.start, -one.end)):
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found


def _matches(text: str) -> Iterator[Span]:
    for pattern in (*patterns.KOREAN, *patterns.ENGLISH):
        for match in pattern.finditer(text):
            if _is_span(text, match):
                yield _span(text, match)


def _is_span(text: str, match: re.Match[str]) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    if patterns.RANGE.search(before) or _is_due(after, match) or patterns.GOES_ON.match(after):
        return False
    if _is_after_each(before, after, match.groupdict()) or _is_aside(before, match[0]):
        return False
    is_long = "unit" in match.groupdict() or "days" in match.groupdict()
    return not (
        is_long and (patterns.KEPT_BEFORE.search(before) or patterns.KEPT_AFTER.match(after))
    )


def _is_after_each(before: str, after: str, groups: dict[str, str | None]) -> bool:
    """Whether it is counted from each of what the text tells of: "분기 다음 달 20일까지"."""
    is_next = groups.get("which") == "다음" and groups.get("period") == "달" and groups.get("day")
    return bool(is_next and before.strip() and not patterns.AFTER_EACH.match(after))


def _is_aside(before: str, span: str) -> bool:
    """Whether it stands in brackets, of the English word before it: "(Dr Sayeed until August)"."""
    return before.rfind("(") > before.rfind(")") and not span.endswith("까지")


def _is_due(after: str, match: re.Match[str]) -> bool:
    found = patterns.DUE.match(after) if match[0].endswith("까지") else None
    if found is None:
        return False
    is_told = patterns.TOPIC.search(found["between"]) and found[0].endswith(("합", "한", "했"))
    return not (is_told or patterns.STANDING.search(found["between"]))


def _span(text: str, match: re.Match[str]) -> Span:
    groups = {name.rstrip("2"): part for name, part in match.groupdict().items() if part}
    before, after = text[: match.start()], text[match.end() :]
    is_needed = bool(patterns.NEEDED.match(after) or patterns.NEEDED_BEFORE.search(before))
    return Span(match.start(), match.end(), is_needed, groups)


@lru_cache(maxsize=1024)
def without_span(text: str) -> str:
    """Return a text without the span that says how long it holds, unless its words need it.

    They do where it is all that the text says, and where only one of several sentences has it.
    """
    span = span_in(text)
    if span is None or span.needed or not holds_for_all(text):
        return text
    rest = _cut(text, span.start, span.end)
    return rest if len(rest.split()) > 1 or len(_HANGUL.findall(rest)) >= LEAST_LETTERS else text


def _cut(text: str, start: int, end: int) -> str:
    particle = _PARTICLE.match(text, end)
    before, after = text[:start].rstrip(" ,"), text[particle.end() if particle else end :]
    after = after.lstrip(" ,")
    if not before:
        return after[:1].upper() + after[1:]
    return f"{before}{'' if after[:1] in '.!?' else ' '}{after}".strip()


def holds_for_all(text: str) -> bool:
    """Whether a span is that of all that a text says: of its only sentence."""
    return len([part for part in _SENTENCE.split(text.strip()) if part.strip()]) == 1


def is_open(text: str) -> bool:
    """Whether a text says that something holds for a time, whether or not its end can be told."""
    if len(text) > MOST_CHARS or patterns.NO_SPAN.search(text):
        return False
    is_said = patterns.OPEN_ADVERB.search(text) or patterns.OPEN_POINT.search(text)
    return bool(is_said or _spans(text))


def without_open(text: str) -> str:
    """Return a text without words such as "for now", which name no end at all."""
    rest = patterns.OPEN_ADVERB.sub(" ", text).strip() if len(text) <= MOST_CHARS else text
    return rest[:1].upper() + rest[1:] if rest else text
