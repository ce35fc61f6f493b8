"""Names of items as they stand in a text, in whatever script surrounds them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product

from core.domain.models import Kind
from core.knowledge.search.hanja import as_hangul
from core.knowledge.search.tokens import (
    UNSPACED,
    is_little,
    is_name,
    is_single,
    name_term,
    name_terms,
)

MAX_NAMES = 4_000  # candidates of a long text that are looked up; a sentence has some fifty
NAMING_CHARS = 20_000
_MAX_UNITS = 6  # `4대 보험 신고` has four: a number, and three runs of Hangul

# A word with its hyphens is one: `pdf` is not named in `pdf-forms`, nor `mem-20` in `mem-204`. In
# scripts without spaces a name ends where the script changes: `請求書を直して`.
_SCRIPTS = ("\uac00-\ud7a3", "\u4e00-\u9fff", "\u3040-\u309f", "\u30a0-\u30ff")
_UNIT = re.compile(
    rf"[^\W{UNSPACED}]+(?:-[^\W{UNSPACED}]+)*|{'|'.join(f'[{one}]+' for one in _SCRIPTS)}"
    rf"|(?:(?![{''.join(_SCRIPTS)}])[{UNSPACED}])+"
)
_BETWEEN = re.compile(r"[\s_\-&/+.:·()]{0,3}")
_SIGNS = re.compile(r"[+#!*%°)]{1,3}")  # C++, C#, ship-it!
_QUOTED = re.compile(
    "`([^`\n]{1,200})`|\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'|“([^”\n]{1,200})”"
    "|‘([^’\n]{1,200})’|「([^」\n]{1,200})」|『([^』\n]{1,200})』|\\[([^\\]\n]{1,200})\\]"
    "|\\(([^)\n]{1,200})\\)"
)
_FRACTION = re.compile(r"\.\d")
_HANGUL = re.compile("[\uac00-\ud7a3]+")

# What may follow a Korean name in its word: the kind of thing it names, and particles.
_KIND_WORDS = "스킬 기능 표 테이블 규칙 룰 정책 규정 기준 지침 기억 메모 문서 파일 양식 절차 번 건"
_CASE_WORDS = (
    "은 는 이 가 을 를 의 에 도 만 로 와 과 랑 이랑 야 아 하고 에서 에게 한테 께 께서 으로 까지"
    " 부터 마다 조차 마저 밖에 보다 처럼 이나 나 이란 란 라고 이라고 라는 이라는 라면 이라면"
    " 라도 이라도 이든 든 대로 만큼 뿐 으로써 로써 에다 에다가 인데 이고 이며 이다 입니다"
    " 이에요 예요 인지 이요 말고 들 이야말로 야말로 이었으면 였으면 이었다 였다 이었는데 였는데"
    " 이라서 라서 입니까 이니까 니까 이지만 지만 치고 으로부터 로부터 이라든지 라든지 의경우 때"
)
_KINDS, _CASES = _KIND_WORDS.split(), _CASE_WORDS.split()
_AFTER = (
    "는",
    "은",
    "도",
    "만",
    "의",
    "요",
    "을",
    "를",
    "이",
    "가",
    "서",
    "조차",
    "마저",
    "부터",
    "까지",
)
_PARTICLES = frozenset(["", *_CASES, *map("".join, product(_CASES, _AFTER))])
_TAILS = _PARTICLES | frozenset(kind + particle for kind in _KINDS for particle in _PARTICLES)
_LONGEST_TAIL = max(map(len, _TAILS))
_NAMED_KIND = re.compile(
    rf"[\s:,]*(?:{'|'.join(_KINDS)}|skill|table|rule|memory)(?![a-z])|[`\"'”’\])]", re.IGNORECASE
)


@lru_cache(maxsize=32)  # a context asks it of one task for each of its tables and skills
def names_in(text: str) -> tuple[str, ...]:
    """Return the keys (`name_term`) of all that may be a name in a text, in order.

    That is the whole text, what is quoted, and each word or succession of words. A Korean name may
    be followed by a particle in its word, or by what it is (`환불스킬은`); a name inside a longer
    word is none.
    """
    text = unicodedata.normalize("NFC", text)
    found = dict.fromkeys(filter(None, [name_term(text)]))
    written = text[:NAMING_CHARS]
    for said in dict.fromkeys((written, as_hangul(written))):
        for name in _named(said):
            if len(found) >= MAX_NAMES:
                break
            if key := name_term(name):
                found[key] = None
    return tuple(found)


def is_named(name: str, text: str) -> bool:
    """Whether a text names an item of this name or id."""
    return not name_terms(name).isdisjoint(_keys_in(text))


@lru_cache(maxsize=16)  # one text is compared with the names of a hundred items
def _keys_in(text: str) -> frozenset[str]:
    return frozenset(names_in(text))


def is_among(kind: Kind, name: str, item_id: str, names: Container[str]) -> bool:
    """Whether an item is one of `names` (keys); a memory has only its id, its name is its text."""
    keys = name_terms("" if kind is Kind.MEMORY else name) | name_terms(item_id)
    return any(key in names for key in keys)


def stands_out(name: str, text: str) -> bool:
    """Whether a text names an item beyond doubt, rather than use the word that is its name.

    `weekly-report`, `AS접수`, `docx` in a Korean sentence, `PDF` and "the port skill" are names;
    the port of "a glass of port" need not be, nor a Korean word of two syllables.
    """
    if not is_named(name, text):
        return False
    is_word = name.isascii() == text.isascii() and not re.search(r"[\W_\d]", name)
    if not is_word or (not name.isascii() and (len(name) > 2 or re.search("[A-Za-z]", name))):
        return True
    bare = re.escape(name)
    if name.isascii() and re.search(rf"\b{bare.upper()}\b", text) and not text.isupper():
        return True
    told = rf"(?<![^\W_]){bare}(?:{_NAMED_KIND.pattern})|\b(?:skill|table|rule|스킬)\s+{bare}"
    return re.search(told, unicodedata.normalize("NFC", text), re.IGNORECASE) is not None


def _named(text: str) -> Iterator[str]:
    for quoted in _QUOTED.finditer(text):
        yield quoted[quoted.lastindex or 0]
    units = [*_UNIT.finditer(text)]
    ends = [_ends(text, unit) for unit in units]
    joins = [_touches(text, *pair) for pair in pairwise(units)]
    for at, unit in enumerate(units):
        if _begins_word(text, unit):
            start = unit.start()
            yield from (text[start:end] for end in ends[at] if _is_enough(text, start, end))
            for further in range(at + 1, min(at + _MAX_UNITS, len(units))):
                if not joins[further - 1]:
                    break
                yield from (text[start:end] for end in ends[further])


def _begins_word(text: str, unit: re.Match[str]) -> bool:
    """Whether a name may begin here: `접수` is none in `AS접수`, but `docx` is in `새docx`."""
    before = text[unit.start() - 1 : unit.start()]
    return not (_HANGUL.match(unit[0]) and before.isalnum())


def _touches(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    between = text[one.end() : other.start()]
    both = one[0][-1].isdigit() and other[0][0].isdigit() and between != "."
    return _BETWEEN.fullmatch(between) is not None and not both


def _ends(text: str, unit: re.Match[str]) -> Sequence[int]:
    """Return where a name may end in a unit: at its end, in Hangul before what may follow.

    Signs may belong to it; `v2` is none in `v2.1`.
    """
    word, end = unit[0], unit.end()
    if _FRACTION.match(text, end) and word[-1].isdigit():
        return ()
    if signs := _SIGNS.match(text, end):
        return end, signs.end()
    if not _HANGUL.fullmatch(word):
        return (end,)
    tails = range(1, min(len(word), _LONGEST_TAIL + 1))
    return end, *(end - tail for tail in tails if word[-tail:] in _TAILS)


def _is_enough(text: str, start: int, end: int) -> bool:
    """Whether a single word can be a name: one syllable or a function word needs to be marked."""
    word = text[start:end]
    if not (is_little(word) or is_single(word) or word.isdigit()):
        return True
    after = text[end : end + 1]
    is_marked = _NAMED_KIND.match(text, end) is not None
    return is_marked or (is_little(word) and (is_single(after) or is_name(text, start, end)))
