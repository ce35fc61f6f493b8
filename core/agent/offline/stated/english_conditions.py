"""The conditions of an English sentence: compared numbers, with and without, what something is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from core.agent.offline.stated import english_words as w
from core.agent.offline.stated.amounts import MONEY, Amount, amounts
from core.agent.offline.stated.found import Found, at_words
from core.agent.offline.stated.statement import BEYOND, ELSE, Condition, Ends, NotARule, size

VERB = re.compile(rf"\b(?:{w.VERB}|{'|'.join(w.MORE_VERBS)})\b(?!')", re.I)

_BEFORE = tuple(
    (
        sign,
        re.compile(
            rf"(?:\b(?:the |an? |it's |is |are )?)\b(?:{text})[\s-](?:the |an? |about )?$", re.I
        ),
    )
    for sign, text in w.BEFORE
)

_AFTER = tuple((sign, re.compile(text, re.I)) for sign, text in w.AFTER)

_IS = re.compile(w.IS.pattern.replace("VERB", VERB.pattern), re.I)
_WITH = re.compile(w.WITH.pattern.replace("VERB", VERB.pattern), re.I)

FEW = 5  # words between an outcome and its condition


def value_of(column: str, value: str, no: bool = False) -> Condition:
    """Return the condition that a column has one of these values, or with `no` none of them.

    Raises NotARule if they read like another clause.
    """
    values = [one.strip() for one in re.split(r",? and |,? or |, |/", value)]
    if ", " in value and not re.search(r"\b(?:and|or)\b", value):
        raise NotARule("several values, or another clause")
    if value.endswith(".") or w.COUNTED.search(value) or w.INSIDE.search(value):
        raise NotARule("a name that is cut")
    if any(map(w.A_UNIT.fullmatch, values)):
        raise NotARule("a unit, and no value")
    if any(
        w.GIVEN.search(w.NAMED.sub("", one)) or len(one.split()) > FEW or w.ASTRAY.match(f"{one} x")
        for one in values
    ):
        raise NotARule("a value that holds an outcome")
    tests = ", ".join(f'"{one}"' for one in values if one)
    return Condition(column, f"not({tests})" if no else tests, "string")


def conditions_of(text: str) -> list[Found]:
    """Return the conditions of a sentence, none of which overlap."""
    found: list[Found] = list(compared(text))
    for pattern, read in _READ:
        for match in at_words(pattern, text):
            if any(f.start < match.end() and match.start() < f.end for f in found):
                continue
            if not _is_outcome(pattern, match, text):
                found.append(Found(match.start(), match.end(), read(match)))
    return found


def _is_outcome(pattern: re.Pattern[str], match: re.Match[str], text: str) -> bool:
    """Whether words that may be a condition are of an outcome: `a meeting with the head`."""
    if match[0].lower() == "then":
        return " first " not in text
    led = re.split(r"[,;:]", text[: match.start()])[-1]
    led = led if len(led.split()) > 1 else ""  # `Returns with a receipt`
    return pattern is _WITH and bool(VERB.search(led) or re.search(r"\d", led))


def _beyond(match: re.Match[str]) -> Condition:
    is_up = match["after"] or match["up"] or match["up2"] or match["up3"] or match["since"]
    return Condition("", "up" if is_up else "down", BEYOND)


def _with(match: re.Match[str]) -> Condition:
    is_with = match["how"].lower() == "with" and not match["no"]
    what = match["what"] if match["what"] not in {None, "one"} else "?"
    return Condition(what or "?", '"with"' if is_with else '"without"', "string")


def _is(match: re.Match[str]) -> Condition:
    return value_of("", match["value"], no=bool(match["not"]))


_READ: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Condition]], ...] = (
    (w.BEYOND, _beyond),
    (w.ELSE, lambda _: Condition("", "-", ELSE)),
    (_WITH, _with),
    (_IS, _is),
)


def compared(text: str) -> Iterator[Found]:
    """Yield the compared numbers of a sentence; two that make a range are one condition."""
    found = amounts(text, korean=False)
    at = 0
    while at < len(found):
        one = found[at]
        after = found[at + 1] if at + 1 < len(found) else None
        made = _range(text, one, after) if after else None
        at += 2 if made else 1
        made = made or _limit(text, one)
        if made:
            yield _post(text, made)


def _sign_before(text: str, one: Amount) -> tuple[str, int] | None:
    lead = text[max(0, one.start - 40) : one.start].rstrip("$€£₩")
    offset = max(0, one.start - 40)
    for sign, pattern in _BEFORE:
        if match := pattern.search(lead):
            return sign, offset + match.start()
    for sign, pattern in (("<=", w.FIRST), (">=", w.HITS)):
        if match := pattern.search(lead):
            return sign, offset + match.start()
    return None


def _limit(text: str, one: Amount) -> Found | None:
    if one.kind == "unclear":
        raise NotARule("a time that may be at night")
    for sign, pattern in _AFTER:
        if match := pattern.match(text, one.end):
            return Found(one.start, match.end(), _number(one, f"{sign} {one.text}"))
    if before := _sign_before(text, one):
        sign, start = before
        return Found(start, one.end, _number(one, f"{sign} {one.text}"))
    return None


def _range(text: str, one: Amount, other: Amount) -> Found | None:
    joint = w.RANGE.fullmatch(text, one.end, other.start) or w.RANGE.fullmatch(
        text[one.end : other.start]
    )
    if (
        joint is None
        or one.kind != other.kind
        or (one.unit and other.unit and one.unit != other.unit)
    ):
        return None
    before = _sign_before(text, one)
    between = w.BETWEEN.search(text[: one.start])
    word = joint["to"].strip().lower()
    if word in {"and", "or"} and not (between and "between" in between[0].lower()):
        return None
    if before and not before[0].startswith(">"):
        return None
    if size(one.text) >= size(other.text):
        raise NotARule("an empty interval")
    if ("up to" in word and not (before or joint["under"])) or (
        one.unit and not other.unit and one.unit not in MONEY
    ):
        return None
    start = before[1] if before else between.start() if between else one.start
    test = Ends(one.text, not before or before[0] == ">=", other.text, not joint["under"]).test
    return Found(start, other.end, _number(replace(one, unit=one.unit or other.unit), test))


def _post(text: str, made: Found) -> Found:
    """Add what the number counts, and words as `old` and `overdue`."""
    end, head = made.end, ""
    if re.match(r"s(?![\w'])", text[end : end + 2]):
        end += 1
    noun = w.HEAD.match(text, end)
    if noun and not made.one.unit and not VERB.fullmatch(noun["noun"]):
        end, head = noun.end(), noun["noun"]
    after = w.POST.match(text, end)
    if after:
        head = f"{head} {text[end : after.end()]}".strip()
        end = after.end()
    return replace(made, end=end, head=head)


def _number(one: Amount, test: str) -> Condition:
    return Condition("", test, one.kind, one.unit)
