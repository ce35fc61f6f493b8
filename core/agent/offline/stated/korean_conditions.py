"""Find the conditions of a Korean sentence, in order; none overlaps another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from core.agent.offline.stated import korean_words as w
from core.agent.offline.stated.amounts import Amount, amounts
from core.agent.offline.stated.statement import Condition, NotARule


class Link(Enum):
    """What follows a condition: its outcome, or another condition."""

    THEN = "then"
    AND = "and"
    OR = "or"
    EVEN = "even"


@dataclass(frozen=True)
class Found:
    """A condition and where it stands; `same` is a sign that compares with the last number."""

    start: int
    end: int
    link: Link
    condition: Condition | None = None
    noun: str = ""
    done: str = ""
    same: str = ""
    is_bare: bool = False
    is_else: bool = False
    weak: bool = False
    may_be_outcome: bool = False


def conditions_of(text: str) -> list[Found]:
    """Return the conditions that a text names, with the groups that its topics name."""
    found: list[Found] = []
    for one in (*_elses(text), *_numbers(text), *_sames(text), *_categories(text)):
        if not any(one.start < other.end and other.start < one.end for other in found):
            found.append(one)
    found = _bare_ones(text, sorted(found, key=lambda one: one.start))
    found = _without_outcomes(text, found)
    return _more(text, _even(text, _topics(text, found)))


def _topics(text: str, found: list[Found]) -> list[Found]:
    """Read `제주는 3천원이고 나머지는 무료`: a topic is a condition where others are told apart."""
    if found and not found[0].is_else:
        others = [one for one in found if not one.may_be_outcome]
        first = w.WHO.match(text)
        if others or first is None or first.end() > found[0].start:
            return found
        found = []
    until = found[0].start if found else len(text)
    topics: list[Found] = []
    at, about = 0, _about(text, until)
    while match := w.WHO.match(text, at + len(about), until):
        values = [bare(value) for value in w.AMONG.split(match["who"])]
        where = w.WHERE.search(match["who"])
        column = about.strip()[:-1] or (where["what"] or "" if where else "")
        condition = Condition(column, ", ".join(f'"{value}"' for value in values), "string")
        topics.append(Found(at, match.end(), Link.THEN, condition, weak=True))
        about = ""
        following = last_break(text[match.end() : until])
        if following is None or match.end() + following >= until:
            break
        at = match.end() + following
    if not topics:
        return found
    said = _between(text, topics)
    if not found and all(map(w.PLACED.match, said)):
        raise NotARule("where things are")
    crisp = found or (all(map(w.CRISP.search, said)) and (_alike(topics) or _measured(said)))
    return [*topics, *found] if crisp else found


def _about(text: str, until: int) -> str:
    """Return what several topics are about: `출장비는 ` before `국내는 5만원, 해외는 12만원`."""
    first = w.WHO.match(text, 0, until)
    if first is None or not w.ABOUT.search(first["who"]) or " " in first["who"]:
        return ""
    second = w.WHO.match(text, first.end(), until)
    is_next = second is not None and len(second["who"].split()) < 3
    return first[0] if is_next else ""


def _measured(said: list[str]) -> bool:
    """Whether all of several outcomes begin with a number of one unit."""
    found = [amounts(text, korean=True) for text in said]
    firsts = [one[0] for one in found if one and one[0].kind == "number" and one[0].unit]
    return len(firsts) == len(said) > 1 and len({one.unit for one in firsts}) == 1


def _alike(topics: list[Found]) -> bool:
    """Whether topics name groups of one kind: `회원은 …, 비회원은 …`."""
    values = [value_of(topic.condition) for topic in topics if topic.condition]
    ends = {value.split()[-1][-1] for value in values}
    return len(ends) == 1 or all(w.WHOSE.search(v) or v in w.GROUPS for v in values)


def _more(text: str, found: list[Found]) -> list[Found]:
    """Read `신규 회원이면 무료, 기존 회원은 해당 없음`: a topic beside a group is another group."""
    last = found[-1] if found else None
    kind = last.condition.kind if last and last.condition else ""
    if last is None or last.link is not Link.THEN or kind != "string":
        return found
    for match in w.WORDS.finditer(text, last.end):
        if not w.BREAK.search(match[0].rstrip()) or w.NOT_JOINS.search(match[0].rstrip()):
            continue
        who = w.WHO.match(text, match.end())
        if who is not None:
            condition = Condition("", f'"{bare(who["who"])}"', "string")
            return [*found, Found(match.end(), who.end(), Link.THEN, condition)]
    return found


def bare(value: str) -> str:
    """Return a group less what leads to it: `울릉도로 가는 택배` is `울릉도`."""
    plain = w.WHERE.sub("", value).strip()
    if not plain or len(plain.split()) > 3 or w.ORDINAL.search(plain):
        raise NotARule("a value of many words")
    return plain


def _even(text: str, found: list[Found]) -> list[Found]:
    """Read `100만원을 넘어도 VIP 고객은 …`: the topic is the condition that counts."""
    if not found or found[-1].link is not Link.EVEN:
        return found
    at = found[-1].end + len(text[found[-1].end :]) - len(text[found[-1].end :].lstrip())
    match = w.WHO.match(text, at)
    if match is None:
        return found
    condition = Condition("", f'"{bare(match["who"])}"', "string")
    return [*found, Found(at, match.end(), Link.THEN, condition)]


def _between(text: str, found: list[Found]) -> list[str]:
    ends = [*(one.start for one in found[1:]), len(text)]
    return [text[one.end : end] for one, end in zip(found, ends, strict=True)]


def _without_outcomes(text: str, found: list[Found]) -> list[Found]:
    """Leave out what is part of an outcome: no new clause has begun since the last condition.

    What follows a topic at once is another condition: `19세 미만은 동의서가 없으면`.
    """
    kept: list[Found] = []
    for one in found:
        before = kept[-1] if kept else None
        inside = before is not None and before.link is Link.THEN
        if inside and before is not None and last_break(text[before.end : one.start]) is None:
            if one.may_be_outcome or one.is_bare:
                continue
            is_topic = w.IS_TOPIC.search(text[: before.end].rstrip(" ,")) is not None
            is_near = len(text[before.end : one.start].split()) < 3
            if not (is_topic and is_near) or before.is_else or one.is_else or one.same:
                raise NotARule("two conditions without an outcome between them")
            kept[-1] = replace(before, link=Link.EVEN)
        kept.append(one)
    return kept


def _bare_ones(text: str, found: list[Found]) -> list[Found]:
    """Leave out limits that nothing marks as conditions, but where one stands beside another.

    `5kg까지 4천원, 10kg까지 6천원` states two; `3일 이내 답변` is what is to be done.
    """
    if not any(one.is_bare for one in found):
        return found
    told = [one for one in found if one.same or (one.condition and one.condition.kind != "string")]
    units = {(one.condition.kind, one.condition.unit) for one in told if one.condition}
    between = [text[a.end : b.start] for a, b in pairwise(told)]
    begun = all(part.strip() and last_break(part) == len(part) for part in between)
    if len(told) > 1 and len(units) == 1 and begun:
        return found
    if any(one.is_bare and w.LIMIT.search(text[one.start : one.end]) for one in found):
        raise NotARule("a comparison that nothing follows")
    return [one for one in found if not one.is_bare]


def _elses(text: str) -> Iterator[Found]:
    for match in w.ELSE.finditer(text):
        before = text[: match.start()]
        if match[0].startswith("아") and before and last_break(before) != len(before):
            continue  # "서울 아니면" is about Seoul
        yield Found(match.start(), match.end(), Link.THEN, is_else=True)


def _sames(text: str) -> Iterator[Found]:
    for match in w.SAME.finditer(text):
        end = _ending(text, match.end())
        if end is None:
            raise NotARule("a comparison that nothing follows")
        sign = (
            "both"
            if match["both"]
            else w.SAME_SIGNS[match["word"] or match["word2"] or match["more"]]
        )
        yield Found(match.start(), end[0], end[1], noun=end[2], done=end[3], same=sign)


def _numbers(text: str) -> Iterator[Found]:
    found = amounts(text, korean=True)
    skip = 0
    for at, one in enumerate(found):
        if at < skip:
            continue
        if one.kind == "unclear":
            if _sign(text, one) is not None:
                raise NotARule("a time that may be in the morning or in the afternoon")
            continue
        other = found[at + 1] if at + 1 < len(found) else None
        span = _range(text, one, other) if other is not None else None
        if span is not None and other is not None:
            test, end = span
            skip = at + 2
        else:
            compared = _sign(text, one)
            if compared is None and w.EQUAL.match(text, one.end):
                compared = "=", one.end
            if compared is None:
                continue
            test, end = f"{compared[0]} {one.text}".removeprefix("= "), compared[1]
        unit = one.unit or (other.unit if span and other else "")
        limit = _number(text, one, end, Condition("", test, one.kind, unit))
        if limit is not None:
            yield limit


def _number(text: str, one: Amount, end: int, condition: Condition) -> Found | None:
    """Return a compared number as a condition; None where it is a term in an outcome."""
    ending = _ending(text, end)
    if ending is not None:
        until, link, noun, done = ending
        is_only = text[:until].endswith("만")
        return Found(one.start, until, link, condition, noun, done, weak=is_only)
    if re.match(r"\s(?=[^\s,])", text[end:]):
        return Found(one.start, end + 1, Link.THEN, condition, is_bare=True)
    if w.LIMIT.search(text[one.end : end]):
        raise NotARule("a comparison that nothing follows")
    return None  # as in "3일 이내에 답변"


def _range(text: str, low: Amount, high: Amount) -> tuple[str, int] | None:
    """Return the test of `10명에서 30명 사이` or `10만원 이상 50만원 미만`, and its end."""
    between = text[low.end : high.start]
    if low.kind != high.kind or (low.unit and high.unit and low.unit != high.unit):
        return None
    if re.fullmatch(r"(?:이?나|또는|혹은)\s", between) and _follow(low, high):
        return f"[{low.text}..{high.text}]", high.end
    if re.fullmatch(r"\s?(?:에서|부터|~|-|–)\s?", between):
        closing = re.match(r"\s?(?:사이|까지|이하|미만)", text[high.end :])
        end = high.end + (closing.end() if closing else 0)
        bracket = ")" if closing and "미만" in closing[0] else "]"
        if float(low.text) >= float(high.text) if low.kind == "number" else False:
            return None
        return f"[{low.text}..{high.text}{bracket}", end
    one, other = _sign(text, low), _sign(text, high)
    if one is None or other is None or not w.UP_TO.fullmatch(text[one[1] : high.start]):
        return None
    if not (one[0].startswith(">") and other[0].startswith("<")):
        return None
    brackets = "[" if one[0] == ">=" else "(", "]" if other[0] == "<=" else ")"
    return f"{brackets[0]}{low.text}..{high.text}{brackets[1]}", other[1]


def _follow(low: Amount, high: Amount) -> bool:
    """Whether both are whole numbers with none between them: `하루나 이틀`."""
    whole = low.kind == "number" and low.text.isdigit() and high.text.isdigit()
    return whole and int(high.text) - int(low.text) == 1


def _sign(text: str, one: Amount) -> tuple[str, int] | None:
    for sign, words in w.COMPARED if one.kind == "number" else w.MOMENTS:
        if match := re.compile(words).match(text, one.end):
            return sign, match.end()
    return None


def _ending(text: str, at: int) -> tuple[int, Link, str, str] | None:
    """Return where a condition ends, what follows, the noun that it is about, and what it did."""
    if match := w.SOON.match(text, at):
        return match.end(), Link.THEN, "", ""
    if match := w.DONE.match(text, at):
        return match.end(), Link.THEN, match["noun"], ""
    for link, pattern in (
        (Link.EVEN, w.EVEN),
        (Link.OR, w.OR),
        (Link.AND, w.AND),
        (Link.THEN, w.IF),
    ):
        if match := pattern.match(text, at):
            return match.end(), link, "", ""
    happens = w.HAPPENS.match(text, at)
    if happens and happens["verb"].startswith("안 ") and w.BY_THEN.search(text[:at]):
        raise NotARule("something that does not happen in time")
    if match := happens:
        return match.end(), Link.THEN, nominal(match["verb"]), ""
    topic = None if w.STEM.search(text[:at]) else w.TOPIC.match(text, at)
    if topic:
        return topic.end(), Link.THEN, "", ""
    if match := w.HEAD.match(text, at):
        done = w.DONE_NOUN.fullmatch(match["done"] or "")
        return match.end(), Link.THEN, match["noun"] or "", done["noun"] if done else ""
    return None


def _categories(text: str) -> Iterator[Found]:
    for match in w.HAS.finditer(text):
        test = '"있음"' if match["has"] == "있" else '"없음"'
        link = (
            Link.THEN
            if match["if"]
            else Link.AND
            if match["and"]
            else Link.OR
            if match["or"]
            else Link.EVEN
        )
        if (match["what"] or "").endswith("만") and w.SUFFICES.match(text, match.end()):
            continue  # `확인서만 있으면 됩니다`
        condition = Condition(match["what"] or "", test, "string")
        yield Found(match.start(), match.end(), link, condition, may_be_outcome=not match["if"])
    for match in w.BY.finditer(text):
        done = match["noun"] or ""
        how = Condition(done, f'"{match["value"]}"', "string")
        yield Found(match.start(), match.end(), Link.THEN, how)
    taken = [(one.start, one.end) for one in amounts(text, korean=True)]
    for match in w.IS.finditer(text):
        if any(start < match.end("value") and match.start("value") < end for start, end in taken):
            continue
        group = match.groupdict()
        value = group["value"]
        bare = match["if"] == "면"
        if re.search(r"\d$", value) or w.ORDINAL.search(value):
            continue
        listed = (
            w.LISTED.match(text[: match.start()].rsplit(maxsplit=1)[-1])
            if text[: match.start()].strip()
            else None
        )
        if bare and not w.is_thing(value) and not listed:
            continue
        if bare and re.match(r" ?(?:되|됩|돼|된|안 )", text[match.end() :]):
            continue
        condition = Condition("", f'"{value}"', "string")
        if group["not"] or group["not_and"]:
            condition = condition.negated
        link = (
            Link.THEN if group["if"] or group["not"] else Link.OR if group["or"]
            else Link.EVEN if group["even"] else Link.AND
        )  # fmt: skip
        yield Found(
            match.start(), match.end(), link, condition, may_be_outcome=link is not Link.THEN
        )


def last_break(rest: str) -> int | None:
    """Return where the last clause of a text begins; its end if the last one has ended there."""
    found = None
    for match in w.WORDS.finditer(rest):
        word = match[0].rstrip()
        if w.BREAK.search(word) and not w.NOT_JOINS.search(word):
            found = match.end()
    return found


def value_of(condition: Condition) -> str:
    """Return the value that a condition on a text compares with."""
    return condition.test.removeprefix("not(").removesuffix(")").strip('"')


_M = 16  # the place of ㅁ among the final consonants of a syllable


def nominal(stem: str) -> str:
    """Return the noun of a verb's stem: `늦` is `늦음`, `받아야 하` is `받아야 함`."""
    last = stem[-1:]
    if not "가" <= last <= "힣":
        return stem
    if (ord(last) - ord("가")) % 28 == 0:  # no consonant closes the syllable: it takes one
        if stem.endswith(w.OPEN_NOUNS):
            return stem
        return stem[:-1] + chr(ord(last) + _M)
    return f"{stem}음"
