"""Korean sentences as parts of a rule: in each clause conditions first, then the outcome."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.agent.offline.stated import korean_words as w
from core.agent.offline.stated.beside import KOREAN_TOLD_FIRST, narrows
from core.agent.offline.stated.found import Found
from core.agent.offline.stated.korean_conditions import conditions_of, value_of
from core.agent.offline.stated.statement import BEYOND, ELSE, Condition, NotARule, Part

_ADNOMINAL = re.compile(
    rf"[{''.join(chr(at) for at in range(0xAC04, 0xD7A4, 28))}는]$"
)  # ends as a verb before a noun does
_LEAD = 3  # words before a value that may name its column

_LONG = 40  # characters of what follows for one of several


@dataclass(frozen=True)
class Clause:
    """A stretch of a sentence up to a break, and the conditions in it."""

    text: str
    start: int
    found: tuple[Found, ...]
    against: bool = False

    @property
    def lead(self) -> str:
        """What stands before its first condition."""
        return self.text[: self.found[0].start - self.start].strip(" ,") if self.found else ""

    @property
    def tail(self) -> str:
        """What stands after its last condition."""
        return self.text[self.found[-1].end - self.start :].strip(" ,.;:/")


def parts_of(sentence: str, before: Sequence[Part]) -> tuple[list[Part], str]:
    """Return the parts that a sentence states, and what it says it is about."""
    text = w.REPEATED.sub("", w.JAMO.sub("", sentence).strip(" .!~;"))
    text = w.POLITE.sub("", text)
    for said, written in w.SHORT:
        text = re.sub(rf"{said}(?=\s)", written, text)
    text = re.sub(r"\s?\w+\((\d+\s?[~-]\s?\d+)\)", r" \1", text)
    if turned := w.POSTPOSED.fullmatch(text):
        text = f"{turned['when']} {turned['then']}"
    while led := w.OUTWARD.match(text):
        text = text[led.end() :]
    if told := KOREAN_TOLD_FIRST.match(text):
        if narrows(told[0]):
            raise NotARule("a story of some of them")
        text = text[told.end() :]
    text = w.ONLY_AS.sub("", w.BOUND_FOR.sub("", w.SEVERAL.sub(r"\1랑 \2", text)))
    if w.VAGUE.search(text) or w.EXCEPT.search(text):
        raise NotARule("a judgement or an exception")
    about = ""
    if label := w.LABEL.match(text):
        about, text = label["about"], text[label.end() :]
    return Sentence(text, sentence, bool(before)).parts(about)


class Sentence:
    """A sentence whose clauses are read in order; `follows`: others were read before it."""

    def __init__(self, text: str, sentence: str, follows: bool) -> None:
        self._text = text
        self._sentence = sentence
        self._follows = follows

    def parts(self, about: str) -> tuple[list[Part], str]:
        """Return the parts of the sentence, and what it says that they are about."""
        parts, told = self._read(_clauses(self._text), about)
        kinds = {
            any(one.kind == "string" for one in part.when) for part in parts if not part.is_rest
        }
        if len(kinds) == 2 and any(part.topic for part in parts):
            return self._read(_clauses(self._text, ordered=False), about)
        return parts, told

    def _read(self, clauses: list[Clause], about: str) -> tuple[list[Part], str]:
        parts: list[Part] = []
        at = 0
        if _is_nested(clauses):
            raise NotARule("some of one thing, beside another")
        if about == "" and clauses and not clauses[0].found:
            about, clauses = _about(clauses)
        while at < len(clauses):
            clause = clauses[at]
            if clause.found:
                parts += self.numbered(clause, about)
            elif named := _category(
                clause.text, bool(parts) or len(clauses) > at + 1 or self._follows
            ):
                value, outcome = named
                if w.PRICED.search(value) and (w.BARE.match(outcome) or w.BARE_WON.match(outcome)):
                    raise NotARule("some of what all are about")
                part = self._part((value_of("", value),), outcome, clause)
                parts.append(replace(part, trumps=w.TRUMPS.search(outcome) is not None))
            else:
                raise NotARule("a clause that states no rule")
            at += 1
        return parts, about

    def _part(
        self, when: Sequence[Condition], outcome: str, clause: Clause, topic: str = ""
    ) -> Part:
        joins = "but" if clause.against else ""
        return Part(tuple(when), outcome_of(outcome), self._sentence, topic=topic, joins=joins)

    def numbered(self, clause: Clause, about: str) -> list[Part]:
        """Return the parts of a clause with conditions, several where one of them is enough."""
        if not clause.tail:
            raise NotARule("a condition without an outcome")
        if w.TRUMPS.search(clause.tail) and clause.found[0].one.kind not in {ELSE, BEYOND}:
            raise NotARule("a limit whatever else holds")
        if w.UNREAD.search(clause.lead):
            raise NotARule("a condition that is not read")
        topic, name = _topic(clause.lead)
        first = clause.found[0]
        if first.one.kind in {ELSE, BEYOND} and (topic or name) and not topic.endswith(about):
            raise NotARule("words before what is left")
        if first.one.column == "?":
            if w.WHO.search(clause.lead) or re.search(r"\d", clause.lead):
                raise NotARule("who it is about is a condition too")
            if len(clause.lead.split()) > _LEAD:
                raise NotARule("a story before a condition")
            first = replace(
                first, one=replace(first.one, column=topic or " ".join(_content(name)) or "?")
            )
            topic, name = "", ""
        return self._stated(clause, first, topic, name)

    def _stated(self, clause: Clause, first: Found, topic: str, name: str) -> list[Part]:
        when: list[Condition] = []
        end = 0
        for found in (first, *clause.found[1:]):
            when.append(
                _named(found, clause.text[end : found.start - clause.start] if end else name)
            )
            end = found.end - clause.start
        links = [one.link for one in clause.found]
        over = "even" in links
        tail = clause.tail
        if links[-1] == "even" and (named := _category(tail, False)):
            when, tail = [*when, value_of("", named[0])], named[1]
        if any(one.head.strip() for one in clause.found) and len(when) > 1 and not over:
            raise NotARule("what several numbers are of")
        if links[-1] == "or":
            raise NotARule("a condition behind that is not read")
        if "or" in links[:-1]:
            if set(links[:-1]) != {"or"}:
                raise NotARule("conditions of which nobody can tell how they go together")
            return [self._part((one,), clause.tail, clause, topic) for one in when]
        when.sort(key=lambda one: over and not one.is_ordered and one.kind != BEYOND)
        part = self._part(when, tail, clause, topic)
        return [
            replace(
                part,
                overrides=over and len(when) > 1,
                is_only="only" in links,
                is_crisp=_is_crisp(when, tail),
                is_weak=links == ["bare"],
                is_group=bool(w.WHO.search(topic)),
                is_done_by=any(map(_is_done_by, clause.found)),
            )
        ]


def _is_crisp(when: Sequence[Condition], tail: str) -> bool:
    """Whether a value alone makes a rule: who somebody is, or what a number hangs on by name."""
    if len(when) != 1:
        return False
    is_named = when[0].column not in {"", "?"} and re.search(r"\d", tail) is not None
    return is_named or w.WHO.search(when[0].test.replace('"', " ")) is not None


def _named(found: Found, lead: str) -> Condition:
    """Return a condition with the column that the words before and after it name."""
    one = found.one
    if one.test in ('"있음"', '"없음"') or (one.is_ordered and one.column):
        said = "".join(_content(lead))
        return replace(one, column=said + one.column if one.column != "?" else said or "?")
    if one.kind in {ELSE, BEYOND, "string"}:
        names = _content(lead)
        if one.column == "?" and len(names) == 1 and lead.strip().endswith(("이", "가")):
            return replace(one, column=names[0])
        if names:
            raise NotARule("words that no column has")
        return one
    done = found.head.split()
    if len(done) > 1 and (done[-1] in w.ANYBODY or _is_done_by(found)):
        done.pop()
    said = " ".join([*_content(lead), *_content(" ".join(done))])
    if re.search(r"\d", said.replace("1인당", "").replace("1건당", "")):
        raise NotARule("a number before a condition")
    if one.unit == "명" and w.WHO.fullmatch(said):  # `손님 5명 이상이면` counts them
        return replace(one, column=f"{said} 수")
    if w.WHO.search(w.OWNER.sub(" ", said)):
        raise NotARule("who it is of is a condition too")
    return replace(one, column=said)


def _is_done_by(found: Found) -> bool:
    """Whether a limit is of what some do who may be all there are: `6개월 이상 등록한 회원`."""
    *done, who = found.head.split() or [""]
    return bool(done) and w.DOERS.fullmatch(who) is not None and bool(_ADNOMINAL.search(done[-1]))


def _content(text: str) -> list[str]:
    plain = [
        word if w.ENDS_SO.search(word) else w.PARTICLE.sub("", word)
        for word in text.replace(",", " ").split()
    ]
    return [word for word in plain if word and word not in w.GENERIC]


def _topic(lead: str) -> tuple[str, str]:
    """Return what a clause is about, and what names its number."""
    found = re.match(r"(?P<topic>(?:\S+ ){0,2}?\S+?)(?:은|는|에는|엔)\s(?P<rest>.*)$", f"{lead} ")
    if found is None or w.VERBAL.search(found["topic"]):
        return "", lead
    return found["topic"], found["rest"].strip()


def _clauses(text: str, *, ordered: bool = True) -> list[Clause]:
    """Return the clauses of a sentence; one that ends in a condition goes on in the next.

    Not `ordered`, compared numbers are of outcomes: `회원은 3권, 비회원은 1권까지`.
    """
    found = sorted(conditions_of(text), key=lambda one: one.start)
    found = [one for one in found if ordered or not one.one.is_ordered]
    clauses: list[Clause] = []
    start, against = 0, False
    for end, after in [
        *sorted({*_breaks(text, found), *_bare_breaks(text, found)}),
        (len(text), len(text)),
    ]:
        mine = tuple(one for one in found if start <= one.start < end)
        clause = Clause(text[start:end], start, mine, against)
        if mine and not clause.tail and after < len(text):
            continue
        if clauses and _goes_on(clause) and re.search(r"[고며서면데](?:요)?,?\s*$", text[:start]):
            clauses[-1] = replace(clauses[-1], text=text[clauses[-1].start : end])
        elif clause.text.strip(" ,."):
            clauses.append(clause)
        against = bool(w.AGAINST.search(text[start:after]))
        start = after
    return clauses


def _goes_on(clause: Clause) -> bool:
    """Whether a clause only adds to the outcome before it."""
    return not clause.found and re.search(r"\d|[은는](?=\s)", clause.text) is None


def _breaks(text: str, found: Sequence[Found]) -> Iterator[tuple[int, int]]:
    for match in w.BREAK.finditer(text):
        if any(one.start < match.end() - 1 and match.start() < one.end for one in found):
            inside = any(one.start < match.start() < one.end - 1 for one in found)
            if inside or not match[0].startswith(","):
                continue
        joint = match[0].strip(" ,")
        yield match.start() + len(joint), match.end()


def _bare_breaks(text: str, found: Sequence[Found]) -> Iterator[tuple[int, int]]:
    """Yield where a bare outcome ends: `4인 이하 1만원 5인 이상 3만원`."""
    for one, after in pairwise(found):
        gap = text[one.end : after.start]
        if gap.strip() and not w.BREAK.search(gap) and w.GIVEN.search(gap.strip()):
            yield after.start, after.start


def _about(clauses: list[Clause]) -> tuple[str, list[Clause]]:
    """Return what a first clause says that all are about, and the clauses without that."""
    first = clauses[0]
    if (label := w.LABELS.fullmatch(first.text)) and len(clauses) > 1:
        return label["about"], clauses[1:]
    topic = w.TOPIC.match(first.text)
    bare = [
        bool(w.BARE.match(one.text)) and not w.TOPIC.match(one.text)
        for one in clauses[1:]
        if not one.found
    ]
    if topic is None or w.VERBAL.search(topic["value"]):
        return "", clauses
    listed = any(bare) and w.BARE.match(first.text[topic.end() :])
    if listed and not all(bare) and not w.ATTRIBUTE.search(topic["value"]):
        raise NotARule("some of one thing, beside another")
    rest = first.text[topic.end() :]
    inner = w.TOPIC.match(rest)
    if (inner and not w.VERBAL.search(inner["value"]) and len(inner["value"]) < 12) or (
        any(bare) and w.BARE.match(rest)
    ):
        return topic["value"], [replace(first, text=rest), *clauses[1:]]
    return "", clauses


def _is_nested(clauses: Sequence[Clause]) -> bool:
    """Whether values stand within one: `국내는 사원 8만원, 팀장 12만원이고 해외는 20만원`."""
    plain = [one.text for one in clauses if not one.found]
    topics = [w.TOPIC.match(one) for one in plain]
    bare = [w.BARE.match(text) for text, topic in zip(plain, topics, strict=True) if not topic]
    within = [
        text[topic.end() :] for text, topic in zip(plain, topics, strict=True)
        if topic and not w.ATTRIBUTE.search(topic["value"])
    ]  # fmt: skip
    inner = [w.BARE.match(one) for one in within]
    return any(bare) and len(within) > 1 and any(
        one and not w.ATTRIBUTE.search(one["value"]) for one in inner
    )  # fmt: skip


def _category(text: str, is_beside: bool) -> tuple[str, str] | None:
    """Return the value and the outcome of a clause that names some of several."""
    topic = w.TOPIC.match(text)
    if topic and w.VERBAL.search(topic["value"]):
        topic = None
    found = topic or (w.BARE.match(text) if is_beside else None)
    if found is None:
        return None
    value, outcome = found["value"], text[found.end() :]
    if thing := re.match(r"(?:건|거|것은|거는) ", outcome):  # `제주로 가는 건`
        value, outcome = text[: found.end()].strip(), outcome[thing.end() :]
    if (
        re.search(r"\d|부터$|까지$|마다$|지$", value)
        or w.NO_NAME.search(value)
        or w.UNREAD.search(value)
        or not outcome.strip()
    ):
        return None
    if (
        len(outcome) > _LONG
        or w.ONLY_SOME.search(outcome)
        or w.REASON.search(w.MEANS.sub("", outcome))
    ):
        raise NotARule("a story")
    return value, outcome


_M = 16  # the place of ㅁ among the final consonants of a syllable


def outcome_of(text: str) -> str:
    """Return a text as an outcome. Raises NotARule if it has a condition of its own."""
    plain = text.strip(" .,;:/")
    if not re.search(r"\w", plain):
        raise NotARule("no outcome")
    if w.TWO_SAID.search(plain):
        raise NotARule("an outcome with another clause")
    if w.INSIDE.search(w.IDIOMS.sub("", plain)) or w.ONLY_FROM.search(plain):
        raise NotARule("an outcome with a condition of its own")
    if re.search(r"[은는] .*\d", plain) and w.WHO.search(plain.partition(" ")[0].rstrip("은는")):
        raise NotARule("an outcome for some of them")
    if w.PLACED.search(plain):
        raise NotARule("where something is")
    match = re.search(r"[가-힣](?:고|며|지만)$", plain)
    if match is None or w.NOT_JOINS.search(plain.rsplit(" ", 1)[-1]):
        return plain
    return nominal(plain[: match.start() + 1])


def nominal(stem: str) -> str:
    """Return the noun of a verb's stem: `늦` is `늦음`, `받아야 하` is `받아야 함`."""
    last = stem[-1:]
    if not "가" <= last <= "힣" or re.search(r"\d ?[가-힣]$", stem):
        return stem
    if (ord(last) - ord("가")) % 28 == 0:  # no consonant closes the syllable: it takes one
        return stem if stem.endswith(tuple(w.OPEN_NOUNS)) else stem[:-1] + chr(ord(last) + _M)
    return f"{stem}음"
