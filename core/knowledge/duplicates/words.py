"""Informative words of a text, so that different wordings agree, and those that turn its sense."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from core.knowledge.duplicates.quantities import Numbered, Quantity, numbered_subject, quantities
from core.knowledge.duplicates.quantity_patterns import CLOCK
from core.knowledge.duplicates.turns import TURNS, Turn, denials, turns
from core.knowledge.search.hanja import as_hangul
from core.knowledge.search.spelling import senses
from core.knowledge.search.tokens import has_hanja, stem

# Words that nearly any memory may contain: they say little about its subject.
_LITTLE = """
쓸 쓴 할 될 있다 없다 있는 없는 있고 한
" use using used want wish prefer like love need require must should shall may might can could
will would always ever please make made making put give given get got take taken go goes going
come keep kept show write wrote written send sent ask say tell let have has had do done does new
own all every each any some only also just instead rather than because since when while before
after until till within up later by around about between during per once again one ones other
such very much many more most now then here there first day time thing way case set mean allow
possible expect follow receive hand out see seen handle ensure remember note work 하 되 있 없 주
원하 싶 필요 사용 이용 쓰 써 적 작성 보내 남기 올리 보 받 드리 넣 빼 만들 처리 진행 경우 때 것
수 등 및 또는 그리고 그 이 저 우리 모든 모두 항상 늘 언제나 반드시 꼭 앞으로 이제 이후 이전 전
후 뒤 안 밖 이내 이상 이하 이미 바로 다시 더 덜 매우 아주 좀 조금 정도 쯤 약 위 아래 중 까지
부터 동안 마다 마세 말 않 아니 못 위하 대하 따르 관하 의하 통하 맞추 두 두세 가능 선호 좋아하
바라 바랍 부탁 요청 요구 내 오 가 나 나가 안에 밖에 전에 후에 뒤에 때에 중에 사장 부사장 대표
회장 이사 상무 전무 본부장 실장 팀장 부장 차장 과장 대리 주임 선생 교수 박사 기본 주로 대신 가지
기다리
"""
_FUNCTION_WORDS = """
a an the and or but if so as at by for from in into of off on onto out over than that these
those this to up with without am is are was were be been being it its i me my we us our you your
he him his she her they them their there who whom whose which what how why not no nor never mr
mrs ms dr prof don't doesn't isn't aren't won't can't cannot 은 는 이 가 을 를 의 에 와 과 도 로
으로 께 에게
"""
# Titles that follow a person's name.
_TITLES = """
사장 부사장 대표 회장 이사 상무 전무 본부장 실장 팀장 부장 차장 과장 대리 주임 사원 매니저 선생
교수 박사 씨
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
TITLES = tuple(_TITLES.split())


@lru_cache(maxsize=1)
def tells_little() -> frozenset[str]:
    """Return the stems that say little about the subject of a text."""
    return frozenset(stem(word) for word in _LITTLE.split())


_FIRST, _SYLLABLES, _FINALS = 0xAC00, 11_172, 28
# ㄴ ㄹ ㅂ ㅆ: finals that an ending adds to the last syllable of a verb.
_CUT_FINALS = {4, 8, 17, 20}
# Longest first. A one-syllable ending needs two syllables before it: `보고`, `회의` are words.
_COPULA = re.compile(
    r"(?<=.)(?:입니다|입니까|이었습니다|였습니다|이에요|예요|에요|이예요|이다|인데|이므로|이라서)$"
)
_ENDINGS = re.compile(
    r"(?<=.)(?:(?:으?시|으?십|으?셔)?(?:습니다|습니까|니다|니까|세요|셔요|어요|아요|여요|네요|군요|지요|려요|해요|돼요"
    r"|아야|어야|아서|어서|으면|면서|려고|도록|지만|는데|은데|는지|거나|든지|더라도|어도|아도|기로|기를|기가"
    r"|기는|기에|았다|었다|였다|는다|자마자|면은|지는|지도))$"
    r"|(?<=..)(?:요|다|면|며|고|지|기|게|자|는|은|을|던|야|서|도|음)$"
)
_PARTICLES = re.compile(
    r"(?<=.)(?:께서는|께서|에게서|에게는|에게|한테는|한테|께는|께|에서는|에서|에는|에도|에만|까지는|까지|부터는"
    r"|부터|으로는|으로만|으로|로는|로만|이라는|라는|이라고|라고|보다|처럼|만큼|마다|조차|밖에|이며|이고|만이|만을"
    r"|만은|들은|들이|들을|들에게|을|를|은|는)$"
    r"|(?<=..)(?:이|가|의|에|로|와|과|도|만|랑|들|나)$"
)
_LIGHT = re.compile(
    r"(?<=..)(?:하였|했|하시|하|해|한|할|합|되었|됐|되시|되|돼|된|될|됩|시키|당하)$"
)
_HONORIFIC = re.compile(r"(?<=..)님$")
_OPENED = "려리 여이 와오 워우 봐보 줘주 겨기 켜키 쳐치 꿔꾸 져지 써쓰 둬두"
_OPEN = {pair[0]: pair[1] for pair in _OPENED.split()}


@lru_cache(maxsize=10_000)
def korean_stem(word: str) -> str:
    """Return a Hangul word (NFC) without particles, endings, light verbs and honorifics.

    Approximate, by rules and no dictionary: `환불을`, `환불해야`, `환불됩니다` become `환불`.
    """
    base = _COPULA.sub("", word)
    base = _cut_particles(base)
    if base == word:
        ended = _ENDINGS.sub("", word)
        base = _close(ended) if ended != word else word
    base = _HONORIFIC.sub("", base)
    base = _LIGHT.sub("", base)
    return base[:-1] + _OPEN.get(base[-1], base[-1])


def _cut_particles(word: str) -> str:
    base = _PARTICLES.sub("", word)
    return _PARTICLES.sub("", base) if len(base) > 2 else base


def _close(base: str) -> str:
    """Remove the final that an ending added to the syllable before it: `보냅`니다, `시작된`다."""
    last = ord(base[-1]) - _FIRST
    cut = _CUT_FINALS if len(base) > 1 else {17}
    if 0 <= last < _SYLLABLES and last % _FINALS in cut:
        return base[:-1] + chr(_FIRST + last - last % _FINALS)
    return base


Role = Literal["person", "topic", ""]
LITTLE = 0.2
LEAST_COVERED = 0.5  # a smaller part of a Korean compound is chance, not the same word
MAX_CHARS = 20_000
MAX_WORDS = 2_000
REMEMBERED_CHARS = 2_000  # caching longer texts costs more memory than it saves time
# Identifiers: letters with digits (`PROJ-12`, `3f9a`; but `16GB` and `9am` are measures), a letter
# in place of a name (`A사`), and a number in place of one
# (`customer 17`, `#17`, `17번은`).
_NUMBERED = r"#|(?i:no\.?|customer|client|user|account|order|ticket|case|room|employee) "
_CODE = re.compile(
    r"(?<![A-Za-z0-9_])(?:[a-zA-Z]+[-_]?\d[A-Za-z0-9_-]*"
    r"|(?=[A-Za-z0-9]*\d[a-zA-Z]+\d)[A-Za-z0-9]{4,})(?![A-Za-z0-9_])"
    rf"|(?<!\w)(?:{_NUMBERED})\d+\b(?![.,:]\d| ?%)"
    r"|(?<![A-Za-z0-9])[A-Z](?:사|팀|동|반|조|안|형|급|등급|타입)(?![가-힣]{3})"
    r"|\d+[번호](?=(?:은|이|을|의|에게|께|과|님)(?:\s|$|[가-힣]))"
)
_WORD = re.compile(r"[가-힣]{1,64}|[^\W\d_가-힣]{1,64}(?:[+#]+|(?:['’][^\W\d_가-힣]+))?")
_HANJA = re.compile("[\u4e00-\u9fff]+")
_TOPIC = re.compile(r"..+(?:은|는|이|가|께서|께서는|께|께는|에게|에게는|의)$")
_TITLED = re.compile(rf"(.{{1,4}}?)(?:{'|'.join(TITLES)})(?:님)?$")
_HONOURED = re.compile(r"([가-힣]{2,4})님(?:은|이|을|의|과|께|께서|께는|에게|에게는|도|만)?$")
_SALUTED = re.compile(r"\b(?:mr|mrs|ms|dr|prof)\.?\s$", re.IGNORECASE)
_SENTENCE = re.compile(r"(?:\A|[.!?。:]\s|\n)\s*\Z")


@dataclass(frozen=True, slots=True)
class Word:
    """A word by its `stem` or sense; `text` is as written, `weight` how informative it is.

    `names`: it identifies whom or what the text is about, as a name, a code or a topic; `leads`:
    the text begins with it. `base` is the word without endings where `stem` is a sense.
    """

    stem: str
    text: str
    weight: float
    names: bool = False
    leads: bool = False
    base: str = ""


@lru_cache(maxsize=10_000)
def _syllable_pairs(stem: str) -> tuple[str, ...]:
    if not "가" <= stem[:1] <= "힣":
        return ()
    return tuple(stem[at : at + 2] for at in range(len(stem) - 1))


@dataclass(frozen=True)
class Words:
    """The content of a text: distinct words, quantities and negations.

    `text` is its NFC form with Hanja read as Hangul, `hanja` the words that were written in them.
    `numbered` is the number that names its subject.
    """

    words: tuple[Word, ...]
    quantities: tuple[Quantity, ...]
    denies: tuple[str, ...]
    text: str = ""
    hanja: tuple[str, ...] = ()
    numbered: Numbered | None = None

    @cached_property
    def unnumbered(self) -> str:
        """The text without the number that names its subject."""
        return _without(self.text, self.numbered)

    @cached_property
    def turned(self) -> Mapping[Turn, Mapping[str, str]]:
        """What turns the text, by its way: see `turns`."""
        return {turn: turns(self.unnumbered, turn) for turn in TURNS}

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the words."""
        return frozenset(word.stem for word in self.words)

    @cached_property
    def parts(self) -> tuple[tuple[Word, str, tuple[str, ...]], ...]:
        """Each word, as written without its ending, with the syllable pairs of a Korean one."""
        written = ((word, word.base or word.stem) for word in self.words)
        # Of a person's name a part is no part: `이수진` and `이수민` are two.
        return tuple(
            (word, base, () if word.names and not word.base else _syllable_pairs(base))
            for word, base in written
        )

    @cached_property
    def bases(self) -> frozenset[str]:
        """The words without their endings, as written."""
        return frozenset(word.base or word.stem for word in self.words)

    @cached_property
    def pairs(self) -> frozenset[str]:
        """The pairs of adjacent letters in the words."""
        return frozenset(s[at : at + 2] for s in self.bases for at in range(len(s) - 1))

    @cached_property
    def weight(self) -> float:
        """The total information of the text."""
        return sum(word.weight for word in self.words) + len(self.quantities)

    @cached_property
    def measures(self) -> frozenset[str]:
        """The measures of the quantities."""
        return frozenset(quantity.what for quantity in self.quantities)

    @cached_property
    def _values(self) -> frozenset[tuple[str, Decimal]]:
        return frozenset((q.what, q.value) for q in self.quantities)

    @cached_property
    def _numbers(self) -> frozenset[Decimal]:
        return frozenset(q.value for q in self.quantities if not q.is_alone)

    def holds(self, quantity: Quantity) -> bool:
        """Whether any of the quantities may mean the same: `Quantity.same` by set lookup."""
        what, value = quantity.what, quantity.value
        if what == CLOCK:
            return any(quantity.same(known) for known in self.quantities)
        if what == "":
            return value in self._numbers
        is_bare = not quantity.is_alone and ("", value) in self._values
        return is_bare or (what, value) in self._values


def words_of(text: str) -> Words:
    """Return the words of a text, up to its first 20,000 characters and 2,000 words."""
    return _remembered(text) if len(text) <= REMEMBERED_CHARS else _read(text)


@lru_cache(maxsize=1024)
def _remembered(text: str) -> Words:
    return _read(text)


def _read(text: str) -> Words:
    plain = unicodedata.normalize("NFC", text[:MAX_CHARS])
    hanja: tuple[str, ...] = ()
    if has_hanja(plain):
        hanja, plain = tuple(_HANJA.findall(plain)), as_hangul(plain)
    numbered = numbered_subject(plain)
    codes = [*_CODE.finditer(_without(plain, numbered))]
    bare = _CODE.sub(lambda code: " " * len(code[0]), _without(plain, numbered))
    lower = bare.lower()
    found = quantities(lower) if len(lower) == len(bare) else ()
    coded = [_numbered(plain, numbered)] if numbered else []
    distinct = {code.stem: code for code in (*coded, *map(_coded, codes))}
    leads = numbered is None and (not codes or codes[0].start() > 0)
    for word in _words(bare, found, leads=leads):
        if len(distinct) < MAX_WORDS and (word.stem not in distinct or word.names):
            distinct[word.stem] = word
    return Words(tuple(distinct.values()), (*found,), denials(plain), plain, hanja, numbered)


def _without(text: str, numbered: Numbered | None) -> str:
    if numbered is None:
        return text
    blank = " " * (numbered.end - numbered.start)
    return text[: numbered.start] + blank + text[numbered.end :]


def _numbered(text: str, one: Numbered) -> Word:
    return Word(f"#{one.number}", text[one.start : one.end], 1.0, names=True, leads=True)


def _coded(code: re.Match[str]) -> Word:
    return Word(code[0].casefold(), code[0], 1.0, names=True, leads=code.start() == 0)


def _words(text: str, found: Sequence[Quantity], *, leads: bool) -> Iterator[Word]:
    spans = iter([*found, None])
    span = next(spans)
    matches = list(_WORD.finditer(text))
    for at, match in enumerate(matches):
        while span is not None and span.end <= match.start():
            span = next(spans)
        if span is not None and span.start < match.end():
            continue
        after = matches[at + 1] if at + 1 < len(matches) else None
        word = _word(match[0], _role(text, match, after))
        if word is not None:
            yield replace(word, leads=True) if leads else word
            leads = False


@lru_cache(maxsize=20_000)  # texts share their words
def _word(text: str, role: Role) -> Word | None:
    lower = text.casefold().removesuffix("'s").removesuffix("’s")
    if role == "person" and _is_hangul(lower):
        return Word(lower, text, 1.0, names=True)
    if (called := _HONOURED.match(lower)) and not _is_known(called[1]):
        return Word(called[1], text, 1.0, names=True)
    if lower in FUNCTION_WORDS:
        return None
    base = korean_stem(lower) if _is_hangul(lower) else stem(lower)
    if _is_hangul(lower) and (titled := _TITLED.match(base)) and base not in tells_little():
        return Word(titled[1], text, 1.0, names=True)
    if base in tells_little() or lower in tells_little():
        return Word(senses().get(base, base), text, LITTLE)
    names = role != "" and base not in senses()
    return Word(senses().get(base, base), text, 1.0, names=names, base=base)


def _is_known(word: str) -> bool:
    """Whether a word is a common noun or a title, so that it names nobody."""
    return word in TITLES or word in tells_little() or word in senses()


def _role(text: str, match: re.Match[str], after: re.Match[str] | None) -> Role:
    """Return whether a word is in the position of a person's name or of a topic."""
    follows = after is not None and text[match.end() : after.start()] == " "
    next_word = after[0] if after is not None and follows else " "
    if _is_hangul(match[0]):
        is_person = _is_title(next_word) and korean_stem(match[0]) == match[0]
        return "person" if is_person else "topic" if _TOPIC.match(match[0]) else ""
    before = text[max(0, match.start() - 6) : match.start()]
    if _SALUTED.search(before):
        return "person"
    if not match[0][0].isupper():
        return ""
    begins = _SENTENCE.search(before) is not None
    return "" if begins and not next_word[0].isupper() else "topic"


def _is_title(word: str) -> bool:
    return _is_hangul(word) and korean_stem(word) in TITLES


def _is_hangul(text: str) -> bool:
    return "가" <= text[0] <= "힣"


Covered: TypeAlias = list[tuple[Word, float]]


def covered(one: Words, other: Words) -> Covered:
    """Return each word of `one` with the share of it found in `other`.

    A Korean word may occur inside a compound, or split in two (`배송비`, `배송 비용`): its share is
    the part whose syllable pairs occur in the other's words, if that is at least half and has the
    head of the word, or is a whole word (`월요일` and `수요일` share neither).
    """
    stems, bases, pairs = other.stems, other.bases, other.pairs
    return [
        (word, 1.0 if word.stem in stems else _in_part(own, base, bases, pairs) if own else 0.0)
        for word, base, own in one.parts
    ]


def _in_part(
    own: tuple[str, ...], base: str, bases: frozenset[str], pairs: frozenset[str]
) -> float:
    if pairs.isdisjoint(own):
        return 0.0
    if own[0] not in pairs and not any(base[at:] in bases for at in range(1, len(base) - 1)):
        return 0.0
    hits = [pair in pairs for pair in own]
    inside = sum(left or right for left, right in zip([False, *hits], [*hits, False], strict=True))
    share = inside / len(base)
    return share if share >= LEAST_COVERED else 0.0
