"""A text as a row of signs: each word by its sense and role, each value; to compare their order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from core.domain.text import cased_unit, fold_case
from core.knowledge.duplicates.quantities import Quantity, quantities
from core.knowledge.duplicates.quantity_patterns import CLOCK
from core.knowledge.duplicates.words import korean_stem
from core.knowledge.search.spelling import senses
from core.knowledge.search.tokens import stem

MAX_SIGNS = 400
_COMPARED = 60  # words in both texts whose order is compared: pairs of them are looked at
_HALF_DAY = 720
_WITHIN = re.compile(r"\w,? \Z")
# Paths, addresses, identifiers and keys are one sign each. Of marks, those that only divide or
# decorate say nothing.
_TOKEN = re.compile(
    r"""
    (?<![A-Za-z0-9])(?:[a-zA-Z]:)?[~.]{0,2}[/\\]?[A-Za-z][A-Za-z0-9]*
        (?:[-:]?[_@./\\]+[A-Za-z0-9-]*[A-Za-z0-9])+
    |(?<![\w.])[/\\][A-Za-z][A-Za-z0-9]*
    |(?<![A-Za-z0-9])[A-Za-z]+\d+[A-Za-z][A-Za-z0-9]*
    |(?<!\S)-[A-Za-z](?![\w-])
    |\b[Aa]\ (?:few|little)\b
    |[가-힣]+|[^\W\d_가-힣]+(?:['’][^\W\d_가-힣]+)?|\d+
    |[<>=!]=|[-=]>|(?<=\s)[-*/](?=\s)|(?<=\w)[*^](?=\w)
    |[^\w\s.,;:!()\[\]{}'"“”‘’「」『』《》〈〉«»…·•▪◦‣∙・、。~`#*|/\\–—°^-]
    """,
    re.VERBOSE,
)
_ONE_MARK = {"==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "->": "→", "=>": "→"}
# Styles of characters, and the colour of hands: they are not said.
_UNSAID = re.compile("[\u200b-\u200f\u2060\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
_UNIT = re.compile(r"(?i:m(?:g|wh?|v|ah?|hz|pa)?|[kmgtp]?b(?:ps)?)")
# Words without which an English sentence says the same.
_NOTHING_SAID = "a an the is are am be been being please that 's it its there"
_BEFORE_NOUNS = """
from to into onto for by with at in on of as before after until till through via under over above
below between against toward towards upon off out
"""
_BE = frozenset(("is", "are", "was", "were", "am", "be", "been", "being"))
# They may stand between `is` and what is done.
_BETWEEN = re.compile(r"(?:not|only|also|always|never|still|\w+ly)$")
_IRREGULAR = """
paid sent bought sold wrote written shown kept made gave given took taken got done went gone told
said held met found built chose chosen broke broken drove driven knew known saw seen drew drawn
spoke spoken stole stolen began begun brought taught left lost won led fed
"""
_PAST_FINAL = 20  # ㅆ
_PAST = frozenset(_IRREGULAR.split())
_EMPTY = frozenset(_NOTHING_SAID.split())
_PREPOSITIONS = frozenset(_BEFORE_NOUNS.split())
_PERSONS = {"me": "i", "my": "i", "us": "we", "our": "we", "your": "you", "them": "they"}
_PERSONS |= {"their": "they", "him": "he", "his": "he", "her": "she"}
_ROLES: Sequence[tuple[str, str]] = (
    ("from", "에서부터 에서는 에서 로부터 으로부터 에게서 한테서 부터는 부터"),
    ("to", "에게는 에게 한테는 한테 께는 께 으로는 으로만 으로 로는 로만 로"),
    ("until", "까지는 까지만 까지"),
    ("than", "보다는 보다"),
    ("with", "와 과 랑 이랑 하고"),
    ("of", "의"),
    ("also", "에도 에게도 도"),
    ("only", "에만 만은 만이 만을 만"),
    ("each", "마다"),
    ("at", "에는 에"),
    ("topic", "은 는 께서는"),
    ("subject", "이 가 께서"),
    ("object", "을 를"),
)
_ROLE_OF = {particle: role for role, particles in _ROLES for particle in particles.split()}
_PARTICLE = re.compile(f"(?:{'|'.join(sorted(_ROLE_OF, key=len, reverse=True))})$")
# Roles that a paraphrase may change, and which of them it may exchange.
_LOOSE = frozenset(("topic", "subject", "object", "at", "of", ""))
_TOPICAL = frozenset(("topic", "subject", "at"))
_VOICES = re.compile("(?P<passive>되|돼|된|될|됩|됨|됐)|(?:하|해|한|할|합|함|했)")
# Endings of plain statements and wishes, polite or not: they say the same.
_PLAIN = re.compile(
    r"^(?:(?:하|되|해|돼|이|시|으시|세|셔|드리|드려)?(?:습니다|ㅂ니다|니다|어요|아요|여요|에요|예요|이에요|해요|돼요"
    r"|세요|으세요|셔요|네요|군요|지요|죠|다|는다|ㄴ다|요|음|임|함|됨|어|아|야|여|이야|이다|입니다|합니다|됩니다"
    r"|한다|된다|해|돼|주세요|줘|줘요|주십시오|십시오|라|어라|아라)?|님|씨)$"
)


Form = Literal["active", "passive", "past", ""]


@dataclass(frozen=True, slots=True)
class Sign:
    """A word or value: `key` what it means, `text` as written, `role` what it is to its sentence.

    `rest` is an ending that may matter, `form` whether it is done, is done to, or was done.
    """

    key: str
    text: str
    role: str = ""
    rest: str = ""
    form: Form = ""

    @property
    def preposition(self) -> str:
        """The English preposition before it, if any."""
        return self.role if self.role in _PREPOSITIONS else ""

    @property
    def told(self) -> str:
        """The sign as written, with its preposition."""
        return f"{self.preposition} {self.text}".strip()

    @property
    def whole(self) -> tuple[str, str, str]:
        """The sign with all that may matter."""
        return self.key, "" if self.role in _LOOSE else self.role, self.rest


@lru_cache(maxsize=256)
def signs_of(text: str) -> tuple[Sign, ...]:
    """Return the signs of a text (NFC), at most 400."""
    lower = text.lower()
    values = quantities(lower) if len(lower) == len(text) else ()
    found: list[Sign] = []
    for sign in _signs(text, values):
        found.append(sign)
        if len(found) == MAX_SIGNS:
            break
    return tuple(found)


def _signs(text: str, values: Sequence[Quantity]) -> Iterator[Sign]:
    last: Sign | None = None
    end, role, is_done = -1, "", False
    for start, after, piece in _pieces(text, values):
        word = piece if isinstance(piece, str) else ""
        lower = word.casefold()
        if last is not None and start == end and word in _ROLE_OF:
            last = replace(last, text=last.text + word, role=_ROLE_OF[word])
        elif lower in _PREPOSITIONS:
            if role:  # of no noun: `opt in`, `out of stock`
                yield from filter(None, (last, Sign(role, role)))
                last = None
            role = lower
        elif not _says_nothing(word, text[max(0, start - 3) : start], text[after : after + 1]):
            if last is not None:
                yield last
            last, role, end = _sign(piece, role, done=is_done), "", after
        is_done = lower in _BE or (is_done and bool(_BETWEEN.match(lower)))
    yield from filter(None, (last, Sign(role, role) if role else None))


def _pieces(text: str, values: Sequence[Quantity]) -> list[tuple[int, int, str | Quantity]]:
    """Return the values of a text and the words between them, with their spans, by position."""
    ends = [value.end for value in values]
    found: list[tuple[int, int, str | Quantity]] = [(v.start, v.end, v) for v in values]
    for match in _TOKEN.finditer(text if text.isascii() else _UNSAID.sub(" ", text)):
        at = bisect_right(ends, match.start())
        if at == len(values) or match.start() < values[at].start:
            found.append((match.start(), match.end(), match[0]))
    return sorted(found, key=lambda piece: piece[0])


def _says_nothing(word: str, before: str, after: str) -> bool:
    """Whether a word is an article or the like.

    A capital is a name before Hangul (`A창고`) or within a sentence.
    """
    if word.casefold() not in _EMPTY:
        return False
    is_within = bool(_WITHIN.search(before))
    return not (word.isupper() and ("가" <= after <= "힣" or is_within))


def _value(value: Quantity) -> str:
    if value.what == CLOCK and not value.is_half_known:
        return f"#{value.what}:{value.value % _HALF_DAY}?"
    return f"#{value.what}:{value.value.normalize()}"


def _sign(piece: str | Quantity, role: str, *, done: bool) -> Sign:
    """Return the sign of a word or value; `done`: after a form of `be`."""
    if isinstance(piece, Quantity):
        return Sign(_value(piece), piece.text, role)
    if not "가" <= piece[0] <= "힣":
        return _latin(piece, role, done=done)
    base = korean_stem(piece)
    rest = piece.removeprefix(base)
    voice = _VOICES.match(rest)
    found = _PARTICLE.search(rest) if rest != piece else None
    # After a final consonant 는 is an ending: `받는`, and `받은` has been.
    if found is not None and not (found[0] == "는" and _final(piece[-2:-1])):
        role, rest = _ROLE_OF[found[0]], rest[: found.start()]
    form: Form = "" if voice is None else "passive" if voice["passive"] else "active"
    if rest == piece and piece != base and _final(piece[len(base) - 1]) == _PAST_FINAL:
        form = "past"  # contracted: `보냈다`
    rest = "" if rest == piece or _PLAIN.match(rest) else rest
    return Sign(senses().get(base, base), piece, role, rest, form)


def _latin(piece: str, role: str, *, done: bool) -> Sign:
    if _UNIT.fullmatch(piece):
        return Sign(cased_unit(piece), piece, role)
    if not piece.isalpha():
        key = fold_case(piece).removesuffix("'s").removesuffix("’s")
        key = stem(key) if "'" in key or "’" in key else key
        return Sign(_ONE_MARK.get(key, key), piece, role)
    lower = piece.casefold()
    base = stem(lower)
    is_past = lower in _PAST or (lower.endswith("ed") and base != lower)
    form: Form = ("passive" if done else "past") if is_past else ""
    return Sign(_PERSONS.get(lower) or senses().get(base, base), piece, role, "", form)


def _final(syllable: str) -> int:
    """Return which consonant ends a syllable, 0 for none."""
    return (ord(syllable) - ord("가")) % 28 if "가" <= syllable <= "힣" else 0


Sides = tuple[tuple[str, ...], tuple[str, ...]]
NEITHER: Sides = ((), ())


def turned(one: str, other: str) -> Sides:
    """Return the words and values that two texts have in another order or exchanged roles.

    Words that move together with their particle, as Korean allows, or with their own value, as in
    a list, are in no other order.
    """
    mine, theirs = _once(one), _once(other)
    is_turned = any(_is_turned(mine[key].sign, theirs[key].sign) for key in mine if key in theirs)
    both = [key for key in mine if key in theirs][:_COMPARED]
    ours, others = [mine[key] for key in both], [theirs[key] for key in both]
    if all(map(_is_alike, ours, others)) and all(a.at < b.at for a, b in pairwise(others)):
        return NEITHER  # most texts: spares the comparison of each pair
    moved: dict[int, None] = {}
    for a, first in enumerate(ours):
        for b in range(a + 1, len(ours)):
            pair = (first, ours[b], others[a], others[b])
            # What is done to something stands before what does it: `Lee pays`, `is paid by Lee`.
            if _exchanged(*pair) or (not is_turned and _inverted(*pair)):
                moved |= dict.fromkeys((a, b))
    if not moved:
        return NEITHER
    there = sorted(moved, key=lambda at: others[at].at)
    return tuple(ours[at].sign.text for at in sorted(moved))[:6], tuple(
        others[at].sign.text for at in there
    )[:6]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A sign at its place, with the value that follows it and the word before it."""

    sign: Sign
    at: int
    value: str
    before: str


@lru_cache(maxsize=256)
def _once(text: str) -> Mapping[str, _Placed]:
    """Return the signs of a text that occur once, by key; the value of a value is itself."""
    signs = signs_of(text)
    counts = Counter(sign.key for sign in signs)
    found: dict[str, _Placed] = {}
    for at, sign in enumerate(signs):
        if counts[sign.key] == 1:
            value = next((s.key for s in signs[at : at + 4] if s.key.startswith("#")), "")
            before = signs[at - 1].key if at else ""
            found[sign.key] = _Placed(sign, at, value, before)
    return found


def _is_turned(one: Sign, other: Sign) -> bool:
    return one.form != other.form and "passive" in {one.form, other.form}


def _is_alike(one: _Placed, other: _Placed) -> bool:
    return one.sign.role == other.sign.role


def _exchanged(first: _Placed, second: _Placed, there: _Placed, back: _Placed) -> bool:
    """Whether each of two words has the role in one text that the other has in the other one."""
    roles = first.sign.role, second.sign.role
    return roles[0] != roles[1] and roles == (back.sign.role, there.sign.role)


def _inverted(first: _Placed, second: _Placed, there: _Placed, back: _Placed) -> bool:
    """Whether two words of one role are in the opposite order, and not because a list is."""
    if there.at < back.at:
        return False
    if len({placed.sign.role for placed in (first, second, there, back)}) > 1:
        return False
    if first.sign.key.startswith("#") and second.sign.key.startswith("#"):
        return (first.before, second.before) != (there.before, back.before)
    is_listed = first.value and second.value and first.value != second.value
    return not (is_listed and (first.value, second.value) == (there.value, back.value))


def leftover(one: str, other: str) -> Sides:
    """Return what is not in both texts, down to the last ending that may matter; or the order.

    () on both sides only where the texts say the same sign by sign.
    """
    mine, theirs = signs_of(one), signs_of(other)
    wholes, others = [s.whole for s in mine], [s.whole for s in theirs]
    if wholes == others:
        return _recast(mine, theirs)
    new, known = Counter(wholes) - Counter(others), Counter(others) - Counter(wholes)
    sides = (
        tuple(s.told for s in mine if s.whole in new)[:8],
        tuple(s.told for s in theirs if s.whole in known)[:8],
    )
    if sides != NEITHER:
        return sides
    at = next(n for n, (a, b) in enumerate(zip(wholes, others, strict=True)) if a != b)
    return (mine[at].text,), (theirs[at].text,)


def _recast(one: Sequence[Sign], other: Sequence[Sign]) -> Sides:
    """Return the words that are the same in another voice, tense or part of the sentence.

    `환불을 처리한다` and `환불이 처리된다` say the same: voice and part change together.
    """
    pairs = list(zip(one, other, strict=True))
    parts = [pair for pair in pairs if not _fits(pair[0].role, pair[1].role)]
    voices = [(a, b) for a, b in pairs if {a.form, b.form} == {"active", "passive"}]
    forms = [(a, b) for a, b in pairs if a.form != b.form and {a.form, b.form} & {"past"}]
    is_latin = [(a, b) for a, b in pairs if {a.form, b.form} == {"passive", ""}]
    if voices and parts and all("object" in {a.role, b.role} for a, b in parts):
        voices, parts = [], []
    apart = [*parts, *voices, *forms, *(pair for pair in is_latin if pair[0].key.isascii())]
    return tuple(a.told for a, _ in apart), tuple(b.told for _, b in apart)


def _fits(one: str, other: str) -> bool:
    """Whether two loose roles may be one: what is done is not who does it, nor whose it is."""
    roles = {one, other}
    return len(roles) == 1 or "" in roles or (roles <= _TOPICAL and "topic" in roles)
