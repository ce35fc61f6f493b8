"""Tokenise text, for scripts with and without spaces between words, and for identifiers."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from core.knowledge.search.hanja import as_hangul

# English function words: they tell sentences apart, though they say little.
_WORDS = (
    "a am an and any are as at be been but by can could did do does for from had has have he her"
    " his how i if in into is it its may me might my of on or our s she should so some t than that"
    " the their them then there they this to us was we were what when where which who why will"
    " with would you your"
)
_LITTLE = frozenset(_WORDS.split())
_APOSTROPHES = "'\u2019"
_SHOUTED_WORDS = 3
_WORD = re.compile(r"[^\W\d_]+")
_LATIN_AFTER = re.compile(r"\s*[A-Za-z]")
_LEAST_STEM = 2
_SUFFIXES = (
    "은 는 이 가 을 를 의 에 도 만 로 와 과 랑 야 님 들 이랑 하고 에서 에게 한테 께서 으로 까지"
    " 부터 마다 조차 마저 밖에 보다 처럼 이나 이란 라고 이라고 라면 이라면 라도 이라도 에는 에도"
    " 에만 에서는 에게는 에게서 으로는 으로도 으로써 으로부터 에다가 들이 들은 들을 인데 이고 이며"
    " 이야 인가 인가요 였고 였던 였는데 이었다 이었을 했다 했던 했고 했으면 했는데 했다면 합니다"
    " 합니까 했습니다 했습니다만 입니다 이다 이었습니다 하는 하던 하면 하면서 하며 하여 해서 해야"
    " 해도 하기 하나 하자 하지 한다 할까 할까요 하나요 하려고 하려면 하시고 하셨던 되는 되면 된다"
    " 됩니까 되나 되나요 되었나요 해요 해줘 시켜 지요 나요 까요 세요 어요 는지 은지 을지 려면 려고"
    " 으면 면서 으며 습니까 습니다 습니다만 던데 는데 기 기는 기를 기가 기에 기로"
)
_SUFFIX = re.compile(f"(?:{'|'.join(sorted(_SUFFIXES.split(), key=len, reverse=True))})$")
_SURE_SUFFIX = re.compile("(?:은|는|을|를|에서|에게|으로|까지|부터)$")
HANGUL = re.compile("[\uac00-\ud7a3]+")


def is_little(word: str) -> bool:
    """Whether a word is an English function word, in any case."""
    return len(word) <= len("should") and word.casefold() in _LITTLE


def is_name(text: str, start: int, end: int) -> bool:
    """Whether a function word in a text is capitalised as a name: IT, WHO or plan A.

    A single letter is none before an English word or an apostrophe: it begins a sentence.
    """
    if not text[start:end].isupper():
        return False
    if end - start > 1:
        return True
    touched = text[max(0, start - 1) : start] + text[end : end + 1]
    return not any(char in touched for char in _APOSTROPHES) and not _LATIN_AFTER.match(text, end)


def shouts(text: str) -> bool:
    """Whether a text is all capitals, which then mark no names."""
    return text.isupper() and len(_WORD.findall(text[:1_000])) >= _SHOUTED_WORDS


def suffix_start(run: str) -> int:
    """Return where the particle or ending of a Korean word begins, its length if it has none.

    At least two syllables remain, or one before an unambiguous particle.
    """
    if HANGUL.fullmatch(run):
        found = (_SUFFIX.search(run, _LEAST_STEM), _SURE_SUFFIX.search(run, 1))
        return min((match.start() for match in found if match), default=len(run))
    return len(run)


MAX_CHARS = 100_000
MAX_TERMS = 10_000
MAX_TERM_CHARS = 64
# Hangul (syllables and letters), kana, bopomofo, Han, Thai, Lao, Tibetan, Myanmar, Khmer.
UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
_PIECE = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)*)"
    rf"|(?P<unspaced>[{UNSPACED}]+)"
    rf"|(?P<word>[^\W\d_{UNSPACED}]+)"
)
_SINGLE = re.compile(f"[{UNSPACED}]")
_RUN = re.compile(f"[{UNSPACED}]+")
_SYLLABLE = re.compile("[\uac00-\ud7a3]")
_STRAY = re.compile("[\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\ud7b0-\ud7ff]")
_HANJA = re.compile("[\u4e00-\u9fff]")
HUMP = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNIT = re.compile(r"\s?([십백천]?)([만억조])|\s?([백천])")
_UNIT_VALUES = {
    "": 1,
    "십": 10,
    "백": 100,
    "천": 1_000,
    "만": 10_000,
    "억": 100_000_000,
    "조": 1_000_000_000_000,
}


class Token(NamedTuple):
    """A term and its span in the NFC form of the text; `word` is its written form, case folded.

    `word` is empty for scripts without spaces and for numbers, but for Hanja read as Hangul.
    """

    term: str
    start: int
    end: int
    word: str = ""


def term_counts(text: str, *, limit: int = MAX_TERMS) -> Counter[str]:
    """Count the terms of a text, up to its first `limit` distinct ones."""
    counts: Counter[str] = Counter()
    for token in scan(text):
        if len(counts) >= limit and token.term not in counts:
            break
        counts[token.term] += 1
    return counts


def scan(text: str) -> Iterator[Token]:
    """Yield the terms of the first 100,000 characters of a text (in NFC), in order.

    Hangul yields the first syllable of each word and all pairs, scripts without spaces all single
    characters and pairs.
    Words are case folded, stemmed if ASCII, and split at the humps of identifiers; English
    function words are dropped, except names (`IT`, `WHO`) and in a text of nothing else. Numbers
    lose their grouping; one with a Korean unit also yields its full value (`100만`: 1000000).
    """
    for _, _, tokens in runs(text):
        yield from tokens


class Reader:
    """Tokenise parts of one text (NFC) exactly as they are tokenised in the whole."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._keeps_all = not any(map(_tells, _PIECE.finditer(text)))
        self._shouts = not self._keeps_all and not _SINGLE.search(text) and shouts(text)

    def runs(self, start: int, end: int) -> Iterator[tuple[str, re.Match[str], Iterator[Token]]]:
        """Yield the runs between two positions, each with its terms."""
        for piece in _PIECE.finditer(self._text, start, end):
            match piece.lastgroup:
                case "number":
                    yield "number", piece, _number(self._text, piece)
                case "unspaced":
                    yield "unspaced", piece, _grams(piece)
                case _:
                    yield "word", piece, self._word(piece)

    def scan(self, start: int, end: int) -> Iterator[Token]:
        """Yield the terms between two positions, in order."""
        for _, _, tokens in self.runs(start, end):
            yield from tokens

    def _word(self, piece: re.Match[str]) -> Iterator[Token]:
        parts = HUMP.split(piece[0])
        if len(parts) > 1:
            yield _stemmed(piece[0], piece.start())
        start = piece.start()
        for part in parts:
            end = start + len(part)
            if not is_little(part) or self._is_indexed(start, end):
                yield _stemmed(part, start)
            start = end

    def _is_indexed(self, start: int, end: int) -> bool:
        if self._keeps_all:
            return True
        around = self._text[max(0, start - 1) : start] + self._text[end : end + 1]
        if _SINGLE.search(around):
            return True
        return not self._shouts and is_name(self._text, start, end)


def runs(text: str) -> Iterator[tuple[str, re.Match[str], Iterator[Token]]]:
    """Yield the runs of a text (NFC), `number`, `unspaced` or `word`, each with its terms."""
    text = unicodedata.normalize("NFC", text[:MAX_CHARS])
    return Reader(text).runs(0, len(text))


def is_single(term: str) -> bool:
    """Whether a term is one character of a script without spaces, so part of a word."""
    return len(term) == 1 and _SINGLE.match(term) is not None


def is_unspaced(char: str) -> bool:
    """Whether a character belongs to a script without spaces, or to Hangul."""
    return _SINGLE.match(char) is not None


def is_gram(term: str) -> bool:
    """Whether a term occurs wherever its characters do: no number, in a script without spaces."""
    return _RUN.fullmatch(term) is not None and not any(map(str.isdecimal, term))


def has_strays(text: str) -> bool:
    """Whether a text has single Hangul letters, which are slips among syllables."""
    return _STRAY.search(text) is not None


def has_hanja(text: str) -> bool:
    """Whether a text has Chinese characters, of whatever language."""
    return _HANJA.search(text) is not None


def unspaced_before(text: str, at: int) -> int:
    """Count the characters of such scripts before a position, at most 64."""
    found = _RUN.match(text[max(0, at - MAX_TERM_CHARS) : at][::-1])
    return found.end() if found else 0


def unspaced_after(text: str, at: int) -> int:
    """Count the characters of such scripts from a position on, at most 64."""
    found = _RUN.match(text, at, at + MAX_TERM_CHARS)
    return found.end() - at if found else 0


def plain_run(run: str) -> Sequence[tuple[int, str]]:
    """Return the characters of a run with their positions, without stray letters in it.

    `승ㅇ인` and `네ㅋㅋ` are slips of a Korean keyboard, or laughter.
    """
    placed = [*enumerate(run)]
    if not _STRAY.search(run) or not _SYLLABLE.search(run):
        return placed
    return [pair for pair in placed if not _STRAY.match(pair[1])]


def _grams(piece: re.Match[str]) -> Iterator[Token]:
    if HANGUL.fullmatch(piece[0]):
        yield from _pairs(piece[0], piece.start())
        return
    if has_hanja(piece[0]) and (read := as_hangul(piece[0])) != piece[0]:
        yield from _grams_of_hanja(piece[0], read, piece.start())
        return
    start = piece.start()
    run = plain_run(piece[0])
    for place, ((at, char), after) in enumerate(zip_longest(run, run[1:])):
        if begins_word(char, place):
            yield Token(char, start + at, start + at + 1)
        if after is not None:
            yield Token(char + after[1], start + at, start + after[0] + 1)


def _pairs(run: str, start: int) -> Iterator[Token]:
    """Yield the terms of a run of syllables, as most of Korean is."""
    yield Token(run[0], start, start + 1)
    for at in range(start, start + len(run) - 1):
        yield Token(run[at - start : at - start + 2], at, at + 2)


def _grams_of_hanja(run: str, read: str, start: int) -> Iterator[Token]:
    """Yield the terms of a run with Hanja by their reading, each with its written form.

    Of one reading there are many Hanja, and a text may be Chinese: so the written ones count too.
    """
    for place, char in enumerate(read):
        at, own = start + place, run[place]
        if begins_word(char, place):
            yield Token(char, at, at + 1, own if own != char else "")
        elif own != char:
            yield Token(written(own), at, at + 1)
        pair, own_pair = read[place : place + 2], run[place : place + 2]
        if len(pair) == 2:
            yield Token(pair, at, at + 2, own_pair if own_pair != pair else "")


def begins_word(char: str, place: int) -> bool:
    """Whether a character at a place of its run is a term of its own.

    Of Hangul the first one is: Korean words begin with their stem, and inside a word a syllable
    is anybody's.
    """
    return place == 0 or not _SYLLABLE.match(char)


def _tells(piece: re.Match[str]) -> bool:
    return piece.lastgroup != "word" or not is_little(piece[0])


def _stemmed(word: str, start: int) -> Token:
    term, folded = _stem(word[:MAX_TERM_CHARS])
    return Token(term, start, start + len(word), folded)


def _number(text: str, piece: re.Match[str]) -> Iterator[Token]:
    plain = "".join(str(unicodedata.decimal(c, c)) for c in piece[0] if c != ",")
    plain = plain[:MAX_TERM_CHARS]
    if plain.count(".") == 1:
        plain = plain.rstrip("0").rstrip(".")
    yield Token(plain, piece.start(), piece.end())
    unit = _UNIT.match(text, piece.end())
    if unit and plain.count(".") <= 1:
        factor = _UNIT_VALUES[unit[1] or ""] * _UNIT_VALUES[unit[2] or unit[3]]
        whole = f"{(Decimal(plain) * factor).normalize():f}"
        yield Token(whole[:MAX_TERM_CHARS], piece.start(), unit.end())


def stem(word: str) -> str:
    """Return a word case folded and, if it is ASCII, reduced to its English stem."""
    return _stem(word[:MAX_TERM_CHARS])[0]


@lru_cache(maxsize=10_000)
def _stem(word: str) -> tuple[str, str]:
    """Return the stem of a word, and the word case folded."""
    # Here, as it loads the stemmers of forty languages.
    from snowballstemmer.english_stemmer import EnglishStemmer  # type: ignore[import-untyped]

    folded = unicodedata.normalize("NFC", word.casefold())[:MAX_TERM_CHARS]
    return (str(EnglishStemmer().stemWord(folded)) if folded.isascii() else folded), folded


MAX_QUERY_TERMS = 2_000
MAX_RUNS = 64
# How much of a term's idf counts.
STEM = 0.5  # a word has two terms, its stem and its written form
LITTLE = 0.5  # function words: they tell sentences apart, though they say little
# How much of it makes a hit, where it counts less than the whole.
FIRST = 0.3  # a first syllable: unrelated words share it
SUFFIX = 0.3  # what a particle or an ending adds
ALONE = 0.5  # a one-syllable word among others
_CLOSE = re.compile(r"[ \t_-]?")


@dataclass(frozen=True)
class Run:
    """A word as typed: case folded, without stray letters.

    `joins`: only a blank, a hyphen or an underscore separates it from the run before.
    """

    kind: str
    text: str
    joins: bool


@dataclass(frozen=True)
class Question:
    """The terms of a query with their counts.

    `factors` is the part of a term's weight that counts for the score, `floors` the part that
    counts for being a hit at all; `length` is the number of its words and pairs. `runs` is empty
    for a long query, whose single words need no spelling correction.
    """

    counts: Mapping[str, int]
    factors: Mapping[str, float]
    runs: tuple[Run, ...]
    floors: Mapping[str, float] = field(default_factory=dict)
    length: int = 0


class Asked(NamedTuple):
    """A term of a query, its factor, and its part of the floor."""

    term: str
    factor: float = 1.0
    floor: float = 1.0


def read_question(text: str, *, limit: int = MAX_QUERY_TERMS) -> Question:
    """Parse a query up to its first `limit` distinct terms."""
    counts: Counter[str] = Counter()
    factors: dict[str, float] = {}
    floors: dict[str, float] = {}
    typed: list[Run] = []
    length = 0
    for run, terms in _read(text):
        for term, factor, floor in terms:
            if len(counts) >= limit and term not in counts:
                return Question(counts, factors, (), floors, length)
            counts[term] += 1
            factors[term] = max(factor, factors.get(term, 0.0))
            floors[term] = max(floor, floors.get(term, 0.0))
            length += is_counted(term)
        typed.append(run)
    floors |= {run.text: ALONE if len(typed) > 1 else 1.0 for run in typed if is_single(run.text)}
    return Question(counts, factors, tuple(typed) if len(typed) <= MAX_RUNS else (), floors, length)


def _read(text: str) -> Iterator[tuple[Run, list[Asked]]]:
    composed = unicodedata.normalize("NFC", text)
    is_all_little: bool | None = None  # asked where there is a function word: few Korean texts
    end, last = 0, ""
    for kind, piece, tokens in runs(text):
        close = kind == last and _CLOSE.fullmatch(composed, end, piece.start()) is not None
        plain = piece[0]
        if kind == "unspaced":
            plain = as_hangul(plain) if has_hanja(plain) else plain
            plain = "".join(char for _, char in plain_run(plain))
        folded = unicodedata.normalize("NFC", plain.casefold())
        found = [*tokens]
        if kind == "unspaced":
            terms = _floored(plain, piece.start(), found)
        elif kind == "word":
            terms = [asked for token in found for asked in _both_forms(token)]
            if not found:
                if is_all_little is None:
                    is_all_little = next(scan(text), None) is None
                terms = [] if is_all_little else [Asked(little_term(piece[0]), LITTLE, 0.0)]
        else:
            terms = [Asked(token.term) for token in found]
        yield Run(kind, folded, close), terms
        end, last = piece.end(), kind


def _floored(run: str, start: int, tokens: Sequence[Token]) -> list[Asked]:
    """Return the terms of a run; what its particle or ending adds makes hardly a hit."""
    stem = suffix_start(run)
    terms = []
    for token in tokens:
        if is_single(token.term):
            floor = FIRST if stem > 1 else 1.0
        else:
            floor = 1.0 if token.end - start <= stem else SUFFIX
        if token.term.startswith(WRITTEN):
            terms.append(Asked(token.term, 1 - STEM, 0.0))
            continue
        factor = STEM if token.word else 1.0
        terms.append(Asked(token.term, factor, floor if len(run) > 1 else 1.0))
        if token.word:
            terms.append(Asked(written(token.word), 1 - STEM, 0.0))
    return terms


def _both_forms(token: Token) -> list[Asked]:
    """Return the stem of a word and, if it differs, its written form, at one word's weight."""
    if token.word in {"", token.term}:
        return [Asked(token.term)]
    return [Asked(token.term, STEM), Asked(written(token.word), 1 - STEM, 0.0)]


WRITTEN = "="
LITTLE_MARK = "~"


def written(word: str) -> str:
    """Return the term of a word as it is written, as opposed to that of its stem."""
    return WRITTEN + word


def little_term(word: str) -> str:
    """Return the term of a function word, as opposed to a name that looks like one."""
    return LITTLE_MARK + word.casefold()


def is_counted(term: str) -> bool:
    """Whether a term adds to the length of a text: a written form stands beside its stem."""
    return not term.startswith(WRITTEN) and term != IN_SENTENCES


# In every text with function words: their frequency says something among such texts alone.
IN_SENTENCES = f"{LITTLE_MARK}~"
MAX_NAME = 500
NAME_MARK = "=="
# Word separators, and characters that the database cannot store.
_BETWEEN = re.compile(r"[\s_\-\0\ud800-\udfff]+")


def name_term(text: str) -> str:
    """Return the term that finds an item by its whole name, empty if there is none.

    Case, blanks, hyphens and underscores are ignored.
    """
    if len(text) > MAX_NAME:
        return ""
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    joined = _BETWEEN.sub("", plain)
    return f"{NAME_MARK}{joined}" if joined else ""


def name_terms(name: str) -> frozenset[str]:
    """Return the terms that find an item by its whole name: as written, and its Hanja as Hangul."""
    written = unicodedata.normalize("NFC", name)
    return frozenset(filter(None, map(name_term, (written, as_hangul(written)))))
