"""Conditions and outcomes of an English sentence: what stands before a verb, or after `if`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.agent.offline.stated import english_words as w
from core.agent.offline.stated.amounts import Amount, amounts
from core.agent.offline.stated.statement import Case, Condition, NotARule, otherwise

MAX_SUBJECT = 9  # words before a comparison that may be its subject
_SEPARATOR = re.compile(
    r"(?:\s*[;–—]\s*|,\s+|\.\s+|\s+(?=(?:and|while|whereas)\s))(?:(?:and|while|whereas)\s+)?"
)
_AND = re.compile(r"\s*,?\s+and\s+(?:also\s+)?", re.I)
_OR = re.compile(r"\s*,?\s+or\s+", re.I)


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
    if label := w.LABEL.match(text):
        text = text[label.end() :]
    while lead := w.LEADS.match(text):
        text = text[lead.end() :]
    if w.VAGUE.search(text):
        raise NotARule("a judgement or an approximation")
    return _Reader(text, sentence, list(before)).read()


class _Reader:
    def __init__(self, text: str, sentence: str, cases: list[Case]) -> None:
        self._text = text
        self._sentence = sentence
        self._cases = cases
        self._amounts = amounts(text, korean=False)

    def read(self) -> list[Case]:
        """Return the cases, earlier ones included."""
        heads = self._heads()
        is_turned = not heads or heads[0].start or (heads[0].weak and w.INSIDE.search(self._text))
        if is_turned:
            return self._turned()
        for at, head in enumerate(heads):
            end = heads[at + 1].start if at + 1 < len(heads) else len(self._text)
            outcome = _outcome(self._text[head.start if head.is_none else head.end : end])
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
        for one in self._earlier():
            column = re.sub(r"\s*\([^)]*\)$", "", one.column)
            if one.kind != "string" and " " in column and w.NARROWING.match(column):
                raise NotARule("what it is about is a condition too")
        return self._cases

    def _excepted(self, head: _Head) -> tuple[tuple[Condition, ...], ...]:
        """Take an exception out of the case before it, and return when it applies."""
        if not head.start and len(head.whens) == 1 and len(head.whens[0]) == 1:
            return ((head.whens[0][0].negated,),)
        if not self._cases or len(head.whens) != 1 or len(head.whens[0]) != 1:
            raise NotARule("an exception to more than one condition")
        last, (exception,) = self._cases[-1], head.whens[0]
        self._cases[-1] = replace(last, when=(*last.when, exception.negated), weak=False)
        return ((*last.when, exception),)

    def _heads(self) -> list[_Head]:
        starts = [0, *(match.end() for match in _SEPARATOR.finditer(self._text))]
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
        turned = last.negated
        if not turned.test.startswith("<" if match["down"] else ">"):
            raise NotARule("it compares with the same side")
        return _Head(start, match.end(), ((turned,),))

    def _conditions(self, start: int, heads: Sequence[_Head]) -> _Head | None:
        """Read `If the parcel weighs more than 20 kg and it's abroad,` or `Orders over 5 kg`."""
        lead = w.IF.match(self._text, start)
        at = lead.end() if lead else start
        is_unless = bool(lead and lead["unless"])
        is_if = is_unless or bool(lead and (lead["if"] or lead["even"]))
        known = [when for head in heads for part in head.whens for when in part]
        read = self._one(at, known, is_if=is_if)
        if read is None:
            return None
        whens: list[list[Condition]] = [[read[0]]]
        end = read[1]
        while True:
            joined, other = _AND.match(self._text, end), _OR.match(self._text, end)
            link = joined or other
            following = self._one(link.end(), [*known, *whens[-1]], is_if=is_if) if link else None
            if following is None or link is None:
                break
            whens = [*whens, [following[0]]] if other else [*whens[:-1], [*whens[-1], following[0]]]
            end = following[1]
        dated = all(one.kind in {"date", "time"} for when in whens for one in when)
        outcome = self._outcome_start(end, later=bool(heads) or dated)
        if outcome is None:
            return None
        if lead and lead["even"] and (who := self._category(outcome, heads)):
            whens = [[*when, *who.whens[0]] for when in whens]
            outcome = who.end
        return _Head(start, outcome, tuple(tuple(when) for when in whens), is_unless=is_unless)

    def _category(self, start: int, heads: Sequence[_Head]) -> _Head | None:
        """Read `Gold members` of `Gold members get 15% off`, or `Tickets marked urgent`."""
        match = w.CATEGORY.match(self._text, start)
        if match is None or re.search(r"\d", match[0]):
            return None
        who = [word for word in match["who"].split() if word.lower() not in w.ARTICLES]
        if not who:
            return None
        known = [one for head in heads for when in head.whens for one in when]
        column = next((o.column for o in [*known, *self._earlier()] if o.kind == "string"), "")
        if match["value"]:
            column, value = " ".join(who), f"{match['how'] or ''} {match['value']}".strip()
        elif len(who) == 1:
            column, value = column or "who", who[0]
        else:
            column = column if column and who[-1].lower() in {"ones", column.lower()} else who[-1]
            value = " ".join(who[:-1])
        if not match["value"] and w.NO_GROUP.search(value):
            raise NotARule("a group that nobody can tell")
        condition = Condition(column, _listed(value), "string")
        return _Head(start, match.end(), ((condition,),), weak=not match["value"])

    def _one(
        self, at: int, known: Sequence[Condition], *, is_if: bool
    ) -> tuple[Condition, int] | None:
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
            before.replace("up to", ""),
        ):
            return None
        compared = self._range(before, one) or self._compared(before, one, turned=turned)
        if compared is None:
            return None
        test, words, end, unit = compared
        if (
            len(words.split()) > MAX_SUBJECT
            or w.PLACED.search(words)
            or w.WITHIN.search(words)
            or w.DENIED.search(words)
        ):
            return None
        counted = (
            None if unit or one.unit or one.kind != "number" else w.THINGS.match(self._text, end)
        )
        end = counted.end() if counted else end
        post = w.POST.match(self._text, end)
        tail = post[0] if post else ""
        if w.PLACE.search(tail):
            return None
        whole = f"{before} {tail}"
        thing = counted[0].strip() if counted else ""
        condition = Condition("", test, one.kind, unit or one.unit or thing)
        return _named(condition, words, tail, whole, [*self._earlier(), *known]), end + len(tail)

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
        self, before: str, one: Amount, *, turned: bool
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
            if one.kind == "number" and self._is_moment(match[0], one, turned=turned):
                continue
            if sign == ">=" and match[0].lower().startswith("from") and one.kind == "number":
                continue
            return f"{sign} {one.text}", before[: match.start()], one.end, ""
        return None

    def _is_moment(self, word: str, one: Amount, *, turned: bool) -> bool:
        """Whether `after` a number is no comparison: only one of days that are spoken of is."""
        spoken = turned or any(known.unit == one.unit and one.unit for known in self._earlier())
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
            "" if match.re is w.DOES and match["who"].lower() in w.LINKS else _subject(match["who"])
        )
        same = [one for one in [*self._earlier(), *known] if one.kind == "string"]
        if match.re is w.DOES:
            column = column or value.split()[0]
        if not column and same:
            column = same[-1].column
        condition = Condition(column or "case", _listed(value), "string")
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
            read = self._number(match.end(), [], turned=True)
            if read is None and match[0].strip().lower() in {"if", "when"}:
                read = self._is(match.end(), [])
            is_bare = not match[0].strip()
            if is_bare and not w.GIVEN.match(self._text):
                continue
            rest = self._text[read[1] :] if read is not None else ""
            other = w.OTHERWISE.fullmatch(rest)
            if read is not None and (other or not rest.strip()):
                outcome = _outcome(self._text[: match.start()])
                self._cases.append(Case((read[0],), outcome, self._sentence))
                if other:
                    left = otherwise(self._cases)
                    self._cases.append(Case(left, _outcome(other["then"]), self._sentence))
                return self._cases
        raise NotARule("no condition")

    def _earlier(self) -> list[Condition]:
        return [condition for case in self._cases for condition in case.when]


def _named(
    condition: Condition, words: str, tail: str, whole: str, known: Sequence[Condition]
) -> Condition:
    """Return the condition with its column: the noun before it, and what the number measures."""
    subject = _subject(words)
    measure = next((name for pattern, name in w.MEASURES if pattern.search(whole)), "")
    if condition.kind in {"date", "time"}:
        measure = condition.kind
    if measure == "duration" and w.DEFAULTS.get(condition.unit) in {"length", "distance"}:
        measure = "length"
    after = re.sub(r"^(?:inclusive|each)\s*", "", tail.strip())
    measure = measure or (f"days {after}" if condition.unit == "day" and after else "")
    if not measure and not condition.unit and w.PERSONS.search(words):
        measure = "age"
    if not measure and after.startswith("of "):
        measure = after.removeprefix("of ")
    default = measure or w.DEFAULTS.get(condition.unit, "amount" if condition.unit else "number")
    if not subject:
        units = {condition.unit} | ({one.unit for one in known} if not condition.unit else set())
        same = [one for one in known if one.kind == condition.kind and one.unit in units]
        bare = all(
            word.lower() in w.BARE | w.LINKS | {"if", "when"}
            for word in re.findall(r"[\w']+", words)
        )
        if bare and same and not after:
            return replace(condition, column=same[-1].column, unit=same[-1].unit)
        column = default
    elif measure and measure not in subject:
        column = f"{subject} {measure}" if measure != after else measure
    else:
        column = subject
    column = next((o.column for o in known if _stem(o.column) == _stem(column)), column)
    if (
        condition.unit in w.SHOWN
        and condition.unit not in column
        and (measure, condition.unit) != ("age", "year")
    ):
        column = f"{column} ({condition.unit})"
    return replace(condition, column=column)


def _listed(value: str) -> str:
    """Return the tests of a value, or of those that `or` joins: `to Canada or Mexico`."""
    first, *others = re.split(r"\s+or\s+(?:the\s+)?", value)
    lead = re.match(r"(?:\w+ )?(?:from|to|in|by|via|with|at) ", first)
    more = [f"{lead[0] if lead else ''}{other}" for other in others]
    return ", ".join(f'"{one}"' for one in (first, *more))


def _stem(column: str) -> str:
    return re.sub(r"s\b|\s*\([^)]*\)$", "", column.casefold())


def _subject(words: str) -> str:
    """Return the nouns of a subject, without articles, verbs and prepositions."""
    kept = [word for word in re.findall(r"[\w'-]+", words) if word.lower() not in w.ARTICLES]
    nouns = [word for word in kept if word.lower() not in w.LINKS]
    nouns = [word for word in nouns if word.lower() not in w.BARE or len(nouns) > 1]
    return " ".join(nouns[-3:])


def _outcome(text: str) -> str:
    plain = re.sub(r"^(?:then|they|it|please)\s+", "", text.strip(" ,;:.–—-"), flags=re.I)
    plain = re.sub(r"[,;\s]+(?:and|while|whereas|but)$", "", plain)
    if not re.search(r"\w", plain):
        raise NotARule("no outcome")
    leftover = (w.EXCEPT, w.INSIDE, w.LIMITS, w.GOES_ON, w.FOR_SOME)
    if any(pattern.search(plain) for pattern in leftover):
        raise NotARule("an outcome with a condition of its own")
    return plain
