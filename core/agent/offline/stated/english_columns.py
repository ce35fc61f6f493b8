"""Columns, tests and outcomes from the words of an English condition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.agent.offline.stated import english_words as w
from core.agent.offline.stated.amounts import amounts
from core.agent.offline.stated.statement import Case, Condition, NotARule


def with_column(
    condition: Condition, words: str, tail: str, whole: str, known: Sequence[Condition]
) -> Condition:
    """Return the condition with its column: the noun before it, and what the number measures."""
    subject = subject_of(words)
    after = re.sub(r"^(?:inclusive|each)\s*", "", tail.strip())
    measure = _measure(condition, words, after, whole)
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
    column = next((o.column for o in known if stem_of(o.column) == stem_of(column)), column)
    if (
        condition.unit in w.SHOWN
        and condition.unit not in column
        and (measure, condition.unit) != ("age", "year")
    ):
        column = f"{column} ({condition.unit})"
    return replace(condition, column=column)


def _measure(condition: Condition, words: str, after: str, whole: str) -> str:
    """Return what a number is of: `weight` where something weighs, `days after purchase`."""
    measure = next((name for pattern, name in w.MEASURES if pattern.search(whole)), "")
    if condition.kind in {"date", "time"}:
        return condition.kind
    if measure == "duration" and w.DEFAULTS.get(condition.unit) in {"length", "distance"}:
        measure = "length"
    if w.MEASURED.fullmatch(after):
        return after
    if not measure and after and (condition.unit == "day" or w.SINCE.match(after)):
        measure = f"{condition.unit}s {after}"
    if not measure and not condition.unit and w.PERSONS.search(words):
        measure = "age"
    return measure or (after.removeprefix("of ") if after.startswith("of ") else "")


def beyond(last: Condition, sign: str) -> Condition:
    """Return the condition of what lies beyond one end of a range."""
    low, _, high = last.test.removeprefix("not(").removesuffix(")")[1:-1].partition("..")
    is_within = last.test.startswith("(") if sign == "<" else last.test.endswith(")")
    limit = low if sign == "<" else high
    return replace(last, test=f"{sign}{'=' if is_within else ''} {limit}")


def several_values(who: str) -> tuple[str, list[str]]:
    """Return the column and the values of a list: `Gold and platinum members`."""
    *others, last = w.ITEMS.split(who)
    value, _, noun = last.rpartition(" ")
    if not value or any(" " in other for other in others):
        return "item", [*others, last]
    return noun, [*others, value]


def counted(has: re.Match[str]) -> Condition:
    """Return the condition of `has no late payments` or `has a receipt`."""
    value = has["value"]
    if has["no"] and value.endswith("s"):
        return Condition(value, "0", "number")
    return Condition(value, '"none"' if has["no"] else '"present"', "string")


def base_of(text: str) -> str:
    """Return what holds but for an exception. Raises NotARule if it has a condition too."""
    if re.search(r"\d", text) or w.WITHIN.search(text):
        raise NotARule("an exception to what may have a condition")
    return outcome_of(text)


def tests_of(value: str) -> str:
    """Return the tests of a value, or of those that `or` joins: `to Canada or Mexico`."""
    first, *others = re.split(r",?\s+or\s+(?:the\s+)?|,\s+(?:and\s+)?", value)
    lead = re.match(r"(?:\w+ )?(?:from|to|in|by|via|with|at) ", first)
    more = [f"{lead[0] if lead else ''}{other}" for other in others]
    return ", ".join(f'"{one}"' for one in (first, *more))


def stem_of(column: str) -> str:
    """Return a column in lower case, without plurals and its unit, by which columns are told."""
    return re.sub(r"s\b|\s*\([^)]*\)$", "", column.casefold())


def subject_of(words: str) -> str:
    """Return the nouns of a subject, without articles, verbs and prepositions."""
    kept = [word for word in re.findall(r"[\w'-]+", words) if word.lower() not in w.ARTICLES]
    nouns = [word for word in kept if word.lower() not in w.LINKS]
    nouns = [word for word in nouns if word.lower() not in w.BARE or len(nouns) > 1]
    if len(nouns) > 5:
        raise NotARule("more before the condition than its subject")
    return " ".join(nouns)


def outcome_of(text: str) -> str:
    """Return a text as an outcome. Raises NotARule if it has a condition of its own."""
    plain = re.sub(
        r"^(?:in which case|where|then|they|it|please)\s+(?:then |they |it )?",
        "",
        text.strip(" ,;:.–—-"),
        flags=re.I,
    )
    plain = re.sub(r"[,;\s]+(?:and|while|whereas|but)$", "", plain)
    if not re.search(r"\w", plain) or re.match(r"(?:than|of|or)\b", plain):
        raise NotARule("no outcome")
    leftover = (w.EXCEPT, w.INSIDE, w.LIMITS, w.GOES_ON, w.FOR_SOME)
    if any(pattern.search(plain) for pattern in leftover):
        raise NotARule("an outcome with a condition of its own")
    return plain


def split_cases(match: re.Match[str], sentence: str) -> list[Case]:
    """Return the cases of `The cap is $250 in London and $150 in all other cities`."""
    if not (w.SHORT.search(match["one"]) and w.SHORT.search(match["two"])):
        raise NotARule("two outcomes that may be one")
    other = match["other"]
    values = ", ".join(f'"{value}"' for value in w.ITEMS.split(match["some"]))
    column = other.split()[-1] if other and "else" not in other else subject_of(match["what"])
    some = Condition(column, values, "string")
    rest = some.negated
    if other is None:
        rest = replace(some, test=", ".join(f'"{v}"' for v in w.ITEMS.split(match["more"])))
    return [
        Case((some,), outcome_of(match.string[: match.end("one")]), sentence),
        Case((rest,), outcome_of(match["two"]), sentence),
    ]


def check_words(text: str, cases: list[Case]) -> None:
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


def about_of(label: str) -> str:
    """Return what a label says that its sentence is about. Raises NotARule for a group."""
    words = label.partition(",")[0].split()
    if w.NARROWING.search(label) or w.PERSONS.search(label) or w.WITHIN.search(label):
        raise NotARule("what it is about is a condition too")
    return " ".join(words[-2:])
