"""Turn a query into weights for its terms, with as few index lookups as possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.knowledge.search.documents import name_term
from core.knowledge.search.question import read_question
from core.knowledge.search.ranking import Corpus, Weighing, weigh
from core.knowledge.search.spelling import guesses, keys, likely


class Index(Protocol):
    """The statistics of a tenant's index that a query needs."""

    async def describe(self, terms: Sequence[str]) -> Corpus:
        """Return the corpus with the frequencies of these terms."""

    async def count(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Return the frequencies of further terms that occur."""

    async def known(self, keys: Sequence[str]) -> set[str]:
        """Return which of these terms and marked words have ever occurred."""


async def ask(text: str, index: Index, *, for_name: bool = True) -> Weighing | None:
    """Weigh a query against an index; None if it has no words.

    Spelling corrections are looked up only for words that occur nowhere. With `for_name`, items
    named like the query come first, and items that match too little of it are no hits.
    """
    question = read_question(text)
    if not question.counts:
        return None
    name = name_term(text) if for_name else ""
    corpus = await index.describe([*question.counts, *filter(None, [name])])
    found = guesses(question, corpus.frequencies.__contains__) if corpus.documents else {}
    terms = likely(found, await index.known(keys(found))) if found else {}
    counted = await index.count(list(terms)) if terms else {}
    meant = {term: (terms[term], number) for term, number in counted.items()}
    return weigh(question.counts, corpus, question.factors, meant, name, has_floor=for_name)
