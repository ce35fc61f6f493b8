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
    r"(?:\s*[;–—]\s*|,\s+|\.\s+|\s+(?=(?:and|but|while|whereas|unless|except)\s))"
    r"(?:(?:and|but|while|whereas)\s+)?"
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
    for pattern, plain in w.PLAINER:
        text = pattern.sub(plain, text)
    while (lead := w.LEADS.match(text) or w.TOLD_FIRST.match(text)) and lead.end():
        text = text[lead.end() :]
    text = w.TOLD_LAST.sub("", text)
    about = ""
    if label := w.LABEL.match(text):
        about, text = _about(label["label"]), text[label.end() :]
    if w.VAGUE.search(text):
        raise NotARule("a judgement or an approximation")
    cases = _Reader(text, sentence, list(before), about).read()
    _check_words(text, cases)
    return cases


def _check_words(text: str, cases: list[Case]) -> None:
    """Raise NotARule where a word or number is in no outcome, column or test."""
    others = {word for match in w.ELSE.finditer(text) for word in match[0].lower().split()}
    for case in cases:
        text = text.replace(case.then, " ")
    kept = " ".join(f"{o.column} {o.test} {o.unit}" for case in cases for o in case.when).lower()
    kept = kept.replace('"none"', "no").replace(" 0", " no") if "0" in kept else kept
    kept = kept.replace('"none"', "no")
    tests = " ".join(one.test for case in cases for one in case.when)
    for one in reversed(amounts(text, korean=False)):
        is_one = re.match(r"an? ", text[one.start :]) is not None
        if one.text not in tests and one.unit and not is_one:
            raise NotARule("a number that no row has")
        text = f"{text[: one.start]} {text[one.end :]}"
    text = w.NO_MORE.sub(" ", text.lower())
    for word in w.SPOKEN.findall(text):
        stem = word.removesuffix("'s").removesuffix("s") if len(word) > 3 else word
        if word not in w.FORM | others and not re.search(rf"\b{re.escape(stem)}", kept):
            raise NotARule(f"a word that no row has: {word}")


def _about(label: str) -> str:
    """Return what a label says that its sentence is about. Raises NotARule for a group."""
    words = label.partition(",")[0].split()
    if w.NARROWING.search(label) or w.PERSONS.search(label) or w.WITHIN.search(label):
        raise NotARule("what it is about is a condition too")
    return " ".join(words[-2:])


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
            return self._split(split)
        if first := self._first_turned():
            return first
        heads = self._heads()
        is_base = bool(heads) and heads[0].start > 0 and heads[0].is_unless and not self._cases
        if is_base:
            self._cases.append(Case((), _base(self._text[: heads[0].start]), self._sentence))
        is_turned = not heads or heads[0].start or (heads[0].weak and w.INSIDE.search(self._text))
        if is_turned and not is_base:
            return self._elliptical() or self._turned()
        for at, head in enumerate(heads):
            end = heads[at + 1].start if at + 1 < len(heads) else len(self._text)
            if len(heads) == 1 and not self._cases:
                head, end = self._limited(head, end)
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
            is_limit = one.kind != "string" and one.test != "0"
            if is_limit and " " in column and w.NARROWING.match(column):
                raise NotARule("what it is about is a condition too")
        return self._cases

    def _split(self, match: re.Match[str]) -> list[Case]:
        """Read `The cap is $250 in London and $150 in all other cities`."""
        if self._cases or not (w.SHORT.search(match["one"]) and w.SHORT.search(match["two"])):
            raise NotARule("two outcomes that may be one")
        other = match["other"]
        values = ", ".join(f'"{value}"' for value in w.ITEMS.split(match["some"]))
        column = other.split()[-1] if other and "else" not in other else _subject(match["what"])
        some = Condition(column, values, "string")
        rest = some.negated
        if other is None:
            rest = replace(some, test=", ".join(f'"{v}"' for v in w.ITEMS.split(match["more"])))
        self._cases = [
            Case((some,), _outcome(self._text[: match.end("one")]), self._sentence),
            Case((rest,), _outcome(match["two"]), self._sentence),
        ]
        return self._cases

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
                return [Case((read[0],), _outcome(outcome), self._sentence)]
        raise NotARule("no condition")

    def _limited(self, head: _Head, end: int) -> tuple[_Head, int]:
        """Read `provided the destination is domestic` after the one outcome of a sentence."""
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
        sign = "<" if match["down"] else ">"
        turned = _beyond(last, sign) if ".." in last.test else last.negated
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
            joined = _AND.match(self._text, end) or w.WHICH.match(self._text, end)
            other = _OR.match(self._text, end)
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
            column, values = _several(several["who"])
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
        if match is None or re.search(r"\d", match[0]):
            return None
        who = [word for word in match["who"].split() if word.lower() not in w.ARTICLES]
        if not who:
            return None
        known = [one for head in heads for when in head.whens for one in when]
        column = next((o.column for o in [*known, *self._earlier()] if o.kind == "string"), "")
        if match["value"]:
            told = {_stem(one.column): one.column for one in (*known, *self._earlier())}
            column = told.get(_stem(" ".join(who)), " ".join(who))
            value = f"{match['how'] or ''} {match['value']}".strip()
        elif len(who) == 1:
            column, value = column or "who", who[0]
        else:
            column = column if column and who[-1].lower() in {"ones", column.lower()} else who[-1]
            value = " ".join(who[:-1])
        if w.COMPARATIVE.search(value) or (not match["value"] and w.NO_GROUP.search(value)):
            raise NotARule("a group that nobody can tell")
        condition = Condition(column, _listed(value.removeprefix("not ")), "string")
        condition = condition.negated if value.startswith("not ") else condition
        return _Head(start, match.end(), ((condition,),), weak=not match["value"])

    def _one(
        self, at: int, known: Sequence[Condition], *, is_if: bool
    ) -> tuple[Condition, int] | None:
        if known and (has := w.AND_HAS.match(self._text, at)):
            return _counted(has), has.end()
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
        condition = _named(condition, words, tail, whole, [*self._earlier(), *known])
        if thing and thing not in condition.column and not w.PERSONS.search(thing):
            condition = replace(condition, column=f"{condition.column} {thing}")
        return self._prefixed(condition, known), end + len(tail)

    def _prefixed(self, condition: Condition, known: Sequence[Condition]) -> Condition:
        """Return a condition whose new column says what its sentence is about."""
        column = condition.column
        told = [one.column for one in (*self._earlier(), *known)]
        if column in told:
            return condition
        longer = [name for name in told if _stem(name).endswith(f" {_stem(column)}")]
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

    def _elliptical(self) -> list[Case]:
        """Read `the agent up to 25 pounds, the lead above that`: each outcome, then its limit."""
        parts = [0, *(match.end() for match in w.NEXT.finditer(self._text))]
        if len(parts) < 2:
            return []
        heads: list[_Head] = []
        cases: list[Case] = []
        for start, end in zip(parts, [*parts[1:], len(self._text)], strict=True):
            stop = start + len(w.TAIL.sub("", self._text[start:end]))
            for word in w.LIMITED.finditer(self._text, start, stop):
                known = [one for head in heads for when in head.whens for one in when]
                if not w.BARE_LIMIT.match(self._text, word.end()):
                    continue
                read = self._number(word.end(), known)
                if read is not None and read[1] == stop:
                    head: _Head | None = _Head(word.start(), stop, ((read[0],),))
                else:
                    head = self._same(word.end(), heads)
                if head is not None and head.end == stop:
                    heads.append(head)
                    outcome = _outcome(self._text[start : word.start()])
                    cases.append(Case(head.whens[0], outcome, self._sentence))
                    break
            else:
                return []
        self._cases += cases
        return self._cases

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
                outcome = _outcome(self._text[: match.start()])
                self._cases += [Case(tuple(when), outcome, self._sentence) for when in read[0]]
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
    if after and (condition.unit == "day" or w.SINCE.match(after)):
        measure = measure or f"{condition.unit}s {after}"
    if w.MEASURED.fullmatch(after):
        measure = after
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
        is_own = measure != after or w.MEASURED.fullmatch(after)
        column = f"{subject} {measure}" if is_own else measure
    else:
        column = subject
    if w.PERIOD.fullmatch(after):
        column = f"{column} {after}"
    column = next((o.column for o in known if _stem(o.column) == _stem(column)), column)
    if (
        condition.unit in w.SHOWN
        and condition.unit not in column
        and (measure, condition.unit) != ("age", "year")
    ):
        column = f"{column} ({condition.unit})"
    return replace(condition, column=column)


def _beyond(last: Condition, sign: str) -> Condition:
    """Return the condition of what lies beyond one end of a range."""
    low, _, high = last.test.removeprefix("not(").removesuffix(")")[1:-1].partition("..")
    is_within = last.test.startswith("(") if sign == "<" else last.test.endswith(")")
    limit = low if sign == "<" else high
    return replace(last, test=f"{sign}{'=' if is_within else ''} {limit}")


def _several(who: str) -> tuple[str, list[str]]:
    """Return the column and the values of a list: `Gold and platinum members`."""
    *others, last = w.ITEMS.split(who)
    value, _, noun = last.rpartition(" ")
    if not value or any(" " in other for other in others):
        return "item", [*others, last]
    return noun, [*others, value]


def _counted(has: re.Match[str]) -> Condition:
    """Return the condition of `has no late payments` or `has a receipt`."""
    value = has["value"]
    if has["no"] and value.endswith("s"):
        return Condition(value, "0", "number")
    return Condition(value, '"none"' if has["no"] else '"present"', "string")


def _base(text: str) -> str:
    """Return what holds but for an exception. Raises NotARule if it has a condition too."""
    if re.search(r"\d", text) or w.WITHIN.search(text):
        raise NotARule("an exception to what may have a condition")
    return _outcome(text)


def _listed(value: str) -> str:
    """Return the tests of a value, or of those that `or` joins: `to Canada or Mexico`."""
    first, *others = re.split(r",?\s+or\s+(?:the\s+)?|,\s+(?:and\s+)?", value)
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
    if len(nouns) > 5:
        raise NotARule("more before the condition than its subject")
    return " ".join(nouns)


def _outcome(text: str) -> str:
    plain = re.sub(
        r"^(?:in which case|where|then|they|it|please)\s+(?:then |they |it )?",
        "",
        text.strip(" ,;:.–—-"),
        flags=re.I,
    )
    plain = re.sub(r"[,;\s]+(?:and|while|whereas|but)$", "", plain)
    if not re.search(r"\w", plain):
        raise NotARule("no outcome")
    leftover = (w.EXCEPT, w.INSIDE, w.LIMITS, w.GOES_ON, w.FOR_SOME)
    if any(pattern.search(plain) for pattern in leftover):
        raise NotARule("an outcome with a condition of its own")
    return plain
