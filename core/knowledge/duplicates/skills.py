"""What code can prove about how a new skill relates to known ones: content, name, trigger."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from core.domain.errors import BundleInvalid
from core.domain.models import SKILL_MD, Bundle
from core.knowledge.duplicates.texts import Evidence, Known, Match, alike, evidence
from core.knowledge.duplicates.words import Words, words_of
from core.knowledge.search.tokens import stem
from core.skills.document.frontmatter import read_frontmatter, split_document

SAME_TRIGGER = 0.5
SAME_DOCUMENT = 0.6
_LEAST_TRIGGER = 2.0
# With less of its own than this a skill is compared whole: its twin differs in a line or two.
_LEAST_OWN = 0.25
_NAME_PART = re.compile(r"[^\W_]+")
_NAME_LINE = re.compile(r"^name:.*$", re.MULTILINE)
_PART = re.compile(r"(?<=[.!?。])\s+|\n+")
_TITLE = re.compile(r"^(?:#+[ \t]*|name:[ \t]*)?(.*)$")
# Headings that nearly every skill has, and the name of its file.
_HEADINGS = (
    "overview|introduction|summary|purpose|background|description|when to use(?: this skill)?|usage"
    "|how to use|use cases?|steps?|instructions?|procedures?|process|workflow|guidelines?|rules"
    "|notes?|examples?|inputs?|outputs?|references?|resources?|prerequisites?|requirements?"
    "|quick start|getting started|best practices|troubleshooting|checklist|exceptions?"
    "|개요|소개|요약|목적|배경|설명|언제 사용하나요?|사용 시점|사용 ?(?:법|방법|시기)"
    "|절차|단계|순서|진행 ?(?:절차|순서)|지침|규칙|예외|예시|참고(?: ?자료)?|주의 ?사항|입력|출력"
    "|준비물|체크리스트"
)
_FORM = re.compile(
    rf"^#{{1,6}}[ \t]+(?:\d+[.)][ \t]*)?(?:{_HEADINGS})[ \t]*:?[ \t#]*$|\bSKILL\.md\b",
    re.MULTILINE | re.IGNORECASE,
)
# Words of nearly every description: they say nothing about its trigger.
_SAID_BY_ALL = (
    "skill procedure guide guideline task job result review perform whenever agent help step "
    "workflow process handle apply first then next after finally 스킬 절차 지침 수행 결과 검토 단계"
    " 방법 가이드 업무 먼저 다음 이후 마지막 마지막으로 그리고"
)


def compare_skills(new: Bundle, known: Iterable[Bundle]) -> list[Evidence]:
    """Compare a new skill with known ones: exact matches first, then neighbours by similarity."""
    return _ranked(_of_folder(new, other) for other in known)


def compare_described(content: str, known: Iterable[Bundle]) -> list[Evidence]:
    """Compare a described skill, a document or a few sentences, with known skills."""
    return _ranked(_of_text(content, other) for other in known)


def same_but_for_name(one: Bundle, other: Bundle) -> bool:
    """Whether two folders are identical file by file, except for the `name:` line."""
    return _nameless(one) == _nameless(other)


def same_name(one: str, other: str) -> bool:
    """Whether names are equal but for separators, plurals and word order."""
    parts = _name_parts(one)
    return bool(parts) and parts == _name_parts(other)


def trigger_similarity(one: str, other: str) -> float:
    """Return how likely two descriptions trigger on the same request, 0 to 1."""
    a, b = _told(one), _told(other)
    return alike(a, b) if min(a.weight, b.weight) >= _LEAST_TRIGGER else 0.0


def _of_folder(new: Bundle, known: Bundle) -> Evidence:
    """Compare two folders: exact if only the name differs, near if trigger and text are."""
    item = _item(known)
    if same_but_for_name(new, known):
        return Evidence(item, is_exact=True, is_near=False, similarity=1.0, contained=1.0)
    found = _of_text(_text(new), known)
    match = Match(*_own(_said(_text(new)), _said(item.text)))
    is_for_alike = float(str(found.more["trigger_similarity"])) >= SAME_TRIGGER / 2
    return replace(
        found,
        is_exact=False,  # the frontmatter or another file differs
        is_near=match.alike >= SAME_DOCUMENT and is_for_alike,
        similarity=match.alike,
        contained=match.contained,
        pair=match,
        name_collision=same_name(new.name, known.name),
    )


def _of_text(content: str, known: Bundle) -> Evidence:
    item = _item(known)
    trigger = trigger_similarity(_description(content) or content, _description(item.text))
    told = _own(_description(content) or content, _description(item.text))
    if trigger >= SAME_TRIGGER:  # what every description of one author ends in triggers nothing
        trigger = alike(*map(_telling, told))
    if _topic(told[0]) and _topic(told[0]) == _topic(told[1]):
        trigger = max(trigger, SAME_TRIGGER)
    first = _TITLE.match(content.strip().split("\n", 1)[0])
    found = evidence(_said(content), replace(item, text=_said(item.text)))
    return replace(
        found,
        known=item,
        name_collision=same_name(_name(content) or (first[1] if first else ""), known.name),
        trigger_collision=trigger >= SAME_TRIGGER,
        more={"trigger_similarity": round(trigger, 3)},
    )


def _said(document: str) -> str:
    """Return the comparable text of a skill: its description and body.

    Frontmatter keys, the file name and common headings say nothing about its subject.
    """
    try:
        body = f"{read_frontmatter(document).description}\n{split_document(document)[1]}"
    except BundleInvalid:
        body = document
    return _FORM.sub("", body)


def _ranked(found: Iterable[Evidence]) -> list[Evidence]:
    return sorted(
        found, key=lambda e: (not e.is_exact, not e.is_neighbour, -e.similarity, e.known.id)
    )


def _own(one: str, other: str) -> tuple[Words, Words]:
    """Return two texts without the sentences that both have word by word.

    An author gives all skills the same scaffolding, which says nothing about their subjects.
    """
    parts, others = _parts(one), _parts(other)
    shared = set(parts) & set(others)
    whole = words_of(one), words_of(other)
    own = tuple(
        words_of("\n".join(part for part in text if part not in shared)) for text in (parts, others)
    )
    if any(less.weight < _LEAST_OWN * all_.weight for less, all_ in zip(own, whole, strict=True)):
        return whole
    return _telling(own[0]), _telling(own[1])


def _topic(words: Words) -> tuple[str, ...]:
    """Return the first two telling words: what a description begins with is what it is about."""
    found = tuple(word.stem for word in _telling(words).words[:2])
    return found if len(found) == 2 else ()


def _parts(text: str) -> list[str]:
    return [part.strip() for part in _PART.split(text) if part.strip()]


def _told(description: str) -> Words:
    return _telling(words_of(description))


def _telling(words: Words) -> Words:
    telling = tuple(word for word in words.words if word.stem not in _said_by_all())
    return replace(words, words=telling)


@lru_cache(maxsize=1)
def _said_by_all() -> frozenset[str]:
    return frozenset(stem(word) for word in _SAID_BY_ALL.split())


def _name_parts(name: str) -> list[str]:
    return sorted(stem(part) for part in _NAME_PART.findall(name))


def _nameless(skill: Bundle) -> Mapping[str, tuple[bytes, bool]]:
    """Return the folder without the `name:` line of its frontmatter."""
    files = {path: (file.data, file.executable) for path, file in skill.files.items()}
    document = _NAME_LINE.sub("", _text(skill), count=1).encode()
    return files | {SKILL_MD: (document, False)}


def _item(skill: Bundle) -> Known:
    return Known(id=skill.name, name=skill.name, text=_text(skill), kind="SKILL")


def _text(skill: Bundle) -> str:
    return skill.files[SKILL_MD].data.decode("utf-8", "replace")


def _name(document: str) -> str:
    try:
        return read_frontmatter(document).name
    except BundleInvalid:
        return ""


def _description(document: str) -> str:
    try:
        return read_frontmatter(document).description
    except BundleInvalid:
        return ""
