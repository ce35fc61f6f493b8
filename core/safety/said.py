"""What the rules of both languages find in a text: what is said in it that may do harm."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from re import _constants as codes
from re import _parser as parser
from typing import Generic, TypeVar

from core.safety import (
    clauses,
    clauses_english,
    clauses_korean,
    data_out,
    english,
    english_evasions,
    english_in_name,
    english_silence,
    english_to_models,
    korean,
    korean_evasions,
    korean_in_name,
    korean_to_models,
    meanings,
    payments,
    words_english,
    words_korean,
)
from core.safety.rules import Rule

_SYLLABLES = re.compile("[\uac00-\ud7a3]{1,2}")
_LENGTH = 3  # of other letters; of Hangul two say as much, and one is better than none
_MOST_SIGNS = 400
_Signs = frozenset[str]

_Rule = TypeVar("_Rule")
_Found = tuple[str, int, int]


class Index(Generic[_Rule]):
    """Rules, found by what a text contains: letters of each part that a match cannot do without.

    To try every rule on every text took three quarters of the screen's time; most rules speak of
    words that are not there. The letters are read off the patterns, so no list of them can be
    forgotten.
    """

    def __init__(
        self, rules: Sequence[_Rule], asked_of: Callable[[_Rule], Sequence[re.Pattern[str] | None]]
    ) -> None:
        """Read the letters off the patterns that a text has to match for a rule."""
        self._rules = tuple(rules)
        self._always: set[int] = set()
        self._ways: list[tuple[int, int]] = []  # the parts that are asked for, and whose way it is
        parts: dict[str, int] = defaultdict(int)
        first: dict[str, set[int]] = defaultdict(set)
        number = 0
        for at, rule in enumerate(rules):
            patterns = [one for one in asked_of(rule) if one is not None]
            needed = [signs for other in patterns[1:] for signs in parts_of(other)]
            for way in ways_of(patterns[0]) if patterns else [[]]:
                rarest = _best([*way, *needed])
                asked = 0
                for signs in (*way, *needed):
                    for sign in signs:
                        parts[sign] |= 1 << number
                    asked |= 1 << number
                    number += 1
                if rarest is None:
                    self._always.add(at)
                for sign in rarest or ():
                    first[sign].add(len(self._ways))
                self._ways.append((asked, at))
        self._parts, self._first = dict(parts), dict(first)

    def rules_for(self, letters: set[str]) -> list[_Rule]:
        """Return the rules that may match a text with such letters, in their order."""
        parts, there = self._parts, 0
        for sign in parts.keys() & letters:
            there |= parts[sign]
        absent = ~there
        found = self._first
        begun: set[int] = set()
        for sign in found.keys() & letters:
            begun |= found[sign]
        ways = (self._ways[way] for way in begun)
        may = {at for asked, at in ways if not asked & absent} | self._always
        return [self._rules[at] for at in sorted(may)]


def letters_of(text: str) -> set[str]:
    """Return all rows of letters of a text by which rules are found."""
    found = {text[at : at + _LENGTH] for at in range(len(text) - _LENGTH + 1)}
    if not text.isascii():
        found |= {text[at : at + 2] for at in range(len(text) - 1)}
        found |= set(text)
    return found


def ways_of(pattern: re.Pattern[str]) -> list[list[_Signs]]:
    """Return the parts of each of the ways in which a pattern may match."""
    if pattern.flags & re.IGNORECASE:
        return [[]]
    row = list(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))
    at = [number for number, (code, _) in enumerate(row) if code is codes.BRANCH]
    if len(at) != 1:
        return [_parts(row)]
    common = [*_parts(row[: at[0]]), *_parts(row[at[0] + 1 :])]
    return [[*common, *_parts(branch)] for branch in row[at[0]][1][1]]


def parts_of(pattern: re.Pattern[str]) -> list[_Signs]:
    """Return letters by parts of a pattern; each match contains some of each part's."""
    if pattern.flags & re.IGNORECASE:
        return []
    return _parts(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))


def _parts(row: Iterable[tuple[object, object]]) -> list[_Signs]:
    parts: list[_Signs] = []
    run = ""
    for code, value in [*row, (None, None)]:
        if code is codes.LITERAL:
            assert isinstance(value, int)
            run += chr(value)
            continue
        parts += _of_run(run)
        run = ""
        parts += _of_part(code, value)
    return parts


def _best(parts: Sequence[_Signs]) -> _Signs | None:
    return min(parts, key=_weight, default=None)


def _weight(signs: _Signs) -> int:
    """Return how often some of the letters may stand in a text that says something else."""
    return sum(1 if len(sign) > 1 else 8 for sign in signs)


def _of_run(run: str) -> Iterator[_Signs]:
    hangul = _SYLLABLES.search(run)
    if hangul:
        yield frozenset({hangul[0]})
    elif len(run) >= _LENGTH:
        yield frozenset({run[:_LENGTH]})


def _of_part(code: object, value: object) -> list[_Signs]:
    if code is codes.SUBPATTERN:
        assert isinstance(value, tuple)
        return _parts(value[-1])
    if code is codes.ASSERT:
        assert isinstance(value, tuple)
        return _parts(value[1]) if value[0] > 0 else []
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        assert isinstance(value, tuple)
        return _parts(value[2]) if value[0] else []
    if code is codes.IN:
        assert isinstance(value, list)
        chars = [chr(one) for kind, one in value if kind is codes.LITERAL]
        hangul = len(chars) == len(value) and all(map(_SYLLABLES.match, chars))
        return [frozenset(chars)] if hangul else []
    if code is codes.BRANCH:
        assert isinstance(value, tuple)
        together: set[str] = set()
        for branch in value[1]:
            best = _best(_parts(branch))
            if best is None or len(together) > _MOST_SIGNS:
                return []
            together |= best
        return [frozenset(together)]
    return []


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
        *english_in_name.RULES,
        *korean.RULES,
        *korean_to_models.RULES,
        *meanings.KOREAN_RULES,
        *korean_evasions.RULES,
        *korean_in_name.RULES,
        *data_out.RULES,
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
    r"|미만|까지|이내|안쪽|밑|한도\s?(?:내|안)?에서)"
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


def classes_of(folded: str) -> str:
    """Return the words of a text by their classes, a letter each, clauses parted by `|`."""
    return _WORDS_OF_BOTH.read(folded).letters


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
