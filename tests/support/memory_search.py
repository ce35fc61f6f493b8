"""The `Search` port in memory: the real terms and ranking, over a dict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain.errors import InvalidInput, NotFound
from core.domain.models import Hit, Kind, KnownText, Nearby, SkillSummary
from core.domain.ports import SkillStore
from core.knowledge.search.documents import (
    IndexTerms,
    SearchDocument,
    index_terms,
    skill_search_document,
)
from core.knowledge.search.hits import SCANNED_CHARS, make_hit
from core.knowledge.search.ranking import Corpus, Weighing, ask, shown

_Key = tuple[str, Kind, str]


class MemorySearch:
    """Documents in memory; every refresh reads the whole skill store, as far as readable."""

    def __init__(self, skills: SkillStore | None = None) -> None:
        self._skills = skills
        self._documents: dict[_Key, SearchDocument] = {}
        self._terms: dict[_Key, IndexTerms] = {}
        self._put_count = 0

    def put(self, document: SearchDocument) -> None:
        """Add or replace a document in the index."""
        key = (document.tenant_id, document.kind, document.item_id)
        self._documents[key] = document
        self._put_count += 1
        self._terms[key] = index_terms(document)

    def drop(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        """Remove a document from the index, if present."""
        self._documents.pop((tenant_id, kind, item_id), None)
        self._terms.pop((tenant_id, kind, item_id), None)

    async def search(
        self,
        query: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind | None,
        limit: int,
        user: str | None = None,
    ) -> Sequence[Hit]:
        weighing = await self._weighing(query, tenant_id, for_name=True)
        ranked = self._ranked(weighing, tenant_id, agent_id, kind, floor=True)
        return [
            make_hit(
                kind=document.kind,
                item_id=document.item_id,
                name=document.name,
                agent_id=document.agent_id,
                content=document.content,
                files=document.files,
                score=score,
                weights=shown(weighing.weights),
                names=weighing.named,
            )
            for score, document in ranked[: max(0, limit)]
            if weighing is not None
        ]

    async def near(
        self,
        text: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind,
        limit: int,
        user: str | None = None,
    ) -> Nearby:
        ranked = self._ranked(
            await self._weighing(text, tenant_id, for_name=False), tenant_id, agent_id, kind
        )
        items = tuple(
            KnownText(
                id=document.item_id,
                kind=kind,
                name=document.name,
                agent_id=document.agent_id,
                content=document.content[:SCANNED_CHARS],
                score=score,
            )
            for score, document in ranked[: max(0, limit)]
        )
        return Nearby(items=items, seen=self._put_count)

    async def _weighing(self, query: str, tenant_id: str, *, for_name: bool) -> Weighing | None:
        own = [terms for key, terms in self._terms.items() if key[0] == tenant_id]
        return await ask(query, _Index(own), for_name=for_name)

    def _ranked(
        self,
        weighing: Weighing | None,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind | None,
        *,
        floor: bool = False,
    ) -> list[tuple[float, SearchDocument]]:
        if weighing is None:
            return []
        scored = [
            (weighing.bm25(self._terms[key].shapes), document)
            for key, document in self._documents.items()
            if key[0] == tenant_id
            and kind in {None, document.kind}
            and (agent_id is None or document.agent_id in {None, agent_id})
            and (not floor or weighing.is_hit(self._terms[key].shapes))
        ]
        ranked = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
        return [(weighing.normalised(bm25), document) for bm25, document in ranked]

    async def refresh(self, tenant_id: str) -> None:
        if self._skills is None:
            return
        skills = {key for key in self._documents if key[:2] == (tenant_id, Kind.SKILL)}
        for key in skills:
            self.drop(*key)
        for summary in await self._skills.list(tenant_id):
            await self._put_skill(self._skills, summary, tenant_id)

    async def _put_skill(self, skills: SkillStore, summary: SkillSummary, tenant_id: str) -> None:
        try:
            bundle = await skills.read(summary.name, tenant_id)
        except (InvalidInput, NotFound):
            return
        if bundle is not None:
            self.put(skill_search_document(bundle, summary, tenant_id))


class _Index:
    def __init__(self, documents: Sequence[IndexTerms]) -> None:
        self._documents = documents

    async def describe(self, terms: Sequence[str], rough: Sequence[str] = ()) -> Corpus:
        mean = sum(found.length for found in self._documents) / max(1, len(self._documents))
        frequencies = await self.count([*terms, *rough])
        return Corpus(len(self._documents), frequencies, max(1.0, mean))

    async def count(self, terms: Sequence[str]) -> Mapping[str, int]:
        counted = {
            term: sum(term in found.counts or term in found.names for found in self._documents)
            for term in terms
        }
        return {term: number for term, number in counted.items() if number}

    async def known(self, keys: Sequence[str]) -> set[str]:
        return {key for key in keys if any(key in found.counts for found in self._documents)}
