"""The cases that code derives from what a change does, without a model (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from core.changes.cases.behaviour import cases_of_evals
from core.changes.cases.running import plain, says
from core.decision_table.learning.cases import cases_of
from core.domain.errors import BundleInvalid, RuleInvalid
from core.domain.models import Change, Kind, Snapshot
from core.domain.models.cases import CaseBody, Check
from core.domain.text import shorten
from core.knowledge.duplicates.contrasts import differences
from core.knowledge.duplicates.words import words_of
from core.knowledge.search.little_words import is_little
from core.knowledge.search.tokens import runs, suffix_start
from core.skills.document.frontmatter import parted, read_frontmatter
from core.skills.document.markdown import blocks, headings_in, lines_of, lists_in

MOST_STEPS = 5
MOST_UNSAID = 3
MOST_ROWS = 20
_MOST_WORDS = 6  # of a derived question
_READ_CHARS = 20_000
_LEAST, _LONGEST = 6, 200  # characters of a statement
_ITEM = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_NUMBERED = re.compile(r"\s*\d{1,9}[.)]\s")
_CONDITIONS = re.compile(
    r"pre-?condition|prerequisite|requirement|before (?:you|it)|when (?:not )?to use"
    r"|전제|선행|사전|조건|준비|시작 ?전",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?:다|요|까|죠|음|함|됨|것)$")  # how a Korean sentence ends: no word to ask by
_VALUES = frozenset(("number", "name"))


def derive(change: Change, blobs: Mapping[str, bytes] | None = None) -> Sequence[CaseBody]:
    """Return what a change lets code ask: those that do not hold after it prove nothing.

    A memory: a question of half its words, and values that must no longer be said. A skill: a
    request for it, steps and preconditions that it adds, statements that it drops, what its
    `evals/evals.json` asks. A table: the cases that its rows were learnt from.
    """
    if change.after is None:
        return ()
    if change.kind is Kind.DMN_RULE:
        return _rows(change.after, change.before)
    if change.kind is Kind.SKILL:
        evals = cases_of_evals(change.after, blobs or {})
        return [*_skill(change.after, change.before), *evals]
    return [*_question(Check.RECALL, change.after.content), *_superseded(change)]


def question_of(text: str) -> str:
    """Return the half of a text's words that tell most of it apart, in their order; "" of too few.

    Long words are rare ones (Zipf); a Korean word is asked for without its particle.
    """
    words = list(dict.fromkeys(_words(text[:_READ_CHARS])))
    most = min(len(words) // 2, _MOST_WORDS)
    if most < 1:
        return ""
    ranked = sorted(range(len(words)), key=lambda at: (-_telling(words[at]), at))[:most]
    return " ".join(words[at] for at in sorted(ranked))


def _question(check: Check, text: str) -> Iterator[CaseBody]:
    if asked := question_of(text):
        yield CaseBody(check=check, text=asked)


def _words(text: str) -> Iterator[str]:
    for kind, piece, _ in runs(text):
        word = piece[0]
        if kind == "unspaced":
            stem = word[: suffix_start(word)]
            if len(stem) > 1 and not _ENDS.search(word):
                yield stem
        elif kind == "number" or not is_little(word):
            yield word


def _telling(word: str) -> float:
    """Return how much a word tells: a syllable of Hangul as much as two letters."""
    if word[0].isdecimal():
        return 2.0 + len(word) / 2
    return float(len(word) if word.isascii() else 2 * len(word))


def _superseded(change: Change) -> Iterator[CaseBody]:
    """Yield the values and names of the old text that the new one does not have."""
    if change.before is None or change.after is None:
        return
    old, new = change.before.content[:_READ_CHARS], change.after.content[:_READ_CHARS]
    told = [
        text
        for one in differences(words_of(new), words_of(old))
        if one.what in _VALUES
        for text in one.known
    ]
    told = [text for text in dict.fromkeys(told) if len(text) > 1]  # one syllable is in any word
    gone = [text for text in told if says(old, text) and not says(new, text)]
    yield from (CaseBody(check=Check.UNSAID, text=text) for text in gone[:MOST_UNSAID])


def _rows(after: Snapshot, before: Snapshot | None) -> Sequence[CaseBody]:
    """Return the cases that rows were learnt from, of those that the change brings."""
    try:
        had = cases_of(before.content) if before else {}
        has = cases_of(after.content)
    except RuleInvalid:
        return ()
    known = [(row, case.inputs, case.outcome) for row, own in had.items() for case in own]
    new = (
        CaseBody(check=Check.DECISION, inputs=case.inputs, outputs=case.outcome)
        for row, own in has.items()
        for case in own
        # Without an outcome it asks the clock: what it comes to does not last.
        if case.outcome is not None and (row, case.inputs, case.outcome) not in known
    )
    return [*islice(new, MOST_ROWS)]


def _skill(after: Snapshot, before: Snapshot | None) -> Sequence[CaseBody]:
    new, old = after.content, before.content if before else ""
    described, was = _description(new), _description(old)
    found = [*_question(Check.CHOSEN, described)] if described != was else []
    had = plain(old)
    steps = (
        CaseBody(check=Check.STANDS, text=text) for text in _steps(new) if plain(text) not in had
    )
    has = plain(new)
    gone = (
        CaseBody(check=Check.WITHDRAWN, text=text) for text in _steps(old) if plain(text) not in has
    )
    return [*found, *islice(steps, MOST_STEPS), *islice(gone, MOST_STEPS)]


def _description(document: str) -> str:
    try:
        return read_frontmatter(document).description if document else ""
    except BundleInvalid:
        return ""


def _steps(document: str) -> Iterator[str]:
    """Yield the numbered steps and the preconditions of a skill, wherever they stand in it."""
    _, body = parted(document)
    try:
        found = blocks(body)
    except BundleInvalid:  # too long to be read
        return
    heads, lines = headings_in(found), lines_of(body)
    for one in lists_in(found):
        above = [head.text for head in heads if head.first < one.items[0]]
        is_wanted = bool(above) and _CONDITIONS.search(above[-1]) is not None
        for first in one.items:
            if is_wanted or _NUMBERED.match(lines[first]):
                text = " ".join(_ITEM.sub("", lines[first], count=1).split())
                if len(plain(text)) >= _LEAST:
                    yield _beginning(text)


def _beginning(text: str) -> str:
    """Return the first sentence of a step, or as many words of it as fit."""
    sentence = re.split(r"(?<=[.!?。])\s", text, maxsplit=1)[0]
    if len(sentence) <= _LONGEST:
        return sentence
    return shorten(sentence, _LONGEST).rpartition(" ")[0] or sentence[:_LONGEST]
