"""Sentences without what only opens or closes them, and with what they leave out of a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.agent.offline.stated.korean_plainer import written_out
from core.agent.offline.stated.korean_words import POLITE, REPEATED
from core.agent.offline.text import is_korean

_OPENS = re.compile(
    r"^(?:(?:hi|hey|hello|ok|okay)[,!]? )?(?:(?:could|can|would|will) you (?:please |kindly )?"
    r"|kindly (?:note that |remember that )?"
    r"|(?:(?:just )?(?:a )?(?:quick|small|little) (?:one|thing|note|reminder|word) "
    r"(?:about|on|regarding) )(?:the )?[a-z]+(?: [a-z]+)?(?:: | - | – | — ))",
    re.I,
)
_CLOSES = re.compile(r"(?:,? (?:thanks|thank you|pls|please|though)|\s+[-–—]\s?[A-Z][a-z]+)$")
_ONWARDS = re.compile(r"\b(from (?:[$€£]?[\d,.]+(?: ?[ap]m|%| [a-z]+)?|noon)) on(?=[\s,]|$)", re.I)
_HALVES = re.compile(r"\b(?P<hour>\d{1,2}) ?(?P<half>[ap]m)\b", re.I)
_KOREAN_HALVES = re.compile(r"(?P<half>오전|오후|새벽|아침|저녁|밤) ?(?P<hour>\d{1,2})시(?!간)")
_KOREAN_HOUR = re.compile(
    r"(?<!오전 )(?<!오후 )(?<!새벽 )(?<!아침 )(?<!저녁 )(?<!밤 )(?<![가-힣\d:])"
    r"(?P<hour>\d{1,2})시(?!간)"
)
_KOREAN_TO_HOUR = re.compile(
    r"(?P<from>(?P<half>오전|오후|새벽|저녁|밤) ?(?P<a>\d{1,2})시(?: ?반)?(?:부터|에서| ?~) ?)"
    r"(?P<to>(?P<b>\d{1,2})시(?!간))"
)
_BARE_HOUR = re.compile(
    r"\b(?P<by>from|after|before|until|till|past) (?P<hour>\d{1,2})"
    r"(?=(?: on(?:wards?)?)?(?:[,;.]|$| (?:it|they|we|you|that|is|and|nope|give|no)\b))",
    re.I,
)
_WHATEVER = re.compile(r",\s+(?=(?:whatever|however|no matter|regardless)\b)", re.I)
# What ends a Korean sentence by saying that it is to be told.
_TOLD = re.compile(
    r"(?P<told>[가-힣\d%])(?:이?라고|다고) (?:(?:해 ?주세요|하세요|하시면 (?:돼요|됩니다)"
    r"|하면 (?:돼요|됩니다))|(?:안내|말씀|답변?|공지|설명|얘기|알려|대답|전달)"
    r"(?:을 |를 )?(?:해 ?|드려 ?|드리|하|해)?(?:주세요|주십시오|주시면 됩니다|세요"
    r"|시면 됩니다|면 돼요"
    r"|셔야 (?:합니다|해요|돼요|됩니다)|야 (?:합니다|해요|돼요|됩니다)|바랍니다))$"
)


def plain(sentences: Sequence[str]) -> list[str]:
    """Return sentences without greeting or plea around them, their hours written out."""
    told = " ".join(sentences)
    if is_korean(told):
        halves = _named(_KOREAN_HALVES, told)
        return [_korean(one, halves) for one in written_out(sentences)]
    return [_english(one, _named(_HALVES, told)) for one in sentences]


def _named(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    """Return the half of the day of each hour that is always told with the same one."""
    found: dict[str, set[str]] = {}
    for one in pattern.finditer(text):
        found.setdefault(one["hour"], set()).add(one["half"])
    return {hour: halves.pop() for hour, halves in found.items() if len(halves) == 1}


def _english(sentence: str, halves: Mapping[str, str]) -> str:
    text = sentence.rstrip(" .!~")
    bare = _CLOSES.sub("", _OPENS.sub("", text))
    bare = _BARE_HOUR.sub(
        lambda one: f"{one['by']} {one['hour']}{halves.get(one['hour'], '')}", bare
    )
    bare = _WHATEVER.sub(" ", _ONWARDS.sub(r"\1", bare))
    return f"{bare}{sentence[len(text) :]}"


def _korean(sentence: str, halves: Mapping[str, str]) -> str:
    body = sentence.rstrip(" .!~")
    text, end = REPEATED.sub("", POLITE.sub("", body)), sentence[len(body) :]
    told = _TOLD.search(text)
    text = text[: told.start()] + told["told"] if told else text
    text = _KOREAN_TO_HOUR.sub(
        lambda one: (
            f"{one['from']}{one['half']} {one['to']}" if int(one["a"]) < int(one["b"]) else one[0]
        ),
        text,
    )
    hours = _KOREAN_HOUR.sub(
        lambda one: f"{halves[one['hour']]} {one[0]}" if one["hour"] in halves else one[0], text
    )
    return f"{hours}{end}"
