"""Conditions and outcomes of a Korean sentence: its endings tell which is which."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from core.agent.offline.stated import korean_words as w
from core.agent.offline.stated.amounts import MONEY, Amount, amounts
from core.agent.offline.stated.statement import Case, Condition, NotARule, otherwise

MAX_SUBJECT = 4  # words before a condition that may be its subject


class Link(Enum):
    """What follows a condition: its outcome, or another condition."""

    THEN = "then"
    AND = "and"
    OR = "or"
    EVEN = "even"


@dataclass(frozen=True)
class _Found:
    """A condition and where it stands; `same` is a sign that compares with the last number."""

    start: int
    end: int
    link: Link
    condition: Condition | None = None
    noun: str = ""
    same: str = ""
    is_else: bool = False
    weak: bool = False
    may_be_outcome: bool = False


def cases_of(sentence: str, before: Sequence[Case] = ()) -> list[Case]:
    """Return the cases that a sentence states, after those of earlier sentences.

    Raises NotARule for anything that is neither a condition nor an outcome.
    """
    text = sentence.strip().rstrip(".!~ ")
    while lead := w.LEADS.match(text):
        text = text[lead.end() :]
    if w.VAGUE.search(text) or w.EXCEPT.search(text):
        raise NotARule("a judgement or an exception")
    return _Reader(text + " ", sentence, list(before)).read()[len(before) :]


class _Reader:
    def __init__(self, text: str, sentence: str, cases: list[Case]) -> None:
        self._text = text
        self._sentence = sentence
        self._cases = cases
        self._held: list[Condition] = []
        self._kept: list[Condition] = []
        self._either: list[tuple[Condition, ...]] = []

    def read(self) -> list[Case]:
        """Return the cases, earlier ones included."""
        found = self._conditions()
        found = _more(self._text, _even(self._text, _topics(self._text, found)))
        if not found:
            raise NotARule("no condition")
        subject = self._text[: found[0].start]
        for at, one in enumerate(found):
            self._hold(one, subject)
            following = found[at + 1].start if at + 1 < len(found) else len(self._text)
            rest = self._text[one.end : following]
            if one.link is Link.THEN:
                outcome, subject = _cut(rest, last=at + 1 == len(found))
                self._close(one, outcome)
            else:
                subject = rest
        if self._held or self._either:
            raise NotARule("a condition without an outcome")
        return self._cases

    def _hold(self, one: _Found, before: str) -> None:
        subject = before.strip(" ,")
        if one.is_else:
            if subject:
                raise NotARule("words before what is left")
            return
        topic, subject = _topic(subject)
        if w.WHOSE.search(topic):
            self._held.append(Condition("조건", f'"{_bare(topic)}"', "string"))
        condition = self._named(one, subject)
        self._held.append(condition)
        if one.link is Link.EVEN:
            self._kept.append(condition)
        if one.link is Link.OR:
            self._either.append((*self._kept, *self._held))
            self._held = []

    def _close(self, one: _Found, outcome: str) -> None:
        if one.is_else:
            others = otherwise(self._cases)
            self._cases.append(Case(others, outcome, self._sentence))
            return
        kept = [k for k in self._kept if not any(k.column == held.column for held in self._held)]
        for when in (*self._either, (*kept, *self._held)):
            self._cases.append(Case(when, outcome, self._sentence, one.weak))
        self._held, self._either = [], []

    def _named(self, one: _Found, words: str) -> Condition:
        """Return the condition with its column, from the words before it or the noun after it."""
        condition = one.condition or self._compared(one.same)
        if condition.kind == "string":
            return self._category(condition, words)
        subject = _subject(words, condition)
        if not subject and one.same:
            return condition
        noun = "" if one.noun in w.GENERIC else one.noun
        if noun and w.NARROWING.match(noun):
            raise NotARule("who it is about is a condition too")
        earlier = self._earlier(condition)
        default = _default(condition)
        if not subject and earlier is not None:
            return replace(condition, column=earlier.column)
        if not subject:
            column = f"{noun} {default}" if noun and default != noun else default
        else:
            column = f"{noun} {subject}" if noun and noun not in subject else subject
        return replace(condition, column=_with_unit(column, condition.unit))

    def _category(self, condition: Condition, words: str) -> Condition:
        earlier = next((c for c in self._all() if _value(c) == _value(condition)), None)
        if condition.column:
            if words and (w.TAIL.search(words) or len(words.split()) > 2):
                raise NotARule("more before the condition than its subject")
            return replace(condition, column=f"{words} {condition.column}".strip())
        if _is_presence(condition):
            return replace(condition, column=self._last_presence(words))
        column, value = _split_value(words)
        if listed := w.LISTED.match(value):
            condition = replace(condition, test=_among(listed["value"], condition))
        elif value:
            condition = replace(condition, test=_quoted(f"{value} {_value(condition)}", condition))
        known = [c for c in self._all() if c.kind == "string" and not _is_presence(c)]
        if not column and (earlier or known):
            column = (earlier or known[-1]).column
        column = column or "조건"
        taken = any(one.column == column for one in (*self._kept, *self._held))
        return replace(condition, column=f"{column} 2" if taken else column)

    def _last_presence(self, words: str) -> str:
        last = next((one for one in reversed(self._all()) if _is_presence(one)), None)
        if last is None or words:
            raise NotARule("nothing is said to be there")
        return last.column

    def _compared(self, sign: str) -> Condition:
        last = next((c for c in reversed(self._all()) if c.kind in {"number", "date", "time"}), None)
        if last is None:
            raise NotARule("it compares with a number that is not there")
        low, between, high = last.test[1:-1].partition("..")
        number = (low if sign[0] == "<" else high) if between else last.test.split(" ", 1)[1]
        includes = last.test.endswith("]") if between else "=" in last.test
        if includes and {sign, last.test[0]} in ({">=", "["}, {">=", "("}, {">=", "<"}, {"<=", ">"}):
            sign = sign[0]  # "that or more" after "up to that" begins beyond it
        return replace(last, test=f"{sign} {number}")

    def _earlier(self, condition: Condition) -> Condition | None:
        kind = (condition.kind, _default(condition))
        same = [c for c in self._all() if (c.kind, _default(c)) == kind]
        return same[-1] if same else None

    def _all(self) -> list[Condition]:
        held = [*self._kept, *(c for when in self._either for c in when), *self._held]
        return [*(c for case in self._cases for c in case.when), *held]

    def _conditions(self) -> list[_Found]:
        """Return the conditions of the text in order; none overlaps another."""
        found: list[_Found] = []
        text = self._text
        for one in (*_elses(text), *_numbers(text), *_sames(text), *_categories(text)):
            if not any(one.start < other.end and other.start < one.end for other in found):
                found.append(one)
        return _without_outcomes(text, sorted(found, key=lambda one: one.start))


def _topics(text: str, found: list[_Found]) -> list[_Found]:
    """Read `제주는 3천원이고 나머지는 무료`: a topic is a condition where others are told apart."""
    if found and not found[0].is_else:
        return found
    until = found[0].start if found else len(text)
    topics: list[_Found] = []
    at = 0
    while match := w.WHO.match(text, at, until):
        values = [_bare(value) for value in w.AMONG.split(match["who"])]
        condition = Condition("", ", ".join(f'"{value}"' for value in values), "string")
        topics.append(_Found(at, match.end(), Link.THEN, condition, weak=True))
        following = _last_break(text[match.end() : until])
        if following is None or match.end() + following >= until:
            break
        at = match.end() + following
    if not topics:
        return found
    crisp = found or (all(map(w.CRISP.search, _between(text, topics))) and _alike(topics))
    return [*topics, *found] if crisp else found


def _alike(topics: list[_Found]) -> bool:
    """Whether topics name groups of one kind: `회원은 …, 비회원은 …`."""
    values = [_value(topic.condition) for topic in topics if topic.condition]
    ends = {value.split()[-1][-1] for value in values}
    return len(ends) == 1 or all(w.WHOSE.search(v) or v in w.GROUPS for v in values)


def _more(text: str, found: list[_Found]) -> list[_Found]:
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
            condition = Condition("", f'"{_bare(who["who"])}"', "string")
            return [*found, _Found(match.end(), who.end(), Link.THEN, condition)]
    return found


def _even(text: str, found: list[_Found]) -> list[_Found]:
    """Read `100만원을 넘어도 VIP 고객은 …`: the topic is the condition that counts."""
    if not found or found[-1].link is not Link.EVEN:
        return found
    at = found[-1].end + len(text[found[-1].end :]) - len(text[found[-1].end :].lstrip())
    match = w.WHO.match(text, at)
    if match is None:
        return found
    condition = Condition("", f'"{_bare(match["who"])}"', "string")
    return [*found, _Found(at, match.end(), Link.THEN, condition)]


def _between(text: str, found: list[_Found]) -> list[str]:
    ends = [*(one.start for one in found[1:]), len(text)]
    return [text[one.end : end] for one, end in zip(found, ends, strict=True)]


def _bare(value: str) -> str:
    plain = w.WHERE.sub("", value).strip()
    most = 3 if w.WHOSE.search(plain) else 2
    if not plain or len(plain.split()) > most or w.ORDINAL.search(plain):
        raise NotARule("a value of many words")
    return plain


def _without_outcomes(text: str, found: list[_Found]) -> list[_Found]:
    """Leave out what is part of an outcome: no new clause has begun since the last condition."""
    kept: list[_Found] = []
    for one in found:
        before = kept[-1] if kept else None
        inside = before is not None and before.link is Link.THEN
        if inside and before is not None and _last_break(text[before.end : one.start]) is None:
            if not one.may_be_outcome:
                raise NotARule("two conditions without an outcome between them")
            continue
        kept.append(one)
    return kept


def _elses(text: str) -> Iterator[_Found]:
    for match in w.ELSE.finditer(text):
        before = text[: match.start()]
        if match[0].startswith("아") and before and _last_break(before) != len(before):
            continue  # "서울 아니면" is about Seoul
        yield _Found(match.start(), match.end(), Link.THEN, is_else=True)


def _sames(text: str) -> Iterator[_Found]:
    for match in w.SAME.finditer(text):
        end = _ending(text, match.end())
        if end is None:
            raise NotARule("a comparison that nothing follows")
        sign = w.SAME_SIGNS[match["word"] or match["more"]]
        yield _Found(match.start(), end[0], end[1], noun=end[2], same=sign)


def _numbers(text: str) -> Iterator[_Found]:
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
        ending = _ending(text, end)
        if ending is None:
            if w.LIMIT.search(text[one.end : end]):
                raise NotARule("a comparison that nothing follows")
            continue  # a term in an outcome, as in "3일 이내에 답변"
        unit = one.unit or (other.unit if span and other else "")
        condition = Condition("", test, one.kind, unit)
        yield _Found(one.start, ending[0], ending[1], condition, noun=ending[2])


def _range(text: str, low: Amount, high: Amount) -> tuple[str, int] | None:
    """Return the test of `10명에서 30명 사이` or `10만원 이상 50만원 미만`, and its end."""
    between = text[low.end : high.start]
    if low.kind != high.kind or (low.unit and high.unit and low.unit != high.unit):
        return None
    if re.fullmatch(r"\s?(?:에서|부터|~|-|–)\s?", between):
        closing = re.match(r"\s?(?:사이|까지|이하|미만)", text[high.end :])
        end = high.end + (closing.end() if closing else 0)
        bracket = ")" if closing and "미만" in closing[0] else "]"
        if float(low.text) >= float(high.text) if low.kind == "number" else False:
            return None
        return f"[{low.text}..{high.text}{bracket}", end
    one, other = _sign(text, low), _sign(text, high)
    if one is None or other is None or not re.fullmatch(r"(?:이고|이면서|,|부터)?\s", text[one[1] : high.start]):
        return None
    if not (one[0].startswith(">") and other[0].startswith("<")):
        return None
    brackets = "[" if one[0] == ">=" else "(", "]" if other[0] == "<=" else ")"
    return f"{brackets[0]}{low.text}..{high.text}{brackets[1]}", other[1]


def _sign(text: str, one: Amount) -> tuple[str, int] | None:
    for sign, words in w.COMPARED if one.kind == "number" else w.MOMENTS:
        if match := re.compile(words).match(text, one.end):
            return sign, match.end()
    return None


def _ending(text: str, at: int) -> tuple[int, Link, str] | None:
    """Return where a condition ends, what follows, and the noun that it is about."""
    if match := w.SOON.match(text, at):
        return match.end(), Link.THEN, ""
    if match := w.DONE.match(text, at):
        return match.end(), Link.THEN, match["noun"]
    for link, pattern in ((Link.EVEN, w.EVEN), (Link.OR, w.OR), (Link.AND, w.AND), (Link.THEN, w.IF)):
        if match := pattern.match(text, at):
            return match.end(), link, ""
    topic = None if w.STEM.search(text[:at]) else w.TOPIC.match(text, at)
    if topic:
        return topic.end(), Link.THEN, ""
    if match := w.HEAD.match(text, at):
        return match.end(), Link.THEN, match["noun"] or ""
    return None


def _categories(text: str) -> Iterator[_Found]:
    for match in w.HAS.finditer(text):
        test = '"있음"' if match["has"] == "있" else '"없음"'
        link = Link.THEN if match["if"] else Link.AND if match["and"] else Link.OR if match["or"] else Link.EVEN
        condition = Condition(match["what"] or "", test, "string")
        yield _Found(match.start(), match.end(), link, condition, may_be_outcome=not match["if"])
    taken = [(one.start, one.end) for one in amounts(text, korean=True)]
    for match in w.IS.finditer(text):
        if any(start < match.end("value") and match.start("value") < end for start, end in taken):
            continue
        group = match.groupdict()
        value = group["value"]
        bare = match["if"] == "면"
        if re.search(r"\d$", value) or w.ORDINAL.search(value):
            continue
        listed = w.LISTED.match(text[: match.start()].rsplit(maxsplit=1)[-1]) if text[: match.start()].strip() else None
        if bare and not w.is_thing(value) and not listed:
            continue
        if bare and re.match(r" ?(?:되|됩|돼|된|안 )", text[match.end() - 1 :]):
            continue
        condition = Condition("", f'"{value}"', "string")
        if group["not"] or group["not_and"]:
            condition = condition.negated
        link = (
            Link.THEN if group["if"] or group["not"] else Link.OR if group["or"]
            else Link.EVEN if group["even"] else Link.AND
        )  # fmt: skip
        yield _Found(match.start(), match.end(), link, condition, may_be_outcome=link is not Link.THEN)


def _cut(rest: str, *, last: bool) -> tuple[str, str]:
    """Return the outcome that a text begins with, and the words before the next condition."""
    if last:
        return _outcome(rest), ""
    at = _last_break(rest)
    if at is None:
        raise NotARule("an outcome that does not end")
    return _outcome(rest[:at]), rest[at:]


def _last_break(rest: str) -> int | None:
    """Return where the last clause of a text begins; its end if the last one has ended there."""
    found = None
    for match in w.WORDS.finditer(rest):
        word = match[0].rstrip()
        if w.BREAK.search(word) and not w.NOT_JOINS.search(word):
            found = match.end()
    return found


def _outcome(text: str) -> str:
    plain = text.strip(" .,;:/")
    if not re.search(r"\w", plain):
        raise NotARule("no outcome")
    if w.INSIDE.search(w.IDIOMS.sub("", plain)) or w.ANOTHER.search(plain):
        raise NotARule("an outcome with a condition of its own")
    return _closed(plain)


def _closed(text: str) -> str:
    """Return an outcome that another follows (`받아야 하고`) as one that ends: `받아야 함`."""
    match = re.search(r"([가-힣])(?:고|며|지만)$", text)
    if match is None or w.NOT_JOINS.search(text.rsplit(" ", 1)[-1]):
        return text
    stem = ord(match[1]) - 0xAC00
    if match[1] == "이" or stem % 28 == 8:
        return text[: match.start() + 1] + ("ㅁ" if stem % 28 == 8 else "임")[:0] + ("임" if match[1] == "이" else "")
    if stem % 28:
        return text[: match.start() + 1] + "음"
    return text[: match.start()] + chr(0xAC00 + stem + 16)


def _subject(words: str, condition: Condition) -> str:
    """Return the subject of a number: what stands before it, less its particle.

    Of a topic (`주차는 2시간까지`) it is what is counted of it.
    """
    parts = words.split()
    if len(parts) > MAX_SUBJECT or "보다" in words:
        raise NotARule("more before the condition than its subject")
    if parts and parts[-1] == "만" and condition.unit == "세":
        parts.pop()
    if not parts:
        return ""
    last = parts[-1]
    parts[-1] = w.PARTICLE.sub("", last) or last
    if re.search("(?:은|는)$", last) and not w.measures(last[:-1], condition.unit):
        if len(parts) > 2 or not w.ABOUT.search(parts[-1]) and (
            len(parts) > 1 or w.PERSON.search(parts[-1])
        ):
            raise NotARule("a topic that may be a condition")
        return f"{' '.join(parts)} {_default(condition)}"
    return " ".join(parts)


def _topic(words: str) -> tuple[str, str]:
    """Return the topic that words begin with, if more follows it, and what follows."""
    parts = words.split()
    ends = [at for at, word in enumerate(parts[:-1], 1) if re.search("(?:은|는)$", word)]
    if not ends:
        return "", words
    topic = " ".join(parts[: ends[0]])[:-1]
    if not w.WHOSE.search(topic) and not w.ABOUT.search(topic):
        raise NotARule("a topic that may be a condition")
    return topic, " ".join(parts[ends[0] :])


def _split_value(words: str) -> tuple[str, str]:
    """Return the column that words before a value name, and those that belong to the value."""
    parts = words.split()
    if len(parts) > MAX_SUBJECT:
        raise NotARule("more before the condition than its subject")
    value: list[str] = []
    while parts and not re.search("(?:이|가|은|는|을|를|에|로|서|의)$", parts[-1]):
        value.insert(0, parts.pop())
    if w.ORDINAL.search(words):
        raise NotARule("a comparison without a number")
    if len(value) > 1:
        raise NotARule("a value of many words")
    if parts and re.search("(?:을|를|에|로|서|의)$", parts[-1]):
        raise NotARule("more before the condition than its subject")
    if parts and re.search("(?:은|는)$", parts[-1]):
        if not w.ABOUT.search(parts[-1][:-1]):
            raise NotARule("a topic that may be a condition")
        return "", " ".join(value)
    return " ".join([*parts[:-1], *(w.PARTICLE.sub("", word) for word in parts[-1:])]), " ".join(value)


def _default(condition: Condition) -> str:
    if condition.kind == "date":
        return "날짜"
    if condition.kind == "time":
        return "시각"
    return w.DEFAULTS.get(condition.unit) or (
        "금액" if condition.unit in MONEY else condition.unit or "수량"
    )


def _with_unit(column: str, unit: str) -> str:
    shown = unit in w.DEFAULTS and unit not in {"세", "명", "개", "건", "회", "점"}
    return f"{column}({unit})" if shown and not column.endswith(f"({unit})") else column


def _value(condition: Condition) -> str:
    return condition.test.removeprefix("not(").removesuffix(")").strip('"')


def _among(value: str, last: Condition) -> str:
    tests = f'"{value}", "{_value(last)}"'
    return f"not({tests})" if last.test.startswith("not(") else tests


def _quoted(value: str, like: Condition) -> str:
    return f'not("{value}")' if like.test.startswith("not(") else f'"{value}"'


def _is_presence(condition: Condition) -> bool:
    return _value(condition) in {"있음", "없음"}
