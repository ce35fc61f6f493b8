"""Parts that a text states, joined to the cases of one table; what does not fit makes none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from core.agent.offline.stated.amounts import MONEY, amounts
from core.agent.offline.stated.days import is_moment, spelled
from core.agent.offline.stated.english_words import GROUPED
from core.agent.offline.stated.limits import check_equal, complement, meet
from core.agent.offline.stated.statement import (
    BEYOND,
    ELSE,
    TIMES,
    Case,
    Condition,
    Ends,
    NotARule,
    Part,
    between,
    beyond,
    both,
    ends_of,
    in_unit,
    is_convertible,
    smaller,
)
from core.agent.offline.text import is_korean, letters, likeness

PRESENT = ('"있음"', '"없음"', '"해당"', "true", "false", '"with"', '"without"')
LACKING = ('"없음"', '"without"')
# What a number is of where nothing names it.
DEFAULTS = {
    **dict.fromkeys(("원", "달러", "유로"), "금액"),
    **dict.fromkeys(("년", "개월", "주", "일"), "기간"),
    **dict.fromkeys(("kg", "g"), "weight"), **dict.fromkeys(("$", "£", "€", "dollar"), "amount"),
    "세": "나이", "톤": "무게", "%": "%", "도": "온도", "시간": "시간", "분": "시간", "명": "인원",
    "건": "건수", "개": "수량", "점": "점수", "회": "횟수", "degree": "temperature",
    "person": "people", "km": "distance",
}  # fmt: skip
_ALWAYS = re.compile(r"항상|언제나|반드시|절대|\balways\b|\bnever\b", re.I)
_WITHIN = re.compile(r"\bwithin\b", re.I)
_SAME = 0.6  # likeness of two names of one column


def joined(parts: Sequence[Part], about: str = "", *, listed: bool = False) -> list[Case]:
    """Return the cases of parts about something. Raises NotARule if they make no one table.

    With `listed` all of them are known to be told in one manner.
    """
    group = "구분" if any(is_korean(part.sentence) for part in parts) else "kind"
    joiner = _Joiner(f"{about} {group}".strip(), listed=listed)
    if len(parts) == 1 and parts[0].is_weak:
        raise NotARule("a number that may be of the outcome")
    for part, after in pairwise([*parts, None]):
        if part is not None and part.is_only and not (after and _goes_beyond(after)):
            raise NotARule("what only says where it holds")
    for part in _with_topics(parts, joiner.group, about):
        joiner.add(part)
    cases = _checked(spelled(_apart(_in_one_unit(joiner.cases))))
    if len(cases) == 1 and not parts[0].is_crisp and _is_fact(cases[0]):
        raise NotARule("a fact of one group")
    groups = [case for case in cases if [one.column for one in case.when] == [joiner.group]]
    if len(groups) == len(cases) and any(_ALWAYS.search(case.then) for case in groups):
        raise NotARule("wishes about several things")
    return cases


def _goes_beyond(part: Part) -> bool:
    """Whether a part says what holds where the one before does not."""
    return part.is_rest or (
        not part.topic and all(one.is_ordered or one.kind == BEYOND for one in part.when)
    )


def _with_topics(parts: Sequence[Part], group: str, about: str) -> list[Part]:
    """Make a condition of what parts are about where they are about several things."""
    topics = list(dict.fromkeys(part.topic for part in parts if part.topic))
    limits = [one for part in parts for one in part.when if one.is_ordered]
    if any(part.is_done_by for part in parts) and not _is_told_both_ways(parts, limits):
        raise NotARule("what some do, who may not be all")
    if len(topics) < 2:
        if any(part.is_group for part in parts):
            raise NotARule("a rule for one group")
        named = any(one.column for part in parts for one in part.when if one.is_ordered)
        return [_named_after(part, "" if named else "".join(topics) or about) for part in parts]
    if any(part.is_weak for part in parts):
        raise NotARule("a limit that may be the outcome for each")
    told, topic = [], ""
    for part in parts:
        if part.topic and topic and part.topic != topic and part.joins == "but":
            raise NotARule("one thing set against another")
        topic = part.topic or topic
        if not topic:
            raise NotARule("a part about nothing told, beside others")
        mine = () if part.is_rest else (Condition(group, f'"{topic}"', "string"),)
        told.append(replace(part, when=(*mine, *part.when)))
    tiers = [
        {one.test for part in told if part.when[0].test == f'"{each}"' for one in part.when[1:]}
        for each in topics
    ]
    if any(one < other for one in tiers if one for other in tiers):
        raise NotARule("an exception to some of what is told of another")
    return told


def _is_told_both_ways(parts: Sequence[Part], limits: Sequence[Condition]) -> bool:
    beyond = any(one.kind == BEYOND for part in parts for one in part.when)
    alone = all(len(part.when) == 1 for part in parts)
    return alone and len(parts) > 1 and (beyond or (len(limits) == len(parts) and meet(limits)))


def _named_after(part: Part, topic: str) -> Part:
    nameless = [one for one in part.when if one.is_ordered and not one.column]
    if not topic or len(topic) > 20 or len({one.unit for one in nameless}) > 1:
        return part
    when = [
        replace(one, column=one.column or topic) if one.is_ordered else one for one in part.when
    ]
    return replace(part, when=tuple(when))


class _Joiner:
    def __init__(self, group: str, *, listed: bool = False) -> None:
        self.cases: list[Case] = []
        self._listed = listed
        self.group = group
        self._ordered: list[Condition] = []

    def add(self, part: Part) -> None:
        """Add the case of a part."""
        if part.trumps and not part.is_rest and part.when[0].is_ordered:
            over = self._trumped(part.when)
            self.cases.append(Case(tuple(over), part.then, part.sentence))
            return
        when: list[Condition] = []
        for one in part.when:
            if one.kind != ELSE:
                _put(when, self._named(one, when))
        self._check_later(part, when)
        if part.joins == "but" and not part.is_rest and _is_another(when, self.cases):
            raise NotARule("one thing set against another")
        if part.trumps and not part.is_rest:
            when = self._trumped(when)
        elif part.is_rest:
            when = self._left(when)
        elif part.overrides:
            self._take_out(when)
        else:
            when = self._inherited(when)
        self.cases.append(Case(tuple(when), part.then, part.sentence))

    def _check_later(self, part: Part, when: Sequence[Condition]) -> None:
        """Raise NotARule for one more value after a sentence that told several: of what is it?"""
        if len(when) != 1 or when[0].is_ordered or part.trumps or part.is_rest or self._listed:
            return
        earlier = [case for case in self.cases if case.sentence != part.sentence]
        column = [case for case in earlier if [one.column for one in case.when] == [when[0].column]]
        if len(column) > len({case.sentence for case in column}):
            raise NotARule("one more value beside others")

    def _named(self, one: Condition, when: Sequence[Condition]) -> Condition:
        if one.kind == BEYOND:
            return self._beyond(one)
        if not one.is_ordered:
            return replace(one, column=self._group_of(one))
        known = self._known(one, when)
        name = known.column if known and known.column else one.column
        found = replace(one, column=name, unit=one.unit or (known.unit if known else ""))
        if not name and any(
            not c.column and not is_convertible(c.unit, one.unit) for c in self._ordered
        ):
            found = replace(found, column=DEFAULTS.get(one.unit, ""))
        self._ordered.append(found)
        return found

    def _group_of(self, one: Condition) -> str:
        """Return the column of a value: where none is named, that of a value like it."""
        told = [c for case in self.cases for c in case.when if not c.is_ordered]
        if one.column not in {"", "?"}:
            same = (c.column for c in told if letters(c.column) == letters(one.column))
            return next(same, one.column)
        has = one.test.removeprefix("not(") in PRESENT
        if not has and any(c.column == self.group for c in told):
            return self.group
        alike = [c.column for c in told if (c.test in PRESENT) is has]
        if has and not alike:
            raise NotARule("nothing told that there is")
        return alike[-1] if alike else self.group

    def _known(self, one: Condition, when: Sequence[Condition]) -> Condition | None:
        """Return an earlier condition on the same quantity. Raises NotARule if that is unclear."""
        alike = [
            c for c in self._ordered if c.kind == one.kind and is_convertible(c.unit, one.unit)
        ]
        if not alike:
            return None
        for other in reversed(alike):
            if _is_one_name(other.column, one.column):
                return other
        if any(c.column == alike[-1].column for c in when) or not alike[-1].unit:
            return None
        raise NotARule("two quantities of one unit")

    def _beyond(self, one: Condition) -> Condition:
        if not self._ordered:
            raise NotARule("nothing to lie beyond of")
        column = self._ordered[-1].column
        seen = [c for case in self.cases for c in case.when if c.column == column]
        if not seen:
            raise NotARule("nothing to lie beyond of")
        if one.test == "again":
            return seen[-1]
        unit = smaller([c.unit for c in seen])
        if column.endswith("남은 기간"):  # what comes later has less time left
            one = replace(one, test={"up": "down"}.get(one.test, one.test))
        if one.test == "between":
            return between([in_unit(c, unit) for c in seen])
        found = beyond([in_unit(c, unit) for c in seen], one.test)
        self._ordered.append(found)
        return found

    def _left(self, when: Sequence[Condition]) -> list[Condition]:
        """Return the conditions of what is left; none where only the order can say."""
        if not self.cases:
            raise NotARule("nothing to be left of")
        last = self.cases[-1].when
        if any(
            one.is_ordered and GROUPED.search(one.column)
            for case in self.cases
            for one in case.when
        ):
            raise NotARule("what is left of a group, or of all")
        if when:
            left = otherwise(self.cases)
            if not left:
                raise NotARule("what is left of some")
            return [*left, *when]
        if len(self.cases) == 1 and len(last) > 1:
            return []
        return list(otherwise(self.cases))

    def _inherited(self, when: list[Condition]) -> list[Condition]:
        """Add what the case before depended on, where this one turns its last condition."""
        if not self.cases or len(when) != 1:
            return when
        columns = [one.column for one in self.cases[-1].when]
        if when[0].column in columns:
            return [*self.cases[-1].when[: columns.index(when[0].column)], *when]
        return when

    def _trumped(self, when: Sequence[Condition]) -> list[Condition]:
        """Let earlier cases hold only where what holds whatever else is told does not."""
        if len(when) != 1 or len(self.cases) < 2:
            raise NotARule("nothing that it holds in spite of")
        named = "대상" if is_korean(when[0].test + self.group) else "who or what"
        over = replace(when[0], column=(when[0].column if when[0].is_ordered else "") or named)
        if any(
            one.column == over.column or one.test == over.test
            for case in self.cases
            for one in case.when
        ):
            raise NotARule("several that hold whatever else is told")
        self.cases = [replace(case, when=(*case.when, over.negated)) for case in self.cases]
        return [over]

    def _take_out(self, when: Sequence[Condition]) -> None:
        """Let earlier cases hold only where what overrides them does not."""
        over = [one for one in when if not one.is_ordered]
        if len(over) != 1 or not any(one.is_ordered for one in when):
            raise NotARule("an exception of several conditions")
        if not self.cases:
            return
        if len(self.cases) != 1 or any(not one.is_ordered for one in self.cases[0].when):
            raise NotARule("an exception to several cases")
        case = self.cases[0]
        self.cases = [replace(case, when=(*case.when, over[0].negated))]


def _is_another(when: Sequence[Condition], cases: Sequence[Case]) -> bool:
    """Whether conditions name a value that no case before names."""
    said = {value for case in cases for one in case.when for value in one.test.split(", ")}
    named = [one for one in when if not one.is_ordered and one.test not in PRESENT]
    return any(one.negated.test not in said for one in named)


def _put(when: list[Condition], one: Condition) -> None:
    for at, other in enumerate(when):
        if other.column == one.column:
            if not one.is_ordered:
                raise NotARule("two conditions on one column")
            unit = smaller([one.unit, other.unit])
            when[at] = both(in_unit(other, unit), in_unit(one, unit))
            return
    when.append(one)


def _is_one_name(one: str, other: str) -> bool:
    return not one or not other or likeness(one, other) >= _SAME


def otherwise(cases: Sequence[Case]) -> tuple[Condition, ...]:
    """Return the conditions under which none of the cases holds; none where only order can say."""
    columns = {condition.column for case in cases for condition in case.when}
    if any(len(case.when) != 1 for case in cases) or len(columns) != 1:
        return ()
    only = [case.when[0] for case in cases]
    if len(only) == 1:
        return (only[0].negated,)
    if any(one.test.startswith("not(") for one in only):
        return ()
    unit = smaller([one.unit for one in only])
    if side := complement([in_unit(one, unit) for one in only]):
        return (side,)
    tests = ", ".join(dict.fromkeys(in_unit(one, unit).test for one in only))
    return (replace(only[0], test=f"not({tests})", unit=unit),)


def _in_one_unit(cases: Sequence[Case]) -> list[Case]:
    units: dict[str, list[str]] = {}
    for one in (one for case in cases for one in case.when):
        units.setdefault(one.column, []).append(one.unit)
    small = {column: smaller(found) for column, found in units.items()}
    return [
        replace(case, when=tuple(_in(one, small[one.column]) for one in case.when))
        for case in cases
    ]


def _apart(cases: list[Case]) -> list[Case]:
    """Give a limit that a range shares with an open end to that one: `up to 15, 15 to 30`."""
    apart = list(cases)
    for at, case in enumerate(cases):
        for number, one in enumerate(case.when):
            mine = ends_of(one.test) if one.is_ordered else None
            if mine is not None and mine.low is None and _WITHIN.search(case.sentence):
                taken = any(
                    c.column == one.column and c.test == f">= {mine.high}"
                    for other in cases
                    for c in other.when
                )
                if taken and mine.high_in:
                    when = list(apart[at].when)
                    when[number] = replace(one, test=f"< {mine.high}")
                    apart[at] = replace(apart[at], when=tuple(when))
            if mine is None or mine.low is None or mine.high is None or mine.low == mine.high:
                continue
            others = [
                c
                for other in cases
                for c in other.when
                if c.column == one.column and other is not case
            ]
            mine = _less(mine, [ends for c in others if (ends := ends_of(c.test)) is not None])
            when = list(apart[at].when)
            when[number] = replace(one, test=mine.test)
            apart[at] = replace(apart[at], when=tuple(when))
    return apart


def _less(mine: Ends, others: Sequence[Ends]) -> Ends:
    for other in others:
        if other.high == mine.low and other.low is None and other.high_in:
            mine = mine._replace(low_in=False)
        if other.low == mine.high and other.high is None and other.low_in:
            mine = mine._replace(high_in=False)
    return mine


def _in(one: Condition, unit: str) -> Condition:
    found = in_unit(one, unit) if one.is_ordered and one.unit != unit else one
    default = DEFAULTS.get(unit) or ("값" if is_korean(one.column + unit) else "value")
    return replace(found, column=_shown(found.column or default, unit))


def _shown(column: str, unit: str) -> str:
    return (
        f"{column} ({unit})"
        if unit and unit not in MONEY and letters(unit) not in letters(column)
        else column
    )


def _checked(cases: list[Case]) -> list[Case]:
    """Return cases that make a table. Raises NotARule for any that do not."""
    values = frozenset[str]().union(*map(_values, cases))
    plain = [case for case in cases[1:] if len(case.when) > 1 or len(cases[0].when) == 1]
    # Its own may be part of a name: `구급일 경우 구급차`.
    if any(
        value and value in letters(case.then) for case in plain for value in values - _own(case)
    ):
        raise NotARule("an outcome that speaks of a condition")
    if not cases or any(not case.when for case in cases[:-1]):
        raise NotARule("no case, or more after what is left")
    if len({letters(case.then) for case in cases}) == 1 < len(cases) and not _is_either(cases):
        raise NotARule("the same outcome everywhere")
    kinds: dict[str, set[str]] = {}
    for one in (one for case in cases for one in case.when):
        kinds.setdefault(one.column, set()).add(one.kind)
    if any(len(found) > 1 for found in kinds.values()):
        raise NotARule("a column of two kinds")
    columns = [{one.column for one in case.when} for case in cases if case.when]
    told = [case for case in cases if case.when]
    if not set.intersection(*columns) and not _is_either(told):
        raise NotARule("cases of different things")
    _check_values(cases)
    _check_groups(cases)
    check_equal(cases)
    return cases


def _values(case: Case) -> set[str]:
    """Return the values that a case names."""
    return {letters(test) for one in case.when for test in one.test.split(",")
            if not one.is_ordered and one.test not in PRESENT}  # fmt: skip


def _own(case: Case) -> set[str]:
    """Return its value where it has one, which begins a word of its outcome."""
    mine = _values(case)
    then = case.then.casefold().split()
    begins = all(any(letters(word).startswith(one) for word in then) for one in mine)
    return mine if len(mine) == 1 and begins else set()


def _is_either(cases: Sequence[Case]) -> bool:
    return len({case.then for case in cases}) == 1


# Values of which each may be one of the others too.
_ORDINAL = re.compile(
    r'^"(?:첫|최초|재(?:구매|방문|주문|발급|신청|등록|배송|수강|계약|가입)'
    r"|두 ?번째|둘째|셋째|추가|first|second|third|repeat|extra"
    r"|additional)",
    re.I,
)
_ON_TOP = re.compile(
    r"(?:^|\s)더 |\b(?:saves?|extra|(?<!go )(?<!goes )on top|on either|surcharge)\b", re.I
)
_NAMED = re.compile(
    r"(?:(?<!손)(?<!고객)(?<!회원)(?<!환자)(?<!선생)님|씨"
    r'|[가-힣]{1,3} (?:과장|대리|부장|차장|주임|사원))"|\b(?:Dr|Mr|Ms|Mrs)\b'
)


def _check_groups(cases: Sequence[Case]) -> None:
    """Raise NotARule for values that are no values of one thing, as their outcomes show."""
    tests = [
        one.test
        for case in cases
        for one in case.when
        if one.kind == "string" and one.test not in PRESENT
    ]
    if any(map(_NAMED.search, tests)):
        raise NotARule("what single people want")
    for column in {one.column for case in cases for one in case.when if one.kind == "string"}:
        when = [
            is_moment(value)
            for case in cases
            for one in case.when
            if one.column == column
            for value in re.findall(r'"([^"]+)"', one.test)
            if value not in {"일반", "기본", "정규"}
        ]
        if any(when) and not all(when):
            raise NotARule("when it is, beside who or what it is")
    more = [bool(_ON_TOP.search(case.then)) for case in cases]
    if any(more) and not all(more) and not any("추가 없" in case.then for case in cases):
        raise NotARule("what comes on top of the others")
    ordinal = [bool(_ORDINAL.search(test)) for test in tests if not test.startswith("not(")]
    if any(ordinal) and not all(ordinal):
        raise NotARule("values that may meet")
    if any(one.is_ordered for case in cases for one in case.when):
        return
    told = [amounts(case.then, korean=is_korean(case.then)) for case in cases]
    units = [{_measure(one.unit) for one in found if one.unit} for found in told]
    if (known := [one for one in units if one]) and not set.intersection(*known):
        raise NotARule("outcomes of different kinds")


def _measure(unit: str) -> str:
    return "money" if unit in MONEY else "time" if unit in TIMES else unit


def _check_values(cases: Sequence[Case]) -> None:
    """Raise NotARule for values told twice."""
    tests = [tuple(f"{one.column} {one.test}" for one in case.when) for case in cases]
    if len(set(tests)) < len(tests):
        raise NotARule("a case told twice")


def _is_fact(case: Case) -> bool:
    """Whether a case alone only tells of a group what may be told of others too."""
    return not any(
        one.is_ordered or one.test.startswith("not(") or one.test in LACKING for one in case.when
    )
