"""What a task is about: its words without those in which people ask for anything."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from core.knowledge.context.everyday import without_everyday
from core.knowledge.search.ranking import Corpus, Index, Weighing, weigh
from core.knowledge.search.spelling import synonyms
from core.knowledge.search.tokens import IN_SENTENCES, Question, read_question
from core.knowledge.search.vectors import KOREAN_SHARE, hangul_share

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
