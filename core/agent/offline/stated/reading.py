"""The rules that a text states as a whole, or none: what is left over makes it no table."""

from __future__ import annotations

import re

from core.agent.offline.stated import english, korean
from core.agent.offline.stated.beside import is_beside
from core.agent.offline.stated.statement import Case, NotARule, in_one_unit
from core.agent.offline.text import clauses, is_korean

# Rules are said in short sentences. Endings are tried at every syllable, which takes the square of
# the length: 20,000 syllables without a blank took minutes.
MAX_SENTENCE = 300
MAX_TEXT = 2_000
# `Children are not allowed on that ward`, after a sentence that told which.
REFERS = re.compile(
    r"\b(?:that|this|those|these|such|the same) (?!means?\b|is\b|one\b)[a-z]+|\bthere\b(?!'s)"
    r"|\bthe other\b"
    r"|(?:^|\s)(?:그|이|저|해당|같은) [가-힣]|거기|그쪽|이런|그런",
    re.I,
)


def cases_in(text: str) -> list[Case]:
    """Return the cases that the sentences of a text state; none if one of them says other things.

    A sentence without a subject is about the subject of the one before it.
    """
    try:
        cases: list[Case] = []
        is_alone = True
        sentences = clauses(text) if len(text) <= MAX_TEXT else []
        if any(len(sentence) > MAX_SENTENCE for sentence in sentences):
            return []
        for sentence in sentences:
            if is_beside(sentence):
                is_alone = False
                continue
            read = korean.cases_of if is_korean(sentence) else english.cases_of
            cases = read(sentence, cases)
        _check(cases, is_alone=is_alone)
        return in_one_unit(cases)
    except NotARule:
        return []


def _check(cases: list[Case], *, is_alone: bool) -> None:
    """Raise NotARule for a statement about one group of people or things and no other."""
    if not is_alone and (len(cases) == 1 or any(REFERS.search(case.then) for case in cases)):
        raise NotARule("what was told before may be a condition")
    columns = [{condition.column for condition in case.when} for case in cases]
    for case, mine in zip(cases, columns, strict=True):
        if case.weak and sum(mine <= other or not other for other in columns) < 2:
            raise NotARule("a fact about one group")
    for case in cases:
        names = [condition.column for condition in case.when]
        if len(set(names)) < len(names):
            raise NotARule("two conditions on one column")
    if any(not case.when for case in cases[:-1]):
        raise NotARule("more after what is left")
