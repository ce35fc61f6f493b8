"""What the offline model does with a piece that is said in answer to another.

The lessons are those of the piece that is answered, else of the newest one that taught anything.
The first rule that applies decides:

1. it takes back and puts nothing in its place ("아까 말한 거 취소", "never mind"): what the piece
   created is deleted, what it changed is set back
2. back to what it was ("원래대로"): the memory's text before
3. it says how long and nothing else ("이번 달 말까지만요"): `valid_until` of the memory
4. another value ("아니 그건 말고 달러로요", "no, in dollars instead", "X 말고 Y", "5개"): the
   memory with that value in the place of the one of its kind
5. an exception, an addition, or words about "it" ("재진도요", "단, 의류만", "except …"): under the
   memory's text
6. a fragment of which none of this can be told: `no_action` unclear

What stands by itself is decided as if nothing had been said before. Where nothing is known of what
was said before, words about it mean nothing ("그건 말고 달러로요", "never mind"): they are left out
where the rest stands by itself, else it is `no_action` unclear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import JsonValue

from core.agent.offline.reach import end_in, is_end_alone, reach_in
from core.agent.offline.rules import Call, View, no_action, reason
from core.agent.offline.text import Cue, has, is_korean, letters
from core.agent.offline.wording import put_in, replaced

Data = dict[str, JsonValue]

_BACK = re.compile(
    r"취소(?:해|할게|합니다|요|$|[.!,\s])|없던\s?(?:걸로|일로)|못\s?들은\s?걸로|잊어\s?(?:줘|주|버려)"
    r"|무시해|신경\s?쓰지|\bscratch that\b|\bnever ?mind\b|\bforget (?:it|that|what i)\b"
    r"|\b(?:ignore|strike|cancel|disregard) (?:that|it|what i)\b",
    re.IGNORECASE,
)
_ABOUT_WORDS = re.compile(
    r"방금|아까|앞서|조금\s?전|좀\s?전|말한|얘기한|한\s?(?:말|거|것|얘기)|그\s?(?:말|얘기)|그거|그건"
    r"|\bthat\b|\bit\b|\bmind\b|\bwhat i\b",
    re.IGNORECASE,
)
_WAS = re.compile(
    r"원래대로|처음대로|예전대로|이전대로|되돌려|\bback to (?:what it was|before|how it was)\b"
    r"|\b(?:as it was|as before|undo that|revert that)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"^(?:아니(?:요|다|야)?|아뇨|아)[,.\s]|말고\s|잘못\s?말|정정|(?:이|가)\s?맞아"
    r"|로\s?(?:고쳐|바꿔|변경)|바뀌어|변경돼|^앞으로는?\s|\binstead\b|\bmake (?:that|it)\b"
    r"|^(?:actually|no|sorry|correction)\b|\bi (?:meant|mean)\b|\bscratch that\b|\brather\b",
    re.IGNORECASE,
)
_RATHER = re.compile(
    r"(?P<old>[^\s,.]+(?:\s[^\s,.]+)?)\s말고\s(?P<new>[^\s,.]+)"
    r"|(?P<new2>[\w ]+?) instead of (?P<old2>[\w ]+)|\bnot (?P<old3>\w+),? (?:but )?(?P<new3>\w+)",
    re.IGNORECASE,
)
_NOT_THAT = re.compile(
    r"(?:^|(?<=[은는,.]\s))(?:그|이|저)(?:건|거|게|것)(?:은|는|을|를)?\s?"
    r"(?:말고|대신에?|빼고|아니고|아니라)(?!도)[,\s]*"
    r"|^(?:instead of|rather than|not) (?:this|that|it|these|those)[,\s]+(?:but\s)?"
    r"|\b(?:instead of|rather than|not) (?:this|that|it|these|those)\b(?=[.!,]|$)"
    r"|\b(?:this|that) instead\b",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^(?:(?:아니(?:요|야|다)?|아뇨|아)[,.]?\s+|(?:no|nope|sorry|correction)[,.:]\s+|actually,?\s+)+",
    re.IGNORECASE,
)
_PHRASE = re.compile(r"^(?:an?|the|as|at|by|for|from|in|on|to|with)\b|\binstead\b", re.IGNORECASE)
_DO_SO = re.compile(r"\S+로\s(?:해|부탁)\s?\S*")
_BUT = re.compile(r"^(?:단|다만)[,\s]|^(?:except|but)\b", re.IGNORECASE)
_POINTS = {"그건", "그거", "그게", "이건", "이거", "아니"}
_ADDS = re.compile(
    r"^(?:단|다만|그리고|또|근데|그런데)[,\s]|예외|[가-힣]도요|도\s?(?:마찬가지|똑같|같아|그래)"
    r"|만\s?(?:이요|요|그래)|(?:고|구)요[.!]?$|^(?:except|but|unless|also|and|plus)\b"
    r"|\bsame goes for\b|\blikewise\b|\b(?:too|as well)[.!]?$",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?:으로|로)?\s?(?:해|부탁|적어|써|보내|맞춰)?\s?"
    r"(?:주세요|줘요?|드려요|해요|합니다|입니다|이?네요|이?에요|예요|이?요)[.!]?$|[.!]$"
)
_OF_IT = re.compile(
    r"^(?:it|that|this|they|those|these|on|in|for)\b|^(?:그거|그건|그게|그건요|둘\s?다|거기)(?:\s|는|도)",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"^[가-힣]{2,}(?:은|는|엔|에는|에선|에서는)\s")
_STATES = re.compile(r"[가-힣](?:은|는|이|가|을|를)\s.*(?:다|요|돼|해|줘|야|지|음|함|됨)[.!]?$")
FRAGMENT_WORDS = 4
BACK_WORDS = 5
FRAGMENT_LETTERS = 14
CUT = "…"


@dataclass(frozen=True)
class Talk:
    """What was said before, newest first, and what the words are about.

    `is_missing` is set where they answer a piece that has not come in, `has_output` where what the
    agent had produced is given.
    """

    pieces: Sequence[Data]
    said_at: str
    author: str | None
    is_missing: bool = False
    has_output: bool = False


def talk_time(talk: Talk) -> datetime | None:
    """Return when it was said, None if that is not known."""
    try:
        return datetime.fromisoformat(talk.said_at)
    except ValueError:
        return None


def follow_up(view: View, talk: Talk) -> list[Call] | None:
    """Return the calls for a piece that answers another; None if it stands by itself."""
    if not talk.pieces:
        is_open = _means_nothing(view.text.strip(), is_missing=talk.is_missing)
        return [no_action(view, "unclear", "answers")] if is_open else None
    lessons = _lessons(talk)
    return _taken_back(view, lessons) or _with_memory(view, talk, lessons) or _fragment(view, talk)


def _lessons(talk: Talk) -> list[Data]:
    """Return what the answered piece taught, else the newest one that taught anything.

    Of an item that was changed several times, its last change.
    """
    answered = [piece for piece in talk.pieces if piece.get("answered") and _taught(piece)]
    piece = next(iter(answered), None) or next(filter(_taught, talk.pieces), None)
    found = {(one.get("kind"), one.get("id")): one for one in _taught(piece or {})}
    return list(found.values())


def _taught(piece: Data) -> list[Data]:
    given = piece.get("taught")
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _taken_back(view: View, lessons: Sequence[Data]) -> list[Call] | None:
    found = _BACK.search(view.text)
    if found is None or not _ABOUT_WORDS.search(view.text):
        return None
    if _replacement(view.text[found.end() :]):
        return None
    calls = [call for lesson in lessons if (call := _undone(view, lesson)) is not None]
    return calls or [no_action(view, "unclear", "nowhere")]


def _replacement(rest: str) -> bool:
    """Whether what follows a retraction puts a value in the place of what it takes back."""
    return (
        re.match(r"[\s,.]*(?:it's|it is|대신|말고|그냥)?\s*\S*\d", rest, re.IGNORECASE) is not None
    )


_DELETES = {
    "MEMORY": ("commit_to_memory", "memory_id"),
    "DMN_RULE": ("commit_to_dmn_rule", "rule_id"),
    "SKILL": ("commit_to_skill", "skill_id"),
}


def _undone(view: View, lesson: Data) -> Call | None:
    """Return the call that undoes a lesson; None of what was known before, is held or is gone."""
    if lesson.get("status") != "applied" or lesson.get("known") is None:
        return None
    if lesson.get("operation") == "CREATE":
        tool, argument = _DELETES[str(lesson["kind"])]
        why = reason(view, "withdrawn")
        return tool, {"operation": "DELETE", argument: lesson["id"], "reason": why}
    return _set_back(view, lesson)


def _set_back(view: View, lesson: Data) -> Call | None:
    before = lesson.get("before")
    if lesson.get("kind") != "MEMORY" or not isinstance(before, str) or before.endswith(CUT):
        return None
    return _set(view, lesson, before, "withdrawn")


def _set(view: View, lesson: Data, content: str, why: str) -> Call:
    how: Data = {"merge_mode": "REPLACE", "relationship": "SUPERSEDES"}
    about: Data = {"operation": "UPDATE", "memory_id": lesson["id"], "content": content}
    return "commit_to_memory", about | how | {"reason": reason(view, why, str(lesson["id"]))}


def _with_memory(view: View, talk: Talk, lessons: Sequence[Data]) -> list[Call] | None:
    """Return the call that changes the memory that was taught; None if that cannot be told."""
    for lesson in lessons:
        known = lesson.get("known")
        if lesson.get("kind") != "MEMORY" or not isinstance(known, str) or known.endswith(CUT):
            continue
        call = next(filter(None, _attempts(view, talk, lesson, known)), None)
        if call is not None:
            return [call]
    return None


def completed(view: View, talk: Talk) -> View:
    """Return a view of the text as it can be understood.

    With nothing taught before: without words about that, if the rest stands by itself. Else what a
    table was learnt from, said again with the value of a fragment.
    """
    if not _lessons(talk):
        return replace(view, text=_on_its_own(view.text, talk))
    if not (_INSTEAD.search(view.text) or is_fragment(view.text)):
        return view
    for lesson in _lessons(talk):
        if lesson.get("kind") == "DMN_RULE" and lesson.get("known") is not None:
            texts = [str(one.get("text") or "") for one in talk.pieces if lesson in _taught(one)]
            made = [_with_another_value(text, view.text) for text in texts]
            return replace(view, text=next(filter(None, made), view.text))
    return view


def _on_its_own(text: str, talk: Talk) -> str:
    """Return a text without "not that but", or as it is if the rest says nothing by itself."""
    said = _NO.sub("", text)
    if talk.is_missing or not _NOT_THAT.search(said):
        return text
    rest = _NOT_THAT.sub("", said).strip(" ,")
    has_subject = len(rest.split()) > FRAGMENT_WORDS or _TOPIC.search(rest)
    is_whole = has_subject or (talk.has_output and not _DO_SO.fullmatch(rest))
    return rest if is_whole and not is_fragment(rest) else text


def _means_nothing(text: str, *, is_missing: bool) -> bool:
    """Whether words say nothing without what was said before, of which nothing is known."""
    rest = _NO.sub("", text)
    if _NOT_THAT.search(rest) or is_end_alone(text):
        return True
    is_back = _WAS.search(text) or (_BACK.search(text) and _ABOUT_WORDS.search(text))
    is_but = _BUT.search(text) and not has(text, Cue.LESSON)
    if is_missing and (is_back or is_but or (is_fragment(rest) and not _TOPIC.search(rest))):
        return True
    is_value = _PHRASE.search(rest) or (is_korean(rest) and is_fragment(rest))
    is_answer = is_but or (rest != text and is_value)
    count = len(rest.split())
    return bool((is_back and count <= BACK_WORDS) or (is_answer and count <= FRAGMENT_WORDS))


def _attempts(view: View, talk: Talk, lesson: Data, known: str) -> Iterator[Call | None]:
    text = view.text.strip()
    if _WAS.search(text):
        yield _set_back(view, lesson)
    if is_end_alone(text) and end_in(text, talk_time(talk)):
        stated = reach_in(text, talk_time(talk), None)
        about: Data = {"operation": "UPDATE", "memory_id": lesson["id"], "reason": ""}
        why = reason(view, "adds", str(lesson["id"]))
        yield "commit_to_memory", about | stated | {"reason": why}
    if _INSTEAD.search(text) or is_fragment(text):
        made = _with_another_value(known, text)
        yield _set(view, lesson, made, "near_memory") if made else None
    is_added = _ADDS.search(text) or _OF_IT.search(text)
    if is_added and not is_fragment(text) and reach_in(text, talk_time(talk), talk.author):
        # Added to the other, its end and scope would be those of both.
        new: Data = {"operation": "CREATE", "content": text, "relationship": "COMPLEMENTS"}
        yield "commit_to_memory", new | {"reason": reason(view, "adds", str(lesson["id"]))}
    if is_added or (is_fragment(text) and _TOPIC.search(text)):
        extends: Data = {"merge_mode": "EXTEND", "relationship": "EXTENDS"}
        target: Data = {"operation": "UPDATE", "memory_id": lesson["id"], "content": text}
        why = reason(view, "adds", str(lesson["id"]))
        yield "commit_to_memory", target | extends | {"reason": why}


def _with_another_value(known: str, text: str) -> str | None:
    found = _RATHER.search(text)
    if found is not None:
        old = found["old"] or found["old2"] or found["old3"]
        new = _POLITE.sub("", found["new"] or found["new2"] or found["new3"])
        if old.split()[-1] not in _POINTS:
            return replaced(known, old.split()[-1], new) or put_in(known, new)
    return put_in(known, text.rpartition("말고")[2])


def _fragment(view: View, talk: Talk) -> list[Call] | None:
    text = _on_its_own(view.text, talk)
    is_open = is_fragment(text) or _WAS.search(text) or _NOT_THAT.search(_NO.sub("", text))
    return [no_action(view, "unclear", "answers")] if is_open else None


def is_fragment(text: str) -> bool:
    """Whether a text is too short to state anything without what it answers."""
    if (has(text, Cue.LESSON) and len(text.split()) > 2) or _STATES.search(text):
        return False
    return len(text.split()) <= FRAGMENT_WORDS and len(letters(text)) <= FRAGMENT_LETTERS
