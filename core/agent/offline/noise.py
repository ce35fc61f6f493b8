"""Noise detection of the offline model, by clause, so that a lesson beside noise is kept."""

from __future__ import annotations

import re

from core.agent.offline.tables import rows_of
from core.agent.offline.text import Cue, clauses, has, letters

_LASTING = re.compile(
    r"앞으로|다음부터|항상|언제나|반드시|절대|\balways\b|\bnever\b|\bmust\b|\bfrom now on\b", re.I
)
_SMALL_TALK = re.compile(
    r"\W*(?:(?:[ㄱ-ㅎㅏ-ㅣ]+|네+|넵|예|응|알겠(?:습니다|어요)|확인했(?:습니다|어요)|안녕하세요"
    r"|ok|okay|lol|haha+|yes|yep|sure|hi|hello|got it|noted)\W*)+",
    re.I,
)
_FAILURE = re.compile(
    r"다시 한\s?번|응답이 없|에러가? (?:나|났|뜨|떴)|오류가? (?:나|났|뜨|떴)"
    r"|(?:죽|다운)(?:었|됐)|끊겼|재시도"
    r"|\b(?:it|that|this) (?:failed|crashed)\b|\b50[0-4]\b|\bconnection was\b|\bonce more\b"
    r"|\b(?:redo|re-?run)\b|\b(?:run|do) (?:it|that|this) again\b",
    re.I,
)
_NOT_ONLY = re.compile(
    r"이번[^.!?,]{0,8}만\s?(?:(?:그런|이런)\s?(?:게|것이|건|것은)|이|의\s?(?:일|이야기|얘기)가)?\s*"
    r"아니[라고]|\bnot (?:just|only)(?: for)? (?:this|today)[\w ]{0,10}",
    re.I,
)
_WHENEVER = re.compile(
    r"[가-힣](?:면|때(?:는|마다|에는)?|경우(?:에는|에)?|마다)[ ,]|\bif\b|\bwhen", re.I
)
_GUESS = re.compile(
    r"것 같은데|아닐까|[을ㄹ]지도|지도 모르|아마|혹시|\bmaybe\b|\bperhaps\b|\bi guess\b"
    r"|\bnot sure\b|\bmight be\b|\bpossibly\b",
    re.I,
)
_ELSEWHERE = re.compile(
    r"(?:이건|이 건은|그건).*(?:전달|넘겨|담당)|다고 전해|라고 전해|그쪽에서"
    r"|\b(?:forward|pass) (?:this|it|that)\b|\b(?:this|that|it) is for the\b|\btell \w+ to\b",
    re.I,
)
_COMPLAINT = re.compile(
    r"마음에 안|별로|실망|아닌 것 같|느려|느리|답답|\bnot what i\b|\b(?:was|is) (?:bad|wrong)\b"
    r"|\bdisappoint|\btoo slow\b|\bterrible\b",
    re.I,
)


def nothing_in(text: str) -> tuple[str, str] | None:
    """Return category and reason if there is nothing to learn, else None."""
    parts = clauses(text)
    if has(_NOT_ONLY.sub("", text), Cue.ONE_OFF):
        return "one_off", "once"
    if any(map(_is_lesson, parts)):
        return None
    if not parts:
        return ("unclear", "unclear") if text.isascii() else ("noise", "praise")
    if all(has(part, Cue.PRAISE) or _SMALL_TALK.fullmatch(part) for part in parts):
        return "noise", "praise"
    if any(has(part, Cue.RETRY) or _FAILURE.search(part) for part in parts):
        return "noise", "retry"
    if any(map(_ELSEWHERE.search, parts)):
        return "noise", "elsewhere"
    is_vague = len(letters(text)) < 6 or has(text, Cue.VAGUE)
    return ("unclear", "unclear") if is_vague or all(map(_says_nothing, parts)) else None


def lesson_of(text: str) -> str:
    """Return the text without praise, failures and complaints beside a lesson."""
    parts = clauses(text)
    lessons = [part for part in parts if _is_lesson(part) or not _is_noise(part)]
    if has(text, Cue.SEQUENCE) or not lessons or len(lessons) == len(parts):
        return text
    return " ".join(lessons)


def _is_lesson(part: str) -> bool:
    if _LASTING.search(part) or rows_of(part):
        return True
    fails = has(part, Cue.RETRY) or _FAILURE.search(part)
    passing = (fails and not _WHENEVER.search(part)) or _GUESS.search(part)
    return has(part, Cue.LESSON) and not passing and not _ELSEWHERE.search(part)


def _is_noise(part: str) -> bool:
    return bool(
        has(part, Cue.PRAISE)
        or has(part, Cue.RETRY)
        or _SMALL_TALK.fullmatch(part)
        or _FAILURE.search(part)
        or _says_nothing(part)
    )


def _says_nothing(part: str) -> bool:
    is_question = part.rstrip().endswith("?")
    return bool(
        is_question or has(part, Cue.PRAISE) or _GUESS.search(part) or _COMPLAINT.search(part)
    )
