"""Conditions and outcomes of a Korean sentence: its endings tell which is which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.agent.offline.stated import korean_words as w
from core.agent.offline.stated.amounts import MONEY, amounts
from core.agent.offline.stated.beside import KOREAN_TOLD_FIRST
from core.agent.offline.stated.korean_conditions import (
    Found,
    Link,
    bare,
    conditions_of,
    last_break,
    nominal,
    value_of,
)
from core.agent.offline.stated.statement import Case, Condition, NotARule, otherwise

MAX_SUBJECT = 4  # words before a condition that may be its subject


def cases_of(sentence: str, before: Sequence[Case] = ()) -> list[Case]:
    """Return the cases of earlier sentences and those that this one states.

    Raises NotARule for anything that is neither a condition nor an outcome.
    """
    text = w.POLITE.sub("", re.sub(r"[.!~ㅠㅜㅎㅋ^ ]+$", "", sentence.strip()) + " ").strip()
    while lead := w.LEADS.match(text) or KOREAN_TOLD_FIRST.match(text):
        text = text[lead.end() :]
    label = w.LABEL.match(text)
    if label is not None and not w.TOLD.search(label["label"]):
        text = text[label.end() :]
    if (exception := w.EXCEPTION.search(text)) and before:
        plain = text[: exception.start()] + text[exception.end() :]
        return _excepted(list(before), cases_of(plain), sentence)
    if w.VAGUE.search(text) or w.EXCEPT.search(text):
        raise NotARule("a judgement or an exception")
    turned = w.POSTPOSED.fullmatch(text)
    if turned is not None and not conditions_of(f"{turned['then']} "):
        text = f"{turned['when']} {turned['then']}"
    about = label["label"] if label is not None else ""
    return _Reader(f"{text} ", sentence, list(before), about).read()


def _excepted(cases: list[Case], others: list[Case], sentence: str) -> list[Case]:
    """Take what a sentence excepts out of the one case before it."""
    if len(cases) != 1 or len(others) != 1 or len(others[0].when) != 1:
        raise NotARule("an exception to more than one condition")
    (rule,), (condition,) = cases, others[0].when
    if any(one.column == condition.column for one in rule.when):
        raise NotARule("an exception to its own condition")
    return [
        replace(rule, when=(*rule.when, condition.negated), weak=False),
        Case((*rule.when, condition), others[0].then, sentence),
    ]


class _Reader:
    def __init__(self, text: str, sentence: str, cases: list[Case], about: str) -> None:
        self._text = text
        self._about = about
        self._sentence = sentence
        self._cases = cases
        self._held: list[Condition] = []
        self._kept: list[Condition] = []
        self._is_whose = False
        self._either: list[tuple[Condition, ...]] = []

    def read(self) -> list[Case]:
        """Return the cases, earlier ones included."""
        found = conditions_of(self._text)
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
        self._check_groups(any(one.is_else for one in found))
        return self._cases

    def _check_groups(self, has_else: bool) -> None:
        """Raise NotARule where numbers of several groups, or of one and the rest, are compared."""
        columns = {one.column.split()[0]: one.column.split()[-1] for one in self._all()}
        groups = [
            last for first, last in columns.items() if w.GROUP.search(first) and first != last
        ]
        if len(groups) > len(set(groups)) or (groups and has_else):
            raise NotARule("who it is about is a condition too")

    def _check_words(self, said: str, condition: Condition) -> None:
        """Raise NotARule where a word of a condition is in neither its column nor its test."""
        kept = f"{condition.column} {condition.test}"
        topic = w.ALL.match(said)
        if topic and w.ABOUT.search(topic["topic"]) and not _is_some(topic["topic"].split()):
            said = said[topic.end() :]  # what is decided, as in `숙박비 한도는 서울이면`
        for one in reversed(amounts(said, korean=True)):
            said = f"{said[: one.start]} 0{said[one.end :]}"
        for word in re.findall(r"[가-힣A-Za-z]+", w.FORMS.sub(" ", said)):
            ends = range(len(word), 0, -1)
            if not any(word[:end] in kept and w.END.fullmatch(word[end:]) for end in ends):
                raise NotARule(f"a word that no row has: {word}")

    def _hold(self, one: Found, before: str) -> None:
        subject = before.strip(" ,")
        if "," in subject or last_break(before) is not None:
            raise NotARule("another clause before the condition")
        if one.is_else:
            if subject:
                raise NotARule("words before what is left")
            return
        topic, subject = _topic(subject)
        if w.WHOSE.search(topic):
            self._kept = [kept for kept in self._kept if kept.column != "조건"]
            self._kept.append(Condition("조건", f'"{bare(topic)}"', "string"))
            self._is_whose = True
        condition = self._named(one, subject)
        self._check_words(f"{subject} {self._text[one.start : one.end]}", condition)
        self._held.append(condition)
        if one.link is Link.EVEN:
            self._kept.append(condition)
        if one.link is Link.OR:
            if len(self._held) > 1:
                raise NotARule("conditions of which nobody can tell how they go together")
            self._either.append((*self._kept, *self._held))
            self._held = []

    def _close(self, one: Found, outcome: str) -> None:
        if one.is_else:
            if self._is_whose:
                raise NotARule("whether the others are of the same group")
            others = otherwise(self._cases)
            self._cases.append(Case(others, outcome, self._sentence))
            return
        texts = all(one.kind == "string" for one in self._held)
        if texts and w.TERM.search(outcome) and not w.DO_WITHIN.search(outcome):
            raise NotARule("a term that may be a condition")
        if self._either and len(self._held) > 1:
            raise NotARule("conditions of which nobody can tell how they go together")
        if not self._is_whose and self._lacks_group():
            raise NotARule("whether it is about the same group")
        kept = [k for k in self._kept if not any(k.column == held.column for held in self._held)]
        for when in (*self._either, (*kept, *self._held)):
            self._cases.append(Case(when, outcome, self._sentence, one.weak))
        self._held, self._either = [], []

    def _lacks_group(self) -> bool:
        """Whether an earlier case has a group beside a column that this one has alone."""
        mine = {one.column for one in self._held}
        return (
            any(
                len(case.when) > 1
                and case.when[0].column == "조건"
                and mine & {o.column for o in case.when[1:]}
                for case in self._cases
            )
            and "조건" not in mine
        )

    def _named(self, one: Found, words: str) -> Condition:
        """Return the condition with its column, from the words before it or the noun after it."""
        condition = one.condition or self._compared(one.same)
        if condition.kind == "string":
            return self._category(condition, words)
        subject = _subject(words, condition)
        if not subject and one.same:
            return condition
        noun = "" if one.noun in w.GENERIC else one.noun.removesuffix("들")
        if subject and len(noun) == 1:
            raise NotARule("a thing that may be a condition")
        if self._about and _is_some(self._about.split()):
            raise NotARule("what all is about may be a condition")
        if noun and (w.NARROWING.match(noun) or noun in w.GROUPS):
            raise NotARule("who it is about is a condition too")
        earlier = self._earlier(condition)
        default = _default(condition)
        if not subject and earlier is not None:
            return replace(condition, column=earlier.column)
        if not subject:
            parts = [self._about, noun, one.done, default]
            column = " ".join(part for part in dict.fromkeys(parts) if part)
        else:
            column = f"{noun} {subject}" if noun and noun not in subject else subject
            if condition.kind != "number" and column[-1] not in "일각간짜":
                column = f"{column} {default}"
        return replace(condition, column=_with_unit(column, condition.unit))

    def _category(self, condition: Condition, words: str) -> Condition:
        earlier = next((c for c in self._all() if value_of(c) == value_of(condition)), None)
        if condition.column:
            words = w.OWNER.sub(r"\1", words)
            if words and (w.TAIL.search(words) or len(words.split()) > 2):
                raise NotARule("more before the condition than its subject")
            return replace(condition, column=f"{words} {condition.column}".strip())
        if _is_presence(condition):
            return replace(condition, column=self._last_presence(words))
        if value_of(condition) in {"건", "분", "사람"} and not w.PARTICIPLE.search(words):
            words, _, value = words.rpartition(" ")
            condition = replace(condition, test=_quoted(value, condition))
        column, value = _split_value(words)
        if listed := w.LISTED.match(value):
            condition = replace(condition, test=_among(listed["value"], condition))
        elif value:
            condition = replace(
                condition, test=_quoted(f"{value} {value_of(condition)}", condition)
            )
        known = [c for c in self._all() if c.kind == "string" and not _is_presence(c)]
        unsure = not column and not earlier and known and known[-1].column.startswith("조건")
        if unsure and not _in_one_group(known[-1], condition):
            raise NotARule("values of which nobody can tell whether they go together")
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
        last = next(
            (c for c in reversed(self._all()) if c.kind in {"number", "date", "time"}), None
        )
        if last is None:
            raise NotARule("it compares with a number that is not there")
        if sign == "both":
            if ".." not in last.test:
                raise NotARule("two sides of one limit")
            return last.negated
        if sign.startswith("~") and last.negated.test.startswith(sign[1]):
            return last.negated  # "below that" is all that was not said yet
        sign = sign.lstrip("~")
        low, between, high = last.test[1:-1].partition("..")
        number = (low if sign[0] == "<" else high) if between else last.test.split(" ")[-1]
        includes = last.test.endswith("]") if between else "=" in last.test
        is_value = len(last.test.split(" ")) == 1 and not between
        if is_value or (
            includes
            and {sign, last.test[0]}
            in (
                {">=", "["},
                {">=", "("},
                {">=", "<"},
                {"<=", ">"},
            )
        ):
            sign = sign[0]  # "that or more" after "up to that" begins beyond it
        return replace(last, test=f"{sign} {number}")

    def _earlier(self, condition: Condition) -> Condition | None:
        kind = (condition.kind, _default(condition))
        same = [c for c in self._all() if (c.kind, _default(c)) == kind]
        return same[-1] if same else None

    def _all(self) -> list[Condition]:
        held = [*self._kept, *(c for when in self._either for c in when), *self._held]
        return [*(c for case in self._cases for c in case.when), *held]


def _cut(rest: str, *, last: bool) -> tuple[str, str]:
    """Return the outcome that a text begins with, and the words before the next condition."""
    if last:
        return _outcome(rest), ""
    at = last_break(rest)
    if at is None:
        raise NotARule("an outcome that does not end")
    return _outcome(rest[:at]), rest[at:]


def _outcome(text: str) -> str:
    plain = text.strip(" .,;:/")
    if not re.search(r"\w", plain):
        raise NotARule("no outcome")
    without = w.IDIOMS.sub("", plain)
    if w.INSIDE.search(without) or w.ANOTHER.search(without) or w.FOR_SOME.search(plain):
        raise NotARule("an outcome with a condition of its own")
    who = re.match(r"((?:\S+ ){0,3}?\S+?)(?:은|는|에게는|한테는) ", plain)
    if who and (_is_some(who[1].split()) or w.WHOSE.search(who[1]) or w.GROUP.search(who[1])):
        raise NotARule("an outcome for some of them")
    return _closed(plain)


def _closed(text: str) -> str:
    """Return an outcome that another follows (`받아야 하고`) as one that ends: `받아야 함`."""
    match = re.search(r"[가-힣](?:고|며|지만)$", text)
    if match is None or w.NOT_JOINS.search(text.rsplit(" ", 1)[-1]):
        return text
    return nominal(text[: match.start() + 1])


def _subject(words: str, condition: Condition) -> str:
    """Return the subject of a number: what stands before it, less its particle.

    Of a topic (`주차는 2시간까지`) it is what is counted of it.
    """
    parts = words.split()
    words = w.EACH.sub("", words)
    if len(parts) > MAX_SUBJECT or "보다" in words or w.TOLD.search(words):
        raise NotARule("more before the condition than its subject")
    if parts and parts[-1] == "만" and condition.unit == "세":
        parts.pop()
    if not parts:
        return ""
    if not words.strip():
        return f"{' '.join(parts)} {_default(condition)}"
    last = parts[-1]
    narrowed = len(parts) > 1 and (
        any(part in w.NARROWED for part in parts[:-1] if not w.OF_PERSON.search(last))
        or bool(w.WHOSE.search(w.PARTICLE.sub("", last)))
    )
    some = [part for part in parts if w.NARROWING.match(part) or part in w.GROUPS]
    is_compound = len(parts) == 1 and len(parts[0]) > 4  # `해외송금이`: the column says it
    if narrowed or (some and not is_compound):
        raise NotARule("who it is about is a condition too")
    parts[-1] = w.PARTICLE.sub("", last) or last
    if re.search("(?:은|는)$", last) and not w.measures(last[:-1], condition.unit):
        if len(parts) > 2 or not w.ABOUT.search(parts[-1]):
            raise NotARule("a topic that may be a condition")
        return f"{' '.join(parts)} {_default(condition)}"
    return " ".join([*(w.PARTICLE.sub("", word) or word for word in parts[:-1]), parts[-1]])


def _is_some(words: list[str]) -> bool:
    """Whether words name some of several: `해외 배송`, which is a condition beside another."""
    return any(w.NARROWING.match(word) or word in w.GROUPS or word in w.NARROWED for word in words)


def _topic(words: str) -> tuple[str, str]:
    """Return the topic that words begin with, if more follows it, and what follows."""
    parts = words.split()
    if parts and len(parts) < 4 and w.WHOSE.search(words[:-1]) and re.search("[은는]$", words):
        return words[:-1], ""
    ends = [
        at
        for at, word in enumerate(parts[:-1], 1)
        if re.search("(?:은|는)$", word) and word not in w.ADJECTIVES
    ]
    if not ends:
        return "", words
    topic = " ".join(parts[: ends[0]])[:-1]
    is_whole = w.ABOUT.search(topic) and not _is_some(topic.split()) and topic.count(" ") < 2
    if not w.WHOSE.search(topic) and not is_whole:
        raise NotARule("a topic that may be a condition")
    return topic, " ".join(parts[ends[0] :])


def _split_value(words: str) -> tuple[str, str]:
    """Return the column that words before a value name, and those that belong to the value."""
    parts = words.split()
    if len(parts) > MAX_SUBJECT:
        raise NotARule("more before the condition than its subject")
    value: list[str] = []
    while parts and not w.OWN.search(parts[-1]):
        value.insert(0, parts.pop())
    if w.ORDINAL.search(words) or w.TOLD.search(words):
        raise NotARule("a comparison without a number")
    if len(value) > 1:
        raise NotARule("a value of many words")
    if parts and re.search("(?:을|를|에|로|서|의)$", parts[-1]):
        raise NotARule("more before the condition than its subject")
    if parts and re.search("(?:은|는)$", parts[-1]):
        about = parts[-1][:-1]
        unknown = not w.ABOUT.search(about) and (len(parts) > 1 or w.PERSON.search(about))
        if unknown or _is_some([*parts[:-1], about]):
            raise NotARule("a topic that may be a condition")
        return "", " ".join(value)
    return " ".join([*parts[:-1], *(w.PARTICLE.sub("", word) for word in parts[-1:])]), " ".join(
        value
    )


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


def _quoted(value: str, like: Condition) -> str:
    return f'not("{value}")' if like.test.startswith("not(") else f'"{value}"'


def _in_one_group(one: Condition, other: Condition) -> bool:
    """Whether two values are of one kind, as `현금 결제` and `카드 결제` are."""
    a, b = value_of(one).split('"')[-1], value_of(other).split('"')[-1]
    return a[-1] == b[-1] or {a, b} <= w.GROUPS or a in b or b in a


def _among(value: str, last: Condition) -> str:
    tests = f'"{value}", "{value_of(last)}"'
    return f"not({tests})" if last.test.startswith("not(") else tests


def _is_presence(condition: Condition) -> bool:
    return value_of(condition) in {"있음", "없음"}
