"""Conditions and outcomes of an English sentence: what stands before a verb, or after `if`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from core.agent.offline.stated import english_words as w
from core.agent.offline.stated.amounts import Amount, amounts
from core.agent.offline.stated.beside import ENGLISH_TOLD_FIRST, ENGLISH_TOLD_LAST
from core.agent.offline.stated.english_columns import (
    about_of,
    base_of,
    beyond,
    check_words,
    counted,
    outcome_of,
    several_values,
    split_cases,
    stem_of,
    subject_of,
    tests_of,
    with_column,
)
from core.agent.offline.stated.statement import Case, Condition, NotARule, otherwise

MAX_SUBJECT = 9  # words before a comparison that may be its subject


@dataclass(frozen=True)
class _Head:
    """The conditions that begin a clause, and where its outcome starts."""

    start: int
    end: int
    whens: tuple[tuple[Condition, ...], ...] = ()
    is_else: bool = False
    is_none: bool = False
    is_unless: bool = False
    weak: bool = False


def cases_of(sentence: str, before: Sequence[Case] = ()) -> list[Case]:
    """Return the cases of earlier sentences and those that this one states.

    Raises NotARule for anything that is neither a condition nor an outcome.
    """
    text = " ".join(sentence.replace("’", "'").split()).rstrip(".! ")
    for pattern, plain in w.PLAINER:
        text = pattern.sub(plain, text)
    while (lead := w.LEADS.match(text) or ENGLISH_TOLD_FIRST.match(text)) and lead.end():
        text = text[lead.end() :]
    text = ENGLISH_TOLD_LAST.sub("", text)
    about = ""
    if label := w.LABEL.match(text):
        about, text = about_of(label["label"]), text[label.end() :]
    if w.VAGUE.search(text):
        raise NotARule("a judgement or an approximation")
    cases = _Reader(text, sentence, list(before), about).read()
    check_words(text, cases)
    return cases


class _Reader:
    def __init__(self, text: str, sentence: str, cases: list[Case], about: str) -> None:
        self._text = text
        self._about = about
        self._sentence = sentence
        self._cases = cases
        self._amounts = amounts(text, korean=False)

    def read(self) -> list[Case]:
        """Return the cases, earlier ones included."""
        if split := w.SPLIT.fullmatch(self._text):
            if self._cases:
                raise NotARule("two outcomes that may be one")
            return split_cases(split, self._sentence)
        if first := self._first_turned():
            return first
        heads = self._heads()
        is_base = bool(heads) and heads[0].start > 0 and heads[0].is_unless and not self._cases
        if is_base:
            self._cases.append(Case((), base_of(self._text[: heads[0].start]), self._sentence))
        is_turned = not heads or heads[0].start or (heads[0].weak and w.INSIDE.search(self._text))
        if is_turned and not is_base:
            return self._turned()
        if len(heads) == 1 and not self._cases:
            self._add(*self._limited(heads[0]))
        else:
            for head, following in zip_longest(heads, heads[1:]):
                self._add(head, following.start if following else len(self._text))
        self._check_columns()
        return self._cases

    def _add(self, head: _Head, end: int) -> None:
        """Add the cases of a head whose outcome ends there."""
        outcome = outcome_of(self._text[head.start if head.is_none else head.end : end])
        whens = (otherwise(self._cases),) if head.is_else else head.whens
        if head.is_else and not self._cases:
            raise NotARule("others than nobody")
        if head.is_unless:
            whens = self._excepted(head)
        if not head.weak and not head.is_else and w.SOME.match(outcome):
            raise NotARule("an outcome for some of them")
        if head.weak and w.UP_TO.search(outcome):
            raise NotARule("a limit of its own for each group")
        self._cases += [Case(when, outcome, self._sentence, head.weak) for when in whens]

    def _check_columns(self) -> None:
        """Raise NotARule where a number is that of some among several."""
        for one in self._earlier():
            column = re.sub(r"\s*\([^)]*\)$", "", one.column)
            is_limit = one.kind != "string" and one.test != "0"
            if is_limit and " " in column and w.NARROWING.match(column):
                raise NotARule("what it is about is a condition too")

    def _first_turned(self) -> list[Case]:
        """Read `Delivery is free over $50, under that it's $5`: an outcome, its limit, and more."""
        comma = w.SEPARATE.search(self._text)
        if comma is None or self._cases:
            return []
        first = self._text[: comma.start()]
        try:
            cases = _Reader(first, self._sentence, [], self._about).turned()
            rest = self._text[comma.end() :]
            return _Reader(rest, self._sentence, cases, self._about).read() if rest else []
        except NotARule:
            return []

    def turned(self) -> list[Case]:
        """Return the case of an outcome before its limit. Raises NotARule if it is none."""
        for match in w.LIMITED.finditer(self._text):
            if not w.BARE_LIMIT.match(self._text, match.end()):
                continue
            read = self._number(match.end(), [], turned=True)
            if read is not None and read[1] == len(self._text):
                outcome = self._text[: match.start()]
                is_term = self._text[match.end() :].lower().startswith("within")
                if not w.PREDICATE.search(outcome) or (is_term and not w.STATE.search(outcome)):
                    break
                return [Case((read[0],), outcome_of(outcome), self._sentence)]
        raise NotARule("no condition")

    def _limited(self, head: _Head) -> tuple[_Head, int]:
        """Read `provided the destination is domestic` after the one outcome of a sentence."""
        end = len(self._text)
        for match in w.PROVIDED.finditer(self._text, head.end):
            known = [one for when in head.whens for one in when]
            read = self._one(match.end(), known, is_if=True)
            if read is not None and read[1] == end:
                whens = tuple((*when, read[0]) for when in head.whens)
                return replace(head, whens=whens, weak=False), match.start()
        return head, end

    def _excepted(self, head: _Head) -> tuple[tuple[Condition, ...], ...]:
        """Take an exception out of the case before it, and return when it applies."""
        if not head.start and len(head.whens) == 1 and len(head.whens[0]) == 1:
            return ((head.whens[0][0].negated,),)
        if len(self._cases) != 1 or len(head.whens) != 1 or len(head.whens[0]) != 1:
            raise NotARule("an exception to more than one condition")
        last, (exception,) = self._cases[-1], head.whens[0]
        self._cases[-1] = replace(last, when=(*last.when, exception.negated), weak=False)
        return ((*last.when, exception),)

    def _heads(self) -> list[_Head]:
        starts = [0, *(match.end() for match in w.SEPARATOR.finditer(self._text))]
        heads: list[_Head] = []
        for start in starts:
            if heads and start <= heads[-1].end:
                continue
            head = (
                self._else(start)
                or self._same(start, heads)
                or self._conditions(start, heads)
                or self._category(start, heads)
            )
            if head is not None:
                heads.append(head)
        return heads

    def _else(self, start: int) -> _Head | None:
        match = w.ELSE.match(self._text, start)
        if match is None:
            return None
        return _Head(start, match.end(), is_else=True, is_none=bool(match["none"]))

    def _same(self, start: int, heads: Sequence[_Head]) -> _Head | None:
        """Read `anything lighter` after a weight: the other side of the last limit."""
        match = w.SAME.match(self._text, start)
        known = [*self._earlier(), *(one for head in heads for when in head.whens for one in when)]
        last = next((one for one in reversed(known) if one.kind != "string"), None)
        if match is None or last is None:
            return None
        sign = "<" if match["down"] else ">"
        turned = beyond(last, sign) if ".." in last.test else last.negated
        if not turned.test.startswith(sign):
            raise NotARule("it compares with the same side")
        if "at or" in match[0].lower() and "=" not in turned.test:
            raise NotARule("it compares with the same side")
        if limit := w.AND_UP_TO.match(self._text, match.end()):
            other = next((one for one in self._amounts if one.start == limit.end()), None)
            if other is None or other.kind != last.kind or sign == "<":
                raise NotARule("two limits that do not go together")
            low = "[" if "=" in turned.test else "("
            turned = replace(turned, test=f"{low}{turned.test.split(' ')[1]}..{other.text}]")
            return _Head(start, other.end, ((turned,),))
        return _Head(start, match.end(), ((turned,),))

    def _conditions(self, start: int, heads: Sequence[_Head]) -> _Head | None:
        """Read `If the parcel weighs more than 20 kg and it's abroad,` or `Orders over 5 kg`."""
        lead = w.IF.match(self._text, start)
        at = lead.end() if lead else start
        is_unless = bool(lead and lead["unless"])
        is_if = is_unless or bool(lead and (lead["if"] or lead["even"]))
        known = [when for head in heads for part in head.whens for when in part]
        read = self._chain(at, known, is_if=is_if)
        if read is None:
            return None
        whens, end = read
        dated = all(one.kind in {"date", "time"} for when in whens for one in when)
        is_later = bool(heads or self._cases or self._about) or dated or is_if
        outcome = self._outcome_start(end, later=is_later)
        if outcome is None:
            return None
        if lead and lead["even"] and (who := self._category(outcome, heads)):
            whens = [[*when, *who.whens[0]] for when in whens]
            outcome = who.end
        return _Head(start, outcome, tuple(tuple(when) for when in whens), is_unless=is_unless)

    def _chain(
        self, at: int, known: Sequence[Condition], *, is_if: bool, turned: bool = False
    ) -> tuple[list[list[Condition]], int] | None:
        """Read conditions that `and` or `or` joins, and where they end."""
        read = self._number(at, known, turned=turned) if turned else None
        read = read or self._one(at, known, is_if=is_if)
        if read is None:
            return None
        whens, end, links = [[read[0]]], read[1], set[bool]()
        while True:
            joined = w.AND.match(self._text, end) or w.WHICH.match(self._text, end)
            other = w.OR.match(self._text, end)
            link = joined or other
            following = self._one(link.end(), [*known, *whens[-1]], is_if=is_if) if link else None
            if following is None or link is None:
                break
            links.add(other is None)
            whens = [*whens, [following[0]]] if other else [*whens[:-1], [*whens[-1], following[0]]]
            end = following[1]
        if len(links) > 1:
            raise NotARule("conditions of which nobody can tell how they go together")
        return whens, end

    def _category(self, start: int, heads: Sequence[_Head]) -> _Head | None:
        """Read `Gold members` of `Gold members get 15% off`, or `Tickets marked urgent`."""
        several = w.SEVERAL.match(self._text, start) if not start else None
        if several is not None:
            column, values = several_values(several["who"])
            listed = ", ".join(f'"{value}"' for value in values)
            return _Head(start, several.end(), ((Condition(column, listed, "string"),),), weak=True)
        if except_for := w.EXCEPT_FOR.match(self._text, start):
            column, value = except_for["who"], except_for["value"]
            condition = Condition(column, f'"{value}"', "string")
            return _Head(start, except_for.end(), ((condition,),), is_unless=True)
        if (clause := w.RELATIVE.match(self._text, start)) and not re.search(r"\d", clause[0]):
            if w.NO_GROUP.search(clause[0]) or w.WITHIN.search(clause["value"]):
                raise NotARule("a group that nobody can tell")
            condition = Condition(clause["who"], f'"{clause["value"]}"', "string")
            return _Head(start, clause.end(), ((condition,),))
        match = w.CATEGORY.match(self._text, start)
        if match is None or re.search(r"(?<![A-Z])\d", match[0]):
            return None
        who = [word for word in match["who"].split() if word.lower() not in w.ARTICLES]
        if not who:
            return None
        known = [one for head in heads for when in head.whens for one in when]
        column = next((o.column for o in [*known, *self._earlier()] if o.kind == "string"), "")
        if match["value"]:
            told = {stem_of(one.column): one.column for one in (*known, *self._earlier())}
            column = told.get(stem_of(" ".join(who)), " ".join(who))
            value = f"{match['how'] or ''} {match['value']}".strip()
        elif len(who) == 1:
            column, value = column or "who", who[0]
        else:
            column = column if column and who[-1].lower() in {"ones", column.lower()} else who[-1]
            value = " ".join(who[:-1])
        if w.COMPARATIVE.search(value) or (not match["value"] and w.NO_GROUP.search(value)):
            raise NotARule("a group that nobody can tell")
        condition = Condition(column, tests_of(value.removeprefix("not ")), "string")
        condition = condition.negated if value.startswith("not ") else condition
        return _Head(start, match.end(), ((condition,),), weak=not match["value"])

    def _one(
        self, at: int, known: Sequence[Condition], *, is_if: bool
    ) -> tuple[Condition, int] | None:
        if known and (has := w.AND_HAS.match(self._text, at)):
            return counted(has), has.end()
        return self._number(at, known) or (self._is(at, known) if is_if else None)

    def _number(
        self, at: int, known: Sequence[Condition], *, turned: bool = False
    ) -> tuple[Condition, int] | None:
        """Read `orders over 1,000 KRW` from `at` on, with what may stand between it and a verb."""
        one = next((amount for amount in self._amounts if amount.start >= at), None)
        if one is None:
            return None
        before = self._text[at : one.start]
        if re.search(
            r"[,;:.]\s|\b(?:and|or|then|to|must|should|need|needs|get|gets|pay|pays)\b.*\s\w",
            re.sub("up to(?: and including)?|at or (?=[abou])|equal to or", "", before),
        ):
            return None
        compared = (
            self._range(before, one)
            or self._double(before, one)
            or self._compared(before, one, known, turned=turned)
        )
        if compared is None:
            return None
        test, words, end, unit = compared
        if (
            len(words.split()) > MAX_SUBJECT
            or w.SAYS_ALL.search(words)
            or w.PLACED.search(words)
            or w.WITHIN.search(words)
            or w.DENIED.search(words)
        ):
            return None
        counted = (
            None if unit or one.unit or one.kind != "number" else w.THINGS.match(self._text, end)
        )
        end = counted.end() if counted else end
        what = w.OF_WHAT.match(self._text, end)
        post = what or w.POST.match(self._text, end)
        tail = post[0] if post else ""
        if w.PLACE.search(tail):
            return None
        whole = f"{before} {tail}"
        thing = counted[0].strip() if counted else ""
        condition = Condition("", test, one.kind, unit or one.unit or thing)
        condition = with_column(condition, words, tail, whole, [*self._earlier(), *known])
        if thing and thing not in condition.column and not w.PERSONS.search(thing):
            condition = replace(condition, column=f"{condition.column} {thing}")
        return self._prefixed(condition, known), end + len(tail)

    def _prefixed(self, condition: Condition, known: Sequence[Condition]) -> Condition:
        """Return a condition whose new column says what its sentence is about."""
        column = condition.column
        told = [one.column for one in (*self._earlier(), *known)]
        if column in told:
            return condition
        longer = [name for name in told if stem_of(name).endswith(f" {stem_of(column)}")]
        if longer or not self._about or self._about.lower() in column.lower():
            return replace(condition, column=longer[0] if longer else column)
        return replace(condition, column=f"{self._about} {column}")

    def _double(self, before: str, low: Amount) -> tuple[str, str, int, str] | None:
        """Read `over 400 and up to 900 kg`."""
        high = next((amount for amount in self._amounts if amount.start >= low.end), None)
        if high is None or low.kind != high.kind:
            return None
        lead = w.LOWER.search(before)
        upper = w.UPPER.fullmatch(self._text[low.end : high.start])
        if lead is None or upper is None or (low.unit and high.unit and low.unit != high.unit):
            return None
        brackets = "[" if lead["with"] else "(", ")" if upper["without"] else "]"
        test = f"{brackets[0]}{low.text}..{high.text}{brackets[1]}"
        return test, before[: lead.start()], high.end, high.unit or low.unit

    def _range(self, before: str, low: Amount) -> tuple[str, str, int, str] | None:
        high = next((amount for amount in self._amounts if amount.start >= low.end), None)
        if high is None or not w.RANGE.fullmatch(self._text[low.end : high.start]):
            return None
        if low.kind != high.kind or (low.unit and high.unit and low.unit != high.unit):
            return None
        lead = w.RANGES.search(before)
        words = before[: lead.start()] if lead else before
        if "and" in self._text[low.end : high.start] and not (lead and lead["between"]):
            return None
        return f"[{low.text}..{high.text}]", words, high.end, high.unit or low.unit

    def _compared(
        self, before: str, one: Amount, known: Sequence[Condition], *, turned: bool
    ) -> tuple[str, str, int, str] | None:
        for sign, words in w.AFTER:
            if match := re.compile(words, re.I).match(self._text, one.end):
                lead = re.sub(r"\bfrom\s*$", "", before, flags=re.I)
                unit = w.COUNTED.match(self._text, match.end())
                return f"{sign} {one.text}", lead, unit.end() if unit else match.end(), ""
        for sign, words in w.BEFORE:
            match = re.search(rf"\b(?:{words})\s*(?:the )?$", before, re.I)
            if match is None:
                continue
            if one.kind == "number" and self._is_moment(match[0], one, known, turned=turned):
                continue
            if sign == ">=" and match[0].lower().startswith("from") and one.kind == "number":
                continue
            return f"{sign} {one.text}", before[: match.start()], one.end, ""
        return None

    def _is_moment(
        self, word: str, one: Amount, known: Sequence[Condition], *, turned: bool
    ) -> bool:
        """Whether `after` a number is no comparison: only one of days that are spoken of is."""
        spoken = turned or any(
            other.unit == one.unit and one.unit for other in (*self._earlier(), *known)
        )
        return word.lower().startswith(("before", "by")) or (
            word.lower().startswith("after") and not spoken
        )

    def _is(self, at: int, known: Sequence[Condition]) -> tuple[Condition, int] | None:
        """Read `the customer is a VIP` or `it's going abroad` from `at` on."""
        if has := w.HAS.match(self._text, at):
            there = '"none"' if has["no"] or has["lacks"] else '"present"'
            return Condition(has["value"], there, "string"), has.end()
        match = w.IS.match(self._text, at) or w.DOES.match(self._text, at)
        if match is None:
            return None
        words = match["who"].split()
        value = match["value"].strip()
        if len(words) > MAX_SUBJECT or not value:
            return None
        column = (
            ""
            if match.re is w.DOES and match["who"].lower() in w.LINKS
            else subject_of(match["who"])
        )
        same = [one for one in [*self._earlier(), *known] if one.kind == "string"]
        if match.re is w.DOES:
            column = column or value.split()[0]
        if not column and same:
            column = same[-1].column
        condition = Condition(column or "case", tests_of(value), "string")
        return condition.negated if match["not"] else condition, match.end()

    def _outcome_start(self, end: int, *, later: bool) -> int | None:
        """Return where an outcome starts; a later one may lack its verb (`over 5 kg the van`)."""
        rest = self._text[end:]
        match = re.match(r"\s*(?:,\s*(?:then\s+)?|:\s*|\s+then\s+|\s+-+\s+)", rest, re.I)
        if match:
            return end + match.end()
        if later and w.LATER.match(rest):
            return end
        word = re.match(r"\s+([\w']+)", rest)
        if word is None or not re.fullmatch(w.VERB, word[1], re.I):
            return None
        return end

    def _turned(self) -> list[Case]:
        """Read `Use the freight desk if the parcel weighs more than 20 kg`."""
        for match in w.TURNED.finditer(self._text):
            is_if = match[0].strip(" ,").lower() not in {"for", "on", "to", ""}
            read = self._chain(match.end(), [], is_if=is_if, turned=True)
            is_bare = not match[0].strip()
            if is_bare and not w.GIVEN.match(self._text):
                continue
            rest = self._text[read[1] :] if read is not None else ""
            other = w.OTHERWISE.fullmatch(rest)
            if read is not None and (other or not rest.strip()):
                outcome = outcome_of(self._text[: match.start()])
                self._cases += [Case(tuple(when), outcome, self._sentence) for when in read[0]]
                if other:
                    left = otherwise(self._cases)
                    self._cases.append(Case(left, outcome_of(other["then"]), self._sentence))
                return self._cases
        raise NotARule("no condition")

    def _earlier(self) -> list[Condition]:
        return [condition for case in self._cases for condition in case.when]
