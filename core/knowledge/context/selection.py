"""What a task is about, and which of the items that match it matter for it, best first."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from core.domain.models import Kind
from core.domain.models.context import TaskMatch
from core.knowledge.search.names import stands_out
from core.knowledge.search.ranking import Corpus, Index, Weighing, weigh
from core.knowledge.search.spelling import synonyms
from core.knowledge.search.tokens import IN_SENTENCES, Question, read_question, stem, suffix_start
from core.knowledge.search.vectors import KOREAN_SHARE, hangul_share

# The commonest words of English that are of no trade, and of Korean the beginnings of such words.
# In a store of rules about work they are as rare as a term of the trade: one memory of thousands
# says "curious", and would fit each task that does.
_EVERYDAY_ENGLISH = (
    "about above across actually after afternoon again against ago ahead all allow almost"
    " alone along already also although always am among another any anybody anyone anything"
    " anyway around ask away back bad become before began begin behind believe below beside"
    " best better between beyond big bit both bring call came care certain choose clear close"
    " come coming complete consider correct curious cut dad day days decide different"
    " difficult doing done down due during each early easily easy either else end enough"
    " especially etc even evening ever every everybody everyone everything everywhere exactly"
    " example expect explain extra fact far fast feel felt few fill final finally find fine"
    " finish first five follow following four full further gave general get gets getting give"
    " given gives giving go goes going gone good got great guess half hand happen happened"
    " happy hard having head hear heard help here herself high himself hope hour however idea"
    " important include instead interesting itself just keep kind knew know known large last"
    " late later least leave left less let life like likely line little live long look looking"
    " lot low made main make makes making man many maybe mean means meant mention mind minute"
    " minutes missing moment more morning most move much mum must name near nearly necessary"
    " need needed needs never new next nice night none nothing number obvious off often oh ok"
    " okay old once one ones only open other others otherwise ought out outside over own part"
    " particular past people perhaps piece please possible pretty probably proper properly put"
    " quick quickly quite rather reach read ready real really reason reasonable receive recent"
    " right round said same saw say saying says second see seem seems seen send sent set"
    " several shall short show shown side simple simply since single sit six small somebody"
    " someone something sometimes somewhere soon sorry sort speak start started stay still"
    " straight strange strong such suddenly sure take taken taking tell ten than thanks thing"
    " things think thinking third those though thought three through time times together told"
    " tomorrow tonight too took top total toward town tried true try trying turn twice two"
    " understand unless until up upon use used useful using usual usually very via wait walk"
    " wants watch way ways weird well went whatever whenever whether while whole whose within"
    " without wonder word words world worry worth wrong yes yesterday yet young yourself"
)
_EVERYDAY_KOREAN = (
    "가는 가능 가다 가면 가서 간다 갑자기 갔 같 거기 거나 거의 것 게다가 겨우 결국 경우 계속"
    " 고르 고쳐 고치 골라 괜찮 궁금 그거 그걸 그게 그냥 그대로 그래 그러 그런 그럼 그렇 그리고"
    " 그만 근데 금방 기다 기억 까먹 깜빡 꼭 끝나 끝났 나오 나온 나와 나왔 남아 남은 내려 내일"
    " 너무 넘게 넣어 네요 놓 누가 누구 늦게 다가 다르 다른 다시 다음 달라 당장 대로 대충 대해"
    " 더 덜 도와 도움 동안 됐 되게 되는 되어 된다 두고 두번 둘 뒤 드려 드리 듣고 들어 들었"
    " 듯 따라 때문 또 똑같 마다 마세 마음 마지막 만들 만약 많 말고 말씀 말해 맞게 맞나 맞는"
    " 맞아 매번 맨날 먼저 몇 모두 모레 모르 몰라 못 무엇 무조건 무척 물어 뭐가 뭐라 미리 바로"
    " 받고 받아 받은 받을 방금 방법 벌써 별로 보고 보내 보낼 보냈 보니 보면 보이 보통 봐 봤"
    " 부분 부탁 빨리 사람 사실 사이 살짝 새로 생각 생겨 생겼 생기 생긴 시간 시작 시켜 싫 싶"
    " 써도 써서 쓰고 쓰는 아까 아는 아니 아마 아무 아예 아주 아직 아침 안녕 알고 알려 알아"
    " 알았 앞 애매 약간 어느 어디 어때 어떡 어떤 어떻 어제 언제 얼마 없나 없는 없어 없이 여기"
    " 여러 역시 열심 예전 오는 오늘 오래 오면 오전 오후 온다 온대 올려 올해 와서 완전 왔 왜"
    " 요새 요즘 우리 원래 원하 위해 이거 이걸 이것 이게 이대로 이따 이렇 이미 이번 이제 일단"
    " 읽고 있고 있나 있는 있다 있어 있을 자꾸 자주 잘 잠깐 재미 저녁 저번 저희 적당 전부 정도"
    " 정리 정말 정확 제가 제대로 조금 좀더 좋게 좋나 좋은 좋을 주고 주로 주면 주셨 줄까 중에"
    " 지금 지난 직접 진짜 짧게 쪽에 찾 처럼 처음 최대한 충분 크게 특히 하나 하는 하다 하라"
    " 하루 하면 하지 한국 한번 한테 할지 함께 항상 해도 해서 해야 했 헷갈 혹시 확실 확인 후에"
    " 힘들"
)
_WORDS = frozenset(_EVERYDAY_ENGLISH.split())
_BEGINNINGS = frozenset(_EVERYDAY_KOREAN.split())
_LONGEST = max(map(len, _BEGINNINGS))
# Of a task a number is what is asked about, not what it is about: a short one, or a time.
_PIECE = re.compile(
    r"(?P<number>(?<![\w.,:])\d{1,3}(?:[.:,]\d+)*(?![\d.:]))|(?<!\w)(?P<word>[A-Za-z]+)(?!\w)"
    r"|(?<!\w)(?P<korean>[가-힣]+)"
)
MOST_TERMS = 500  # distinct terms of a task that are looked up
_ENGLISH = (
    "please|kindly|can you|could you|would you|help me|i need|we need|i want|we want|let me know"
    "|tell me|give me|show me|send me|write me|make me|how do (?:i|we|you)|how can (?:i|we)"
    "|what (?:is|are|does|do|did|should|would|can|could)|what's|when (?:is|was|did|do|should)"
    "|who (?:is|was|did)|why (?:is|are|does|do)|draft|prepare|put together|write|explain|suggest"
    "|recommend|list|summari[sz]e|need|want|wants|asap|thanks|thank you|hi|hello|today|now|what"
)
# Endings of requests and questions, whole words only: with a particle they are words like others.
_KOREAN = (
    "알려 ?(?:줘|주세요|줄래|주실래요|달라고)?요?"
    "|(?:써|만들어|정리해|작성해|뽑아|골라|올려|짜|잡아|붙여|넣어|봐|해|고쳐|지어|추천해|설명해"
    "|요약해|나열해|준비해|검토해|보내|배정해|공유해|처리해)"
    " ?(?:줘|줘요|주세요|주십시오|줄래|줄래요|주실래요|달라고|드려)"
    "|부탁(?:드려요|드립니다|해요|합니다|해)?|좀|어떻게|어떤|무슨|무엇을?|뭐가|뭐라고|뭐|뭔지|왜"
    "|언제(?:야|까지)?|누가|누구|어디|방법|있을까요?|있나요?|있어요?|좋을까요?|되나요|될까요|돼요?"
    "|해야 ?(?:하나요|할까요|하죠|해요|함)|하죠|할까요?|인가요|가능한지|필요해요?|필요한지|싶다고"
    "|싶어요?|싶대요|합니다|하세요|하려고|한다고|했어요?|이에요|예요|이라는|라는|에 대해|지금|오늘"
)
_FRAME = re.compile(rf"\b(?:{_ENGLISH})\b|(?<!\w)(?:{_KOREAN})(?!\w)", re.IGNORECASE)

# What an item must share with a task, in words that one item alone has: the more items, the more
# share some by chance. Among fewer than these a word is as rare as it would be among so many:
# three items of five may be about refunds.
_FEW, _MANY = 10, 300
_ENOUGH_OF_FEW, _ENOUGH_OF_MANY = 0.8, 1.55
EVERYDAY = 0.5  # how much a word of everyday language tells
_OF_SPACED = 0.89  # of that where words are one term each: a Korean one is several, its pairs
_CHARS = 2_000  # of an item, what it is about stands at its beginning
_NAME = re.compile(r"[A-Z][A-Za-z]*[a-z][A-Za-z]*")  # not AWS or VAT, which are no names of anybody
_BEGINS = re.compile(r"[\n.!?:;•–—\-\"'“‘][\s\"'“‘(]*\Z")  # here each word has a capital
_BEFORE = 8  # characters that are looked at for that
# German has capitals too, on each noun: they are names where a text is English.
_IS_ENGLISH = re.compile(
    r"\b(?:the|of|to|and|for|with|is|are|from|not|when|only|by|at|on|no|any|every|we|our|you|they|them"
    r"|their|this|that|it|must|should|more|than)\b",
    re.IGNORECASE,
)
_DATES = (
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays"
    " fridays saturdays sundays january february march april may june july august september october"
    " november december english korean mr mrs ms dr"
)
_FIRM = "상사|물산|전자|산업|테크|유통|식품|건설|제약|물류|출판|정밀|화학|섬유|통신|은행|병원"
_PLACE = "지점|매장|공장|지사|영업소|대리점|사업소|캠퍼스"
_SURNAMES = (
    "김이박최정강조윤장임한오서신권황안송류전홍유고문양손배백허남심"
    "노하곽성차주우구민진지엄채원천방공현함변"
)
_PARTICLES = "은는이가을를에께의과와만도한으로"
_NAMED_IN_KOREAN = re.compile(
    rf"(?<![가-힣])(?P<firm>[가-힣]{{2,8}}(?:{_FIRM}))(?![가-힣]{{3}})"
    rf"|(?<![가-힣])(?P<place>[가-힣]{{2,4}}) (?:{_PLACE})"
    rf"|(?<![가-힣])(?P<person>[{_SURNAMES}][가-힣]{{1,2}}) ?(?:님|씨)(?=[{_PARTICLES}]|[^가-힣]|$)"
)
# Before such words stand descriptions too.
_DESCRIBE = (
    "모든 각 우리 해당 어느 다른 신규 기존 상대 전체 일부 가까운 같은 본사 자사 타사 국내 해외"
    " 직영 이사 지점장 이사장 조합장 주주 원장 구매자 신청자 지원자 주임 조교 전무 상무"
    " 고객 손님 선생 기사"
)
_NO_NAMES = frozenset([*_DATES.split(), *_DESCRIBE.split()])
# All figures here were set by `python -m tests.evals context` over sets of three hands, and none of
# them is a peak: a third more or less of a weight changes what is found by two hundredths, and a
# twentieth more or less of what is enough by as much.
SHOWN = {Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL}  # kinds of packages have no place in a block
# What breaks the silence: words that are no chance (1.0) in an item about as near as any, fewer in
# one that is nearer: a task of few words shares few, one of many shares some by chance. A meaning
# that is very close does so alone. A logistic regression over all features here and six more (the
# twentieth nearest, the tenth best, BM25 against the second, …) told the sets no better.
ENOUGH = 1.0
_USUAL = 0.25  # how near an item is that no model was asked about, too
_NEARNESS_WORTH = 1.0
ENOUGH_MEANING = 0.6
_OF_OTHERS = 0.6  # as much less tells what is about others
# What people ask anybody ("a poem about receipts") has words of items and needs none: the nearer a
# task is to that, the more must tell. Tasks of work lie at 0.25 in Korean and 0.32 in English, of
# which models put all texts nearer to each other; there a word that tells is one term, too, where a
# Korean one is several.
_SMALL_TALK, _SMALL_TALK_WORTH = 0.35, 1.5
_NOT_KOREAN = 0.2
# The order: words by what they weigh, up to one and a half times enough, and by BM25 against the
# best, and nearness in meaning. What is about others comes later.
_MOST_MATCHED = 1.5
_PART_MATCHED = 0.7
_NEARNESS_RANKS = 4.0
_OTHERS_RANK = 0.6
# Tables and skills go first, so many of them: they are few, and a memory or two long.
TABLES_AND_SKILLS = ((Kind.DMN_RULE, 5), (Kind.SKILL, 6))
_WORD = re.compile(r"[^\W_]+")


def without_everyday(text: str) -> str:
    """Return a text (in NFC) without its words of everyday language and its short numbers."""
    return _PIECE.sub(lambda piece: " " if _is_everyday(piece) else piece[0], text)


def _is_everyday(piece: re.Match[str]) -> bool:
    if piece["korean"]:
        return any(piece[0][:length] in _BEGINNINGS for length in range(1, _LONGEST + 1))
    return bool(piece["number"]) or piece[0].lower() in _WORDS


class TaskWords(NamedTuple):
    """A task's words weighed; `enough` is what they weigh in an item that has them by no chance."""

    weighing: Weighing
    enough: float


def topic_of(task: str) -> str:
    """Return a task (in NFC) without the words that only say that something is asked for.

    A task of nothing else is returned as it is.
    """
    task = unicodedata.normalize("NFC", task)
    topic = _FRAME.sub(" ", task)
    return topic if read_question(topic, limit=1).counts else task


def question_of(topic: str) -> Question:
    """Return the terms of a topic; those of everyday words alone count for little."""
    question = read_question(topic, limit=MOST_TERMS)
    telling = read_question(without_everyday(topic), limit=MOST_TERMS).counts
    worth = {term: 1.0 if term in telling else EVERYDAY for term in question.counts}
    floors = {term: value * worth.get(term, 1.0) for term, value in question.floors.items()}
    return replace(question, floors=floors)


async def ask_task(task: str, index: Index) -> TaskWords | None:
    """Weigh the words of a task against an index, in one look; None if it has no words.

    No word is corrected: a task has many that are in no item.
    """
    (words,) = await ask_tasks([task], index)
    return words


async def ask_tasks(tasks: Sequence[str], index: Index) -> list[TaskWords | None]:
    """Weigh the words of tasks as `ask_task` does, in one look for all."""
    look = _read if len(tasks) == 1 else _read_again
    read = [look(task) for task in tasks]
    terms = dict.fromkeys(term for one in read for term in one.terms)
    if not terms:
        return [None] * len(tasks)
    corpus = await index.describe([*terms, IN_SENTENCES])
    return [_task_words(one, corpus) if one.question.counts else None for one in read]


def looked_up(task: str) -> frozenset[str]:
    """Return all terms of which the index is asked for a task."""
    return frozenset((*_read_again(task).terms, IN_SENTENCES))


class _Read(NamedTuple):
    """A task as it is looked up; a part of its words as the language of its words asks for."""

    question: Question
    alike: Mapping[str, tuple[str, float]]
    part: float

    @property
    def terms(self) -> list[str]:
        return [*self.question.counts, *self.alike]


def _read(task: str) -> _Read:
    question = question_of(topic_of(task))
    part = 1.0 if hangul_share(task) >= KOREAN_SHARE else _OF_SPACED
    return _Read(question, synonyms(question), part)


_read_again = lru_cache(maxsize=1_000)(_read)  # the requests of cases come with many changes


def _task_words(read: _Read, corpus: Corpus) -> TaskWords:
    there = corpus.documents
    corpus = replace(corpus, documents=max(there, _MANY))
    known = {
        term: (factor, max(corpus.frequencies[term], corpus.frequencies.get(own, 0)))
        for term, (own, factor) in read.alike.items()
        if term in corpus.frequencies
    }
    weighing = weigh(read.question, corpus, alike=known, has_floor=False)
    return TaskWords(weighing, read.part * corpus.idf_of(1) * unique_words(there))


def unique_words(documents: int) -> float:
    """Return how many words of one item alone are no chance among so many items."""
    part = math.log(max(documents, _FEW) / _FEW) / math.log(_MANY / _FEW)
    return _ENOUGH_OF_FEW + (_ENOUGH_OF_MANY - _ENOUGH_OF_FEW) * min(1.0, part)


def is_of_others(one: TaskMatch, task: str) -> bool:
    """Whether an item is about somebody or some place by name, and the task names none of them."""
    return names_others(one.name if one.kind is Kind.DMN_RULE else one.content, task)


def names_others(text: str, task: str) -> bool:
    """Whether a text has names, and the task none of them."""
    names = _names(text[:_CHARS])
    said = task.casefold()
    return bool(names) and not any(name in said for name in names)


@lru_cache(maxsize=4_096)
def _names(text: str) -> frozenset[str]:
    return frozenset([*_english(text), *_korean(text)])


def _english(text: str) -> Iterator[str]:
    if not _IS_ENGLISH.search(text):
        return
    for word in _NAME.finditer(text):
        name = word[0].casefold()
        before = text[max(0, word.start() - _BEFORE) : word.start()]
        if before.strip() and name not in _NO_NAMES and not _BEGINS.search(before):
            yield name


def _korean(text: str) -> Iterator[str]:
    for found in _NAMED_IN_KOREAN.finditer(text):
        name = found["firm"] or found["place"] or found["person"]
        if name not in _NO_NAMES:
            yield name


def select(task: str, found: Sequence[TaskMatch]) -> list[TaskMatch]:
    """Return what matters for a task, best first, in an order that depends on nothing else."""
    seen = _seen(task, [one for one in found if one.kind in SHOWN])
    named = [one.match for one in seen if is_named(task, one.match.kind, one.match.name)]
    enough = _enough(task, found)
    if not named and not any(_tells(one, enough) for one in seen):
        return []
    known = {(one.kind, one.id): one for one in [*named, *_in_order(seen)]}
    return [*known.values()]


class _Seen(NamedTuple):
    """A match as it is judged: how near it is, and whether it is about others."""

    match: TaskMatch
    near: float
    is_of_others: bool


def _seen(task: str, found: Sequence[TaskMatch]) -> list[_Seen]:
    """Judge what was found by words alone as far as the last of its kind found by meaning."""
    last: dict[Kind, float] = {}
    for one in found:
        if one.closeness is not None:
            last[one.kind] = min(one.closeness, last.get(one.kind, 1.0))
    return [
        _Seen(
            one,
            last.get(one.kind, _USUAL) if one.closeness is None else one.closeness,
            is_of_others(one, task),
        )
        for one in found
    ]


def _enough(task: str, found: Sequence[TaskMatch]) -> float:
    """Return what an item must tell of a task: more of what people ask anybody."""
    small_talk = next((one.small_talk for one in found), None)
    if small_talk is None:
        return ENOUGH
    not_korean = _NOT_KOREAN if hangul_share(task) < KOREAN_SHARE else 0.0
    return ENOUGH + _SMALL_TALK_WORTH * (small_talk - _SMALL_TALK) - not_korean


def _tells(one: _Seen, enough: float) -> bool:
    """Whether an item alone shows that something is known of what a task is about."""
    if one.match.closeness is not None and one.match.closeness >= ENOUGH_MEANING:
        return True
    beside = _NEARNESS_WORTH * (one.near - _USUAL) - _OF_OTHERS * one.is_of_others
    return one.match.matched + beside >= enough


def is_named(task: str, kind: Kind, name: str) -> bool:
    """Whether a task names a table or a skill, or has all words of a name of several."""
    if kind is Kind.MEMORY:
        return False
    words = _WORD.findall(name)
    if len(words) > 1 and all(_has(task, word) for word in words):
        return True
    return stands_out(name, task)


def _has(task: str, word: str) -> bool:
    """Whether a word is in a task by its stem; a Korean one also inside another."""
    if word.isascii():
        return stem(word) in _stems(task)
    return word[: suffix_start(word)] in task


@lru_cache(maxsize=32)
def _stems(task: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(task))


def _in_order(seen: Sequence[_Seen]) -> Iterator[TaskMatch]:
    """Yield tables and skills, then memories, the best of each first."""
    best: dict[Kind, float] = {}
    for one in seen:
        best[one.match.kind] = max(one.match.score, best.get(one.match.kind, 0.0))

    def rank(one: _Seen) -> tuple[float, Kind, str]:
        matched = min(one.match.matched, _MOST_MATCHED) / _MOST_MATCHED
        score = one.match.score / (best[one.match.kind] or 1.0)
        worded = _PART_MATCHED * matched + (1 - _PART_MATCHED) * score
        others = _OTHERS_RANK * one.is_of_others
        worth = worded + _NEARNESS_RANKS * one.near - others
        return -worth, one.match.kind, one.match.id

    told = [one for one in seen if one.match.matched > 0 or one.match.closeness is not None]
    ranked = [one.match for one in sorted(told, key=rank)]
    for kind, most in TABLES_AND_SKILLS:
        yield from [one for one in ranked if one.kind is kind][:most]
    yield from (one for one in ranked if one.kind is Kind.MEMORY)
