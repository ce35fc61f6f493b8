"""Text analysis of the offline model for Korean and English: cues, clauses, similarity."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum

_HANGUL = re.compile("[\uac00-\ud7a3]")
_NUMBERED = re.compile(r"(?:^|\s)\d{1,2}[.)]\s+")
_BOUNDARY = re.compile(
    r"(?<=[.!?;。])(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bDr\.)\s+|\n+|;\s*", re.IGNORECASE
)
_WORD = re.compile(r"\w+")
_ENGLISH = re.compile(r"[a-z][a-z0-9]+")
_BULLET = "-*•· \t"

NAME_WORDS = 4


def words(text: str) -> frozenset[str]:
    """Return the words of a text, split at blanks."""
    return frozenset(text.split())


_STOPWORDS = words(
    "a an and any are as at be been before but by can could do does first for from has have how "
    "if in into is it its just last like make more must need needs next no not now of on only or "
    "our out please should so step steps than that the their them then there these they this to "
    "up use user users want was we were what when where which who will with would you your every "
    "each always never agent skill procedure anthropic claude way follow here"
)


class Cue(StrEnum):
    """Hints in the wording of feedback."""

    PRAISE = "praise"
    RETRY = "retry"
    ONE_OFF = "one_off"
    VAGUE = "vague"
    LESSON = "lesson"
    WISH = "wish"
    DELETE = "delete"
    SEQUENCE = "sequence"
    PROCEDURE = "procedure"
    CHANGE = "change"
    ADD = "add"
    ALSO = "also"
    EXISTING = "existing"
    RULE = "rule"
    SKILL = "skill"


def _cue(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


CUES: dict[Cue, re.Pattern[str]] = {
    Cue.PRAISE: _cue(
        r"고마|고맙|감사|잘\s?했|잘하|수고|최고|훌륭|완벽|좋아요|좋네요|좋았|멋지|멋져"
        r"|\bthank|\b(?:great|good|nice|excellent|amazing) (?:job|work)|\bwell done|\bperfect\b"
        r"|\bawesome|\blove it|\bexcellent\b|\bgreat[!.]"
    ),
    Cue.RETRY: _cue(
        r"다시 (?:시도|해|돌려|실행)|재시도|타임아웃|시간 초과|네트워크 오류|일시적"
        r"|서버가 (?:죽|다운)|\btry again|\bretry|\bre-?run|\bdo it over|\btime[d-]?\s?-?out"
        r"|\boutage|\bnetwork error"
        r"|\b50[0-4]\b error"
        r"|\btemporar(?:y|ily)\b[\w ]{0,20}\b(?:error|fail|glitch|issue|problem|unavailab|down)"
    ),
    Cue.ONE_OFF: _cue(
        r"이번(?:\s?(?:건|주|달|한\s?번|회|보고서|주문|요청))?(?:에|에는)?만(?:\s|은|,|\.|$)"
        r"|오늘만|\bjust this once"
        r"|\b(?:only|just) (?:for )?this (?:time|once|one|order|case|report)"
        r"|\bthis time only"
        r"|\bthis one time\b|\b(?:only|just) (?:for )?today|\bfor today only|\bone-time"
    ),
    Cue.VAGUE: _cue(
        r"이상한데|뭔가 이상|이상하네|음+[….~]|글쎄|애매|별로인|\bhmm|\bsomething(?:'s| is| feels) "
        r"|\bnot sure\b|\bseems off|\bweird\b"
    ),
    Cue.LESSON: _cue(
        r"앞으로|다음부터|항상|언제나|반드시|절대|해야|하지 마|말아|주세요|바랍니다|\balways\b"
        r"|\bnever\b|\bmust\b|\bshould\b|\bneeds? to\b|\bplease\b|\bfrom now on\b|\bnext time\b"
        r"|\bprefers?\b|\bdo not\b|\bdon't\b"
    ),
    Cue.WISH: _cue(
        r"선호|원합니다|원해|싶어\s?(?:합니다|해)|좋아합"
        r"|\bprefers?\b|\bwants?\b|\blikes?\b|\bwould like\b"
    ),
    Cue.DELETE: _cue(
        r"더\s?이상|더는|삭제|폐지|없애|없어졌|잊어|무효|\bno longer\b|\bforget\b|\bdelete\b"
        r"|\bobsolete\b|\bdiscontinued?\b|\bscrap\b|\bdrop the\b|\bwithdraw|\bremove the\b"
        r"|\babolish"
    ),
    Cue.SEQUENCE: _cue(
        r"(?s:먼저.+(?:다음|그리고 나서|이후|마지막|그\s?후))"
        r"|(?s:\bfirst\b.+\b(?:then|next|finally)\b)"
        r"|(?s:(?:^|\s)1[.)]\s.+\s2[.)]\s)|(?s:\bstep 1\b.+\bstep 2\b)|(?s:1단계.+2단계)"
    ),
    Cue.PROCEDURE: _cue(
        r"절차|순서|단계|방법|체크리스트|매뉴얼|가이드|\bsteps?\b|\bprocedure|\bhow to\b|\bworkflow"
        r"|\bchecklist|\bplaybook"
    ),
    Cue.CHANGE: _cue(
        r"이제|이젠|대신|변경|바뀌|바뀐|바꿔|바꾸|수정|올려|낮춰|\binstead\b|\bnow\b|\bchanged?\b"
        r"|\bfrom now on\b|\bupdate\b|\braised?\b|\blowered\b|\brather than\b"
    ),
    Cue.ADD: _cue(r"추가|누락|빠졌|포함|\badd\b|\binclude\b|\bmissing\b"),
    Cue.ALSO: _cue(r"[가-힣]도\s|또한|추가로|\balso\b|\bas well\b|\bin addition\b|\badditional"),
    Cue.EXISTING: _cue(r"기존|이미|있는 스킬|\bexisting\b|\balready\b"),
    Cue.RULE: _cue(r"규칙|기준|룰|\brule|\bthreshold"),
    Cue.SKILL: _cue(r"스킬|\bskill"),
}


def has(text: str, cue: Cue) -> bool:
    """Whether the text has the cue."""
    return CUES[cue].search(text) is not None


def is_korean(text: str) -> bool:
    """Whether the text has any Hangul."""
    return _HANGUL.search(text) is not None


def clauses(text: str) -> list[str]:
    """Split text into sentences and list items, without bullets and numbers."""
    if re.search(r"(?:^|\s)1[.)]\s", text):
        text = _NUMBERED.sub("\n", text)
    parts = (part.strip().lstrip(_BULLET).strip() for part in _BOUNDARY.split(text))
    return [part for part in parts if any(char.isalnum() for char in part)]


def letters(text: str) -> str:
    """Return the letters and digits of a text, case folded: the basis of similarity."""
    return "".join(_WORD.findall(unicodedata.normalize("NFC", text).casefold()))


def likeness(one: str, other: str) -> float:
    """Return the share of the shorter text's letter pairs found in the other, 0 to 1."""
    a, b = _pairs(one), _pairs(other)
    return len(a & b) / max(1, min(len(a), len(b)))


def english_name(texts: Iterable[str], fallback: str) -> str:
    """Return a hyphen-case name from the first English words, else from a hash."""
    chosen: dict[str, None] = {}
    for text in texts:
        found = (word for word in _ENGLISH.findall(text.casefold()) if word not in _STOPWORDS)
        chosen |= dict.fromkeys(found)
        if len(chosen) >= 2:
            return "-".join(list(chosen)[:NAME_WORDS])[:64].strip("-")
    return f"skill-{hashlib.sha256(fallback.encode()).hexdigest()[:6]}"


def _pairs(text: str) -> set[str]:
    plain = letters(text)
    return {plain[i : i + 2] for i in range(max(1, len(plain) - 1))}
