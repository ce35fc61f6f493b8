"""What the rules of both languages find in a text: what is said in it that may do harm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.safety import (
    clauses,
    clauses_english,
    clauses_korean,
    english,
    english_evasions,
    english_silence,
    english_to_models,
    korean,
    korean_evasions,
    korean_to_models,
    meanings,
    payments,
    words_english,
    words_korean,
)
from core.safety.rules import Rule
from core.safety.signs import Index, letters_of

_Found = tuple[str, int, int]


def _asked(rule: Rule | clauses.ClauseRule) -> Sequence[re.Pattern[str] | None]:
    """Return what a text must match for a rule; a clause is read in letters of its own."""
    return (rule.pattern, rule.needs) if isinstance(rule, Rule) else (rule.needs,)


_RULES = Index[Rule | clauses.ClauseRule](
    (
        *english.RULES,
        *english_silence.RULES,
        *english_to_models.RULES,
        *payments.ENGLISH_RULES,
        *meanings.ENGLISH_RULES,
        *english_evasions.RULES,
        *korean.RULES,
        *korean_to_models.RULES,
        *meanings.KOREAN_RULES,
        *korean_evasions.RULES,
        *clauses_english.RULES,
        *clauses_korean.RULES,
    ),
    _asked,
)
_WORDS_OF_BOTH = clauses.Words(
    {
        letter: "|".join(filter(None, (words_english.WORDS.get(letter), korean)))
        for letter, korean in {
            **dict.fromkeys(words_english.WORDS, ""),
            **words_korean.WORDS,
        }.items()
    }
)
_HANGUL = re.compile("[\uac00-\ud7a3]")
_WORDS = re.compile("[a-z]{3}")
ENDS = re.compile(r"\n|;|[.!?。](?=\s|$)| / ")
_BOUNDED = re.compile(
    r"(?:\b(?:up to|under|below|less than|at most|no more than|within"
    r"|max(?:imum)?(?: of)?|smaller than|fewer than|not (?:over|above"
    r"|exceeding))|[<≤]=?)\s*(?:of )?[€$£₩¥]?\s?\d"
    r"|\d[\d,.]*\s?(?:만|천|백|억)?\s?(?:원|달러|유로|개|건|일|시간|분"
    r"|kg|g|%|퍼센트|명|회|장|매|권|박|주|km)?\s?(?:어치|짜리|상당)?\s?(?:이하"
    r"|미만|까지|이내|안쪽|밑)"
)
_VALUE_OF = '":'
_LONGEST_CLAUSE = 300
_MOST = 200
_NEAR = 32


def said(folded: str) -> Iterator[_Found]:
    """Yield what the rules of both languages find."""
    of_clauses = []
    for rule in _RULES.rules_for(letters_of(folded)):
        if isinstance(rule, Rule):
            yield from _matches(rule, folded)
        else:
            of_clauses.append(rule)
    for one in _WORDS_OF_BOTH.read(folded).matches_of(of_clauses, folded):
        if _VALUE_OF in folded[one.start : one.end]:
            continue  # a value of JSON: its other values are the condition
        begin, until = _clause(folded, one.start, one.end)
        bounded = one.bounded and _BOUNDED.search(folded, begin, until)
        yield ("threshold.new" if bounded else one.code), one.start, one.end


def _matches(rule: Rule, folded: str) -> Iterator[_Found]:
    for number, one in enumerate(rule.pattern.finditer(folded)):
        start, end = one.span()
        if number == _MOST:  # what is so often like it is for a person
            yield rule.code, start, len(folded)
            return
        if rule.but is not None and rule.but.search(folded, start, end):
            continue
        begin, until = _clause(folded, start, end)
        clause = folded[begin:until]
        if rule.needs is not None and not rule.needs.search(clause):
            continue
        if rule.unless is not None and _is_ordinary(rule, clause, start - begin, end - begin):
            continue
        while start < end and folded[start] in "\n ,.-":
            start += 1
        bounded = rule.bounded and _BOUNDED.search(clause)
        yield ("threshold.new" if bounded else rule.code), start, end


def _is_ordinary(rule: Rule, clause: str, start: int, end: int) -> bool:
    """Whether what stands beside a match says that it is nothing harmful."""
    assert rule.unless is not None
    head, tail = clause[:start], clause[end:]
    if rule.code.startswith("control."):  # a "never" further away is about something else
        if not clause.startswith("without", start):
            head = head[-_NEAR:].rpartition(", ")[2]
        tail = tail[: 2 * _NEAR]
    return bool(rule.unless.search(head) or rule.unless.search(tail))


def _clause(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the clause around a span begins and ends."""
    begin = max(0, start - _LONGEST_CLAUSE)
    for one in ENDS.finditer(text, begin, start):
        begin = one.end()
    after = ENDS.search(text, end, min(len(text), end + _LONGEST_CLAUSE))
    return begin, after.start() if after else min(len(text), end + _LONGEST_CLAUSE)
