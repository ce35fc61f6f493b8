"""What only one of two texts says, by what it is: a value, a denial, a name, an order, a word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from core.knowledge.duplicates.quantities import Quantity
from core.knowledge.duplicates.scales import opposed
from core.knowledge.duplicates.signs import NEITHER, Sides, leftover, signs_of, turned
from core.knowledge.duplicates.turns import DENYING, OPPOSED, Turn
from core.knowledge.duplicates.words import Covered, Words, covered
from core.knowledge.search.hanja import as_hangul

SHOWN = 8
What = Literal["number", "negation", "name", "order", "scope", "limit", "duty", "words"]
# Both cannot hold of one thing; names and words may be about another thing.
CLASHES = frozenset(("number", "negation", "order", "scope", "limit", "duty"))
_DENIED = tuple((prefix, "") for prefix in DENYING)
_FIRST = (*DENYING, *(one for one, _ in OPPOSED))
_BINDING = frozenset(("must", "should"))
_WITHOUT = frozenset(("없이", "without"))
_ONCE = re.compile(r"(?:한\s?번|1\s?[번회])")
_EACH = re.compile(
    r"마다|매[일주월달년번]|\b(?:every|each|daily|weekly|monthly|yearly)\b", re.IGNORECASE
)
_TURNS: tuple[Turn, ...] = ("scope", "limit", "duty")


class Pair:
    """Two texts side by side: each word of one with the share of it that the other has.

    All that is told of two texts asks for that, so it is told once.
    """

    def __init__(self, one: Words, other: Words) -> None:
        self.one, self.other = one, other

    @cached_property
    def there(self) -> Covered:
        """The words of `one`."""
        return covered(self.one, self.other)

    @cached_property
    def back(self) -> Covered:
        """The words of `other`."""
        return covered(self.other, self.one)


@dataclass(frozen=True)
class Difference:
    """What only one of two texts says, as written there; () for a side without any."""

    what: What
    new: tuple[str, ...]
    known: tuple[str, ...]


def differences(pair: Pair) -> list[Difference]:
    """Return the differences of two texts, by what they are.

    None only where the texts say the same word by word, but for polite endings and particles, and
    for other words of one sense.
    """
    new, known = pair.one, pair.other
    (mine, words), (theirs, other_words) = _unshared(pair.there), _unshared(pair.back)
    names, unshared = (mine, theirs), (words, other_words)
    scaled, opposites = _excluding(new, known, names, unshared)
    turns: dict[What, Sides] = {turn: _turn(turn, new, known) for turn in _TURNS}
    denials = _denials(new, known)
    if not any(denials):
        denials = opposites
    elif _leaves_out(new, known, denials):
        denials, turns["scope"] = NEITHER, NEITHER
    found = [
        Difference("number", *_with((_values(new, known), _values(known, new)), scaled)),
        Difference("negation", *denials),
        Difference("name", *names),
        *(Difference(turn, *sides) for turn, sides in turns.items()),
        Difference("order", *_order(new, known)),
        Difference("words", *_with(_but(unshared, scaled, denials), _hanja(new, known))),
    ]
    told = [difference for difference in found if difference.new or difference.known]
    if told:
        return told
    rest = leftover(new.text, known.text)
    return [Difference("words", *rest)] if rest != NEITHER else []


def _excluding(new: Words, known: Words, names: Sides, words: Sides) -> tuple[Sides, Sides]:
    """Return the values in words, and the opposites, that exclude each other in two texts.

    None of texts that each say something else besides: `국내 출장은 기차로` may hold beside
    `해외 출장은 비행기로`.
    """
    signs, others = signs_of(new.unnumbered), signs_of(known.unnumbered)
    scaled, opposites = opposed("number", signs, others), opposed("negation", signs, others)
    if all(names) or all(_with(names, _but(words, scaled, opposites))):
        return NEITHER, NEITHER
    return scaled, opposites


def _with(sides: Sides, more: Sides) -> Sides:
    return sides[0] + more[0], sides[1] + more[1]


def _but(sides: Sides, *told: Sides) -> Sides:
    """Return the words of both sides that are not told as something else."""
    new, known = (
        tuple(text for text in side if not any(text in one[at] for one in told))
        for at, side in enumerate(sides)
    )
    return new, known


def _leaves_out(new: Words, known: Words, denials: Sides) -> bool:
    """Whether one leaves out by `without` what the other leaves out by `except`."""
    mine, theirs = denials
    other = known if mine else new
    is_without = {text.casefold() for text in (*mine, *theirs)} <= _WITHOUT
    scopes = new.turned["scope"].keys() ^ known.turned["scope"].keys()
    return is_without and scopes == {"except"} and "except" in other.turned["scope"]


def name_others(pair: Pair) -> bool:
    """Whether each of two texts names someone or something that the other does not."""
    return all(_unshared(shares)[0] for shares in (pair.there, pair.back))


def have_two_subjects(pair: Pair) -> bool:
    """Whether two texts are about two things: each begins with its name, or has its own code."""
    return all(map(_has_own_subject, (pair.there, pair.back)))


def _has_own_subject(shares: Covered) -> bool:
    told = [(word, share) for word, share in shares if word.weight >= 1]
    codes = [share for word, share in told if word.names and any(map(str.isdigit, word.text))]
    return 0.0 in codes or (bool(told) and told[0][0].names and not told[0][1])


def _unshared(shares: Covered) -> tuple[tuple[str, ...], tuple[str, ...]]:
    alone = [word for word, share in shares if not share and word.weight >= 1]
    names = [word.text for word in alone if word.names]
    return tuple(names[:SHOWN]), tuple(w.text for w in alone if not w.names)[:SHOWN]


def _hanja(new: Words, known: Words) -> Sides:
    """Return words of one reading that both texts write in other Hanja: 市場 and 市長."""
    if not new.hanja or not known.hanja:
        return NEITHER
    read = {as_hangul(word): word for word in known.hanja if word not in new.hanja}
    alone = [word for word in new.hanja if word not in known.hanja and as_hangul(word) in read]
    return tuple(alone), tuple(read[as_hangul(word)] for word in alone)


def _values(one: Words, other: Words) -> tuple[str, ...]:
    alone: Sequence[Quantity] = [
        quantity
        for quantity in one.quantities
        if not other.holds(quantity) and not (_ONCE.match(quantity.text) and _is_regular(other))
    ]
    return tuple(dict.fromkeys(quantity.text for quantity in alone))[:SHOWN]


def _is_regular(words: Words) -> bool:
    """Whether a text says that something is done each time: once is the same."""
    return _EACH.search(words.text) is not None


def _denials(new: Words, known: Words) -> Sides:
    """Return the denials, if one text has more; else words that one has with a denying prefix."""
    if len(new.denies) != len(known.denies):
        return _distinct(new.denies), _distinct(known.denies)
    pairs = [*_prefixed(new, known), *((b, a) for a, b in _prefixed(known, new))]
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def _prefixed(one: Words, other: Words) -> Iterator[tuple[str, str]]:
    """Yield words of one text with the word of the other that they deny: `불가능`, `가능`."""
    alone = {word.base or word.stem: word.text for word in other.words}
    # As written too: `inactive` and `active` have other stems.
    alone |= {word.text.casefold(): word.text for word in other.words if word.text.isascii()}
    own = one.bases
    for word in one.words:
        base = word.base or word.stem
        if base in alone:
            continue
        if base not in alone and word.text.isascii():
            base = word.text.casefold()
        for prefix, instead in (*_DENIED, *OPPOSED) if base.startswith(_FIRST) else ():
            denied = instead + base.removeprefix(prefix)
            is_denied = base.startswith(prefix) and denied not in own
            if is_denied and denied in alone:
                yield word.text, alone[denied]
                break


def _distinct(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))[:SHOWN]


def _turn(turn: Turn, new: Words, known: Words) -> Sides:
    mine, theirs = new.turned[turn], known.turned[turn]
    if mine.keys() == theirs.keys():
        return NEITHER
    # A rule that is stated plainly binds as well: `Send it`, `it should be sent`.
    if turn == "duty" and not (mine and theirs) and {*mine, *theirs} <= _BINDING:
        return NEITHER
    new_only = tuple(text for sense, text in mine.items() if sense not in theirs)
    return new_only, tuple(text for sense, text in theirs.items() if sense not in mine)


def _order(new: Words, known: Words) -> Sides:
    """Return words and values in another order, or else what says in which order things come."""
    moved = turned(new.text, known.text)
    return moved if moved != NEITHER else _turn("order", new, known)
