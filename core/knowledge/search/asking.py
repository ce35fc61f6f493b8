"""From a query to what it asks of each document, in as few looks at the index as it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.knowledge.search.documents import name_term
from core.knowledge.search.ranking import Corpus, Weighing, weigh
from core.knowledge.search.spelling import guesses, keys, likely
from core.knowledge.search.tokens import read_question


class Index(Protocol):
    """What a query has to know of a tenant's index."""

    async def describe(self, terms: Sequence[str]) -> Corpus:
        """Give the corpus with the frequencies of these terms."""

    async def count(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Give the frequencies of further terms, of those that stand somewhere."""

    async def known(self, keys: Sequence[str]) -> set[str]:
        """Give which of these terms and marked words have ever stood somewhere."""


async def ask(text: str, index: Index, *, for_name: bool = True) -> Weighing | None:
    """Weigh a query against an index, or give None where it holds no words.

    What may be meant by words that stand nowhere is looked up only where there are such words.
    With `for_name`, what bears the query as its name comes before all else, and what holds too
    little of it is no hit.
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
