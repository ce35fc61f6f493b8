"""The rules that a text states as a whole, or none: what is left over makes it no table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from core.agent.offline.stated import english, korean, korean_words
from core.agent.offline.stated.beside import is_beside, narrows
from core.agent.offline.stated.joining import joined
from core.agent.offline.stated.piecing import pieced
from core.agent.offline.stated.plainer import plain
from core.agent.offline.stated.sound import check_sound
from core.agent.offline.stated.statement import Case, NotARule, Part
from core.agent.offline.text import clauses, is_korean

# Rules are said in short sentences. Endings are tried at every syllable, which takes the square of
# the length: 20,000 syllables without a blank took minutes.
MAX_SENTENCE = 300
MAX_TEXT = 2_000
# Asks for another try, and tells nothing that a rule could hang on.
_PLEA = re.compile(
    r"\W*(?:다시 (?:한 ?번 )?(?:해|시도해) ?(?:주세요|줘요?|보세요)"
    r"|(?:please )?try (?:it )?again)\W*",
    re.I,
)
# `Children are not allowed on that ward`, after a sentence that told which.
_REFERS = re.compile(
    r"\b(?:that|this|those|these|such|the same) (?!means?\b|is\b|one\b)[a-z]+|\bthere\b(?!'s)"
    r"|\bthe other\b|\bon it\b"
    r"|(?:^|\s)(?:그|이|저|해당|같은) [가-힣]|거기|그쪽|이런|그런",
    re.I,
)

# How the two ways to read a text say the same: `"without"` is `"no"`, and a bay is a bay.
_NAMED = re.compile(r'"(?:only|the|an?) (?=\w)| 건"', re.I)
_HELD = {f'{no}"{one}"{end}': f'{no}"{way}"{end}'
         for one, way in (("with", "yes"), ("without", "no"))
         for no, end in (("", ""), ("not(", ")"))}  # fmt: skip


def cases_in(text: str) -> list[Case]:
    """Return the cases that the sentences of a text state; none if one of them says other things.

    A sentence without a subject is about the subject of the one before it.
    """
    # A secret that was taken out of a text is no part of a rule.
    said = clauses(text) if len(text) <= MAX_TEXT and "[masked:" not in text else []
    sentences = [one for one in said if not _PLEA.fullmatch(one)]
    if any(len(sentence) > MAX_SENTENCE for sentence in sentences):
        return []
    beside = [is_beside(one) for one in sentences]
    stated = [one for one, aside in zip(sentences, beside, strict=True) if not aside]
    try:
        cases = _joined(plain(stated))
        check_sound(cases, stated)
        _check_story(cases, [one for one in sentences if one not in stated], beside[:1] != [True])
    except NotARule:
        return []
    return cases


def _joined(sentences: Sequence[str]) -> list[Case]:
    """Return the cases of sentences, read in order or by pieces.

    Raises NotARule where both ways to read them come to other conditions: nobody can tell which.
    """
    by_pieces = _read(pieced, sentences)
    in_order = _read(_in_order, sentences)
    if in_order is None and by_pieces is None:
        raise NotARule("nothing that states a rule")
    if in_order is None or by_pieces is None:
        return in_order or by_pieces or []
    if _tests(in_order) != _tests(by_pieces):
        raise NotARule("two ways to read it that differ")
    return in_order


def _read(
    reader: Callable[[Sequence[str]], list[Case]], sentences: Sequence[str]
) -> list[Case] | None:
    try:
        return reader(sentences)
    except NotARule:
        return None


def _in_order(sentences: Sequence[str]) -> list[Case]:
    cases = joined(*_parts(sentences))
    if any(map(is_korean, sentences)):
        check_sound(cases, sentences)
    return cases


def _tests(cases: Sequence[Case]) -> list[list[str]]:
    """Return the tests of cases, where a thing is held or not in the same words."""
    told = [[_NAMED.sub('"', one.test) for one in case.when] for case in cases]
    return [[_HELD.get(one, one) for one in tests] for tests in told]


def _parts(sentences: Sequence[str]) -> tuple[list[Part], str]:
    """Return the parts of sentences, and what they are said to be about."""
    parts: list[Part] = []
    about = ""
    for sentence in sentences:
        read = korean.parts_of if is_korean(sentence) else english.parts_of
        found, told = read(sentence, parts)
        if parts and _adds_a_group(about, found, parts):
            raise NotARule("some of one thing, beside another")
        if not found and parts:
            raise NotARule("a sentence that states no rule")
        about = about or told
        parts += found
    return parts, about


def _adds_a_group(about: str, found: Sequence[Part], parts: Sequence[Part]) -> bool:
    """Whether values of one group were told, and now another group: `성인은 평일 …. 아이는 …`."""
    if not about or not is_korean(about) or korean_words.ATTRIBUTE.search(about):
        return False
    return all(_is_named(part) for part in (*parts, *found) if not part.is_rest)


def _is_named(part: Part) -> bool:
    return [one.kind for one in part.when] == ["string"] and part.when[0].column == ""


def _check_story(cases: Sequence[Case], stories: Sequence[str], is_first: bool) -> None:
    """Raise NotARule where what was told beside a rule may be a condition of it."""
    if any(map(narrows, stories)):
        raise NotARule("a story of some of them")
    if not is_first and (len(cases) == 1 or any(_REFERS.search(case.then) for case in cases)):
        raise NotARule("what was told before may be a condition")
