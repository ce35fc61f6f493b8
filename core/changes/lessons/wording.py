"""What a lesson says: what happened, and the words of people, in the language of these words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from core.decision_table.document.markup import said_in
from core.domain.messages import Message, term, translated
from core.domain.models import Kind, Operation
from core.domain.models.lessons import ChangeFact, Evidence, EvidenceKind, RunFact
from core.domain.text import one_line, shorten
from core.knowledge.search.vectors import KOREAN_SHARE, hangul_share
from core.safety.lessons import problem_of_lesson

QUOTED = 3  # pieces of evidence that a lesson quotes: the newest
_WHY_CHARS, _NAME_CHARS, _PART_CHARS = 300, 80, 160
_SHORTER, _LONGER = 0.75, 1.33
_NUMBER = re.compile(r"\d[\d.,:/-]*")
# A person who takes a change back over the API or the console is named behind their reason.
_ASKED_BY = ", asked for by "


class Words(NamedTuple):
    """What a piece of evidence says: the words that are quoted, and what they are about."""

    why: str = ""
    name: str = ""
    before: str = ""
    after: str = ""

    @property
    def said(self) -> str:
        """All of it, by which the language is told."""
        return " ".join((self.why, self.name, self.before, self.after))


def words_of_change(kind: EvidenceKind, fact: ChangeFact) -> Words:
    """Return what a change says as evidence."""
    name = shorten(one_line(fact.target_name), _NAME_CHARS)
    if kind is EvidenceKind.REJECTED:
        return Words(why=_line(fact.decision, _WHY_CHARS), name=name)
    if kind is EvidenceKind.RETRACTED:
        return Words(why=reason_of(fact), name=name)
    first = fact.proposed if kind is EvidenceKind.EDITED else fact.before
    gone, new = _difference(_plain(fact.kind, first), _plain(fact.kind, fact.after))
    return Words(name=name, before=gone, after=new)


def words_of_run(fact: RunFact) -> Words:
    """Return what a run that went right after a failed one says as evidence."""
    return Words(
        why=_line(fact.error, _PART_CHARS),
        name=_line(fact.content, _PART_CHARS),
        after=_line("; ".join(fact.made), _PART_CHARS),
    )


def reason_of(fact: ChangeFact) -> str:
    """Return why a person took a change back, "" if they did not say so."""
    return _line(fact.reason.partition(_ASKED_BY)[0], _WHY_CHARS) if fact.names_one else ""


def shape_of_edit(fact: ChangeFact) -> str:
    """Return what people did to what was proposed, as a word: edits alike make one lesson."""
    first, last = _plain(fact.kind, fact.proposed), _plain(fact.kind, fact.after)
    if set(_NUMBER.findall(first)) != set(_NUMBER.findall(last)):
        return "figures"
    part = len(last) / max(1, len(first))
    if part <= _SHORTER:
        return "shortened"
    return "lengthened" if part >= _LONGER else "reworded"


def without_harm(words: Words) -> Words | None:
    """Return the words that a lesson may quote; None if the reason itself is none that it may.

    What was proposed may have been rejected for just what it said: of that the name is left out.
    """
    if problem_of_lesson(words.why):
        return None
    kept = [text if not problem_of_lesson(text) else "" for text in words[1:]]
    return Words(words.why, *kept)


def text_of(pieces: Sequence[tuple[Evidence, Words]]) -> str:
    """Return the text of a lesson: what it is about, then a line for each piece of evidence."""
    evidence = pieces[0][0]
    said = " ".join(words.said for _, words in pieces)
    language = "ko" if hangul_share(said) >= KOREAN_SHARE else "en"
    lines = [_head(evidence), *(_quoted(one.kind, words) for one, words in pieces)]
    return "\n".join(dict.fromkeys(translated(language, line) for line in lines))


_ASKED: Mapping[Operation, Callable[[Message], Message]] = {
    Operation.CREATE: lambda kind: Message("lesson.create", kind=kind),
    Operation.UPDATE: lambda kind: Message("lesson.update", kind=kind),
    Operation.DELETE: lambda kind: Message("lesson.delete", kind=kind),
}


def _head(evidence: Evidence) -> Message:
    if evidence.kind is EvidenceKind.RECOVERED:
        return Message("lesson.recovered", why=evidence.about)
    kind = term(evidence.about)
    if evidence.kind is EvidenceKind.RETRACTED:
        return Message("lesson.retracted", kind=kind)
    if evidence.kind is EvidenceKind.OVERRIDDEN:
        return Message("lesson.overridden", kind=kind)
    asked = _ASKED[Operation(evidence.operation)](kind)
    if evidence.kind is EvidenceKind.EDITED:
        return Message("lesson.edited", what=asked)
    return Message("lesson.rejected", what=asked)


def _quoted(kind: EvidenceKind, words: Words) -> Message:
    if kind is EvidenceKind.RECOVERED:
        return Message("lesson.line_recovered", name=words.name, made=words.after)
    if kind in {EvidenceKind.EDITED, EvidenceKind.OVERRIDDEN}:
        changed = {"before": words.before, "after": words.after, "name": words.name}
        if kind is EvidenceKind.EDITED:
            return Message("lesson.line_edited", **changed)
        return Message("lesson.line_overridden", **changed)
    if not words.why:
        return Message("lesson.line_name", name=words.name)
    if not words.name:
        return Message("lesson.line_why", why=words.why)
    return Message("lesson.line", why=words.why, name=words.name)


def _difference(first: str, last: str) -> tuple[str, str]:
    """Return the words that one text has and the other has not, each cut."""
    one, other = first.split(), last.split()
    gone, new = list[str](), list[str]()
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    for what, a, b, c, d in matcher.get_opcodes():
        if what != "equal":
            gone += one[a:b]
            new += other[c:d]
    return _line(" ".join(gone), _PART_CHARS), _line(" ".join(new), _PART_CHARS)


def _plain(kind: Kind, content: str | None) -> str:
    """Return what people wrote of a content; of a table without its markup."""
    if content is None:
        return ""
    return said_in(content) if kind is Kind.DMN_RULE else content


def _line(text: str, most: int) -> str:
    return shorten(one_line(text), most)
