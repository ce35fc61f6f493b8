"""Text that a reader does not see: invisible characters, turned directions, comments, styles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

Found = tuple[str, int, int]

# Whether there is anything to look at.
SIGNS = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069"
    "\u3164"
    "\ufeff\uffa0\ufe00-\ufe0d\U000e0000-\U000e01ef]"
    r"|<!--|\[//\]|\[comment\]|%%|\{#|<[a-zA-Z]+ [^>]{0,300}(?:style|hidden"
    r"|color|class)"
    r"|\]\(\S{1,300} +[\"']|\]: *\S{1,300} +[\"'(]|\b(?:title|alt|aria-label|data-\w+) ?="
    r"|textcolor\{white|[a-zA-Z][\u0400-\u04ff]|[\u0400-\u04ff][a-zA-Z]"
)
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_FLAG = re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_SELECTORS = re.compile("[\ufe00-\ufe0d\U000e0100-\U000e01ef][\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_ZERO = (
    "\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064"
    "\u3164\ufeff\uffa0"
)
_ZEROS = re.compile(f"[{_ZERO}]+")
_SOFT = re.compile("(?:\\w\u00ad){3,}")
_SPELLED = ("LATIN", "HANGUL", "CJK", "DIGIT", "CYRILLIC", "GREEK")
_OVERRIDE = re.compile("[\u202d\u202e][^\u202c\n]*\u202c?")
_EMBEDDED = re.compile("[\u202a\u202b\u2066\u2067\u2068]([^\u202c\u2069\n]*)[\u202c\u2069]?")
_COMMENTS = (
    re.compile(r"\[//\]: ?# ?[(\"'][^\n]{0,2000}"),
    re.compile(r"\[comment\]: ?<> ?[(\"'][^\n]{0,2000}"),
    re.compile(r"%%[^%\n]{10,2000}%%"),
    re.compile(r"\{#[^#\n]{10,2000}#\}"),
)
_LONGEST_COMMENT = 4000
_ORDERS = re.compile(
    r"assistant|\bllm\b|\b(?:agents?|models?|bots?|ai|a\.i\.|system|reviewers?"
    r"|learners?)\s?(?:only|must|should|:|,|reading|that reads)"
    r"|\b(?:store|past(?:e|ing)|send|sending|approv\w+|ignor\w+|disregard"
    r"|treat|bypass|reveal|refund\w*|pay|forward|delet\w+|skip|remember"
    r"|upload|attach|append|tell|grant"
    r"|classify|execute|exfil\w*|curl|do not (?:tell|show|mention)|don't (?:tell"
    r"|show|mention)|as approved|obey|transfer)\b|invisible|not (?:shown"
    r"|visible|displayed)|white text|password"
    r"|에이전트|모델에게|모델은|인공지능|챗봇|어시스턴트|저장|전송|승인|무시|환불|몰래|보이지"
    r"|안\s?보임|추가(?:한다|할\s?것|하라|하세요)"
    r"|바꿔\s?(?:적|저장|쓰)|적을\s?것|공개|붙여\s?넣|보내|삭제|건너|할\s?것|하라\b|해라\b|무조건"
    r"|비밀|첨부|입금|송금|계좌|지시",
    re.IGNORECASE,
)
_SHORTEST_ORDER = 16
# What is shown only where a pointer rests, or not at all.
_TITLES = (
    re.compile(r"\]\(\S{1,300} {1,3}(\"[^\"\n]{1,2000}|'[^'\n]{1,2000})"),
    re.compile(r"\]: *\S{1,300} {1,3}([\"'(][^\n]{1,2000})"),
    re.compile(r"\b(?:title|alt|aria-label|data-\w{1,20}) ?= ?(\"[^\"\n]{1,2000}|'[^'\n]{1,2000})"),
)
_ADDRESSED = re.compile(
    r"\b(?:assistants?|llms?|agents?|models?|bots?|ai|system|reviewers?)\b\s?(?:only|must|should|:|,)"
    r"|(?:에이전트|어시스턴트|모델|챗봇|인공지능|상담봇|ai)\s?(?:는|은|에게|야|아|:|,|전용)",
    re.IGNORECASE,
)
_HIDING = (
    r"(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|font-size\s*:\s*0(?:\.0\d*)?(?![.\d])"
    r"|opacity\s*:\s*0(?:\.0\d*)?(?![.\d])|(?<![-\w])color\s*[:=]\s*[\"']?(?:white"
    r"|#fff(?:fff)?\b|#fefefe|transparent|rgba?\([^)]*,\s*0\))"
    r"|(?:left|top|text-indent)\s*:\s*-\d{3,}|(?:max-)?(?:width"
    r"|height)\s*:\s*0(?![.\d])|\shidden(?=[\s>/])"
    r"|clip-path\s*:|clip\s*:\s*rect|class\s*=\s*[\"'](?:sr-only|visually-hidden"
    r"|hidden|invisible)\b)"
)
_STYLED = re.compile(
    rf"<([a-zA-Z]+)\b[^>]{{0,300}}?{_HIDING}[^>]{{0,300}}>([^<]{{6,4000}})", re.IGNORECASE
)
_WHITE = re.compile(r"\\textcolor\{white\}\{[^}\n]{6,2000}\}?")
_MIXED = re.compile(
    r"[a-zA-Z]+[\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u04bb\u0501\u041"
    r"0\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425]\w*"
    r"|[\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0410\u0412\u0415\u041a\u041c"
    r"\u041d\u041e\u0420\u0421\u0422\u0425]+[a-zA-Z]{2,}\w*"
)


def hidden(text: str) -> Iterator[Found]:
    """Yield what of a text a reader does not see, or sees in another order."""
    if not text.isascii():
        yield from _tags(text)
        yield from _zeros(text)
        yield from _directions(text)
        for one in _MIXED.finditer(text):
            yield "hidden_text.lookalike", one.start(), one.end()
    yield from _comments(text)
    yield from _titles(text)
    for one in (*_STYLED.finditer(text), *_WHITE.finditer(text)):
        if sum(map(str.isalpha, one[0])) >= len("span style hidden"):
            yield "hidden_text.styled", one.start(), one.end()


def _tags(text: str) -> Iterator[Found]:
    for one in _TAGS.finditer(text):
        flag = one.start() and text[one.start() - 1] == "\U0001f3f4" and _FLAG.fullmatch(one[0])
        if not flag:
            yield "hidden_text.tags", one.start(), one.end()
    for one in _SELECTORS.finditer(text):
        yield "hidden_text.tags", one.start(), one.end()


def _zeros(text: str) -> Iterator[Found]:
    """Yield lines in which characters without width stand between letters that need none.

    Thai and Khmer break their words by them, Persian and Indic scripts join letters, emoji too.
    """
    start = 0
    for line in text.split("\n"):
        found = [
            (one.start(), one.end()) for one in _ZEROS.finditer(line) if _is_odd(line, *one.span())
        ]
        between = sum(b - a for a, b in found if _is_spelled(line, a - 1) and _is_spelled(line, b))
        longest = max((b - a for a, b in found), default=0)
        if found and (longest >= 4 or between >= 2 or sum(b - a for a, b in found) >= 5):
            yield "hidden_text.invisible", start + found[0][0], start + found[-1][1]
        soft = _SOFT.search(line)
        if soft:
            yield "hidden_text.invisible", start + soft.start(), start + soft.end()
        start += len(line) + 1


def _is_odd(line: str, start: int, end: int) -> bool:
    """Whether characters without width stand where no script needs them."""
    before = line[start - 1] if start else ""
    after = line[end] if end < len(line) else ""
    return end - start > 3 or not any(_needs_them(char) for char in (before, after) if char)


def _needs_them(char: str) -> bool:
    if char.isascii():
        return False
    name = unicodedata.name(char, "")
    return not name.startswith(_SPELLED) and not char.isspace()


def _is_spelled(line: str, at: int) -> bool:
    return 0 <= at < len(line) and (line[at].isalnum() or line[at] == " ")


def _directions(text: str) -> Iterator[Found]:
    for one in _OVERRIDE.finditer(text):
        yield "hidden_text.bidi", one.start(), one.end()
    for one in _EMBEDDED.finditer(text):
        if one[1].strip() and not any(
            unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in one[1]
        ):
            yield "hidden_text.bidi", one.start(), one.end()


def _comments(text: str) -> Iterator[Found]:
    at = text.find("<!--")
    while at >= 0:
        closed = text.find("-->", at + 4, at + _LONGEST_COMMENT)
        end = closed + 3 if closed >= 0 else min(len(text), at + _LONGEST_COMMENT)
        if _is_order(text[at + 4 : end]):
            yield "hidden_text.comment", at, end
        at = text.find("<!--", end)
    for pattern in _COMMENTS:
        for one in pattern.finditer(text):
            if _is_order(one[0]):
                yield "hidden_text.comment", one.start(), one.end()


def _titles(text: str) -> Iterator[Found]:
    for pattern in _TITLES:
        for one in pattern.finditer(text):
            if _ADDRESSED.search(one[1]) and _is_order(one[1]):
                yield "hidden_text.comment", one.start(1), one.end()


def _is_order(comment: str) -> bool:
    return len(comment.strip()) >= _SHORTEST_ORDER and bool(_ORDERS.search(comment))
