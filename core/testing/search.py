"""The `Search` port in memory: the same terms and the same ranking, over a dict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.errors import InvalidInput, NotFound
from core.models import Hit, Kind, SkillSummary
from core.ports import SkillStore
from core.search.documents import SearchDocument
from core.search.hits import make_hit
from core.search.ranking import MAX_QUERY_TERMS, Corpus, weigh
from core.search.skill_text import skill_search_document
from core.search.tokens import term_counts

_Key = tuple[str, Kind, str]


class MemorySearch:
    """Documents in memory; every refresh reads all of the skill store that can be read."""

    def __init__(self, skills: SkillStore | None = None) -> None:
        self._skills = skills
        self._documents: dict[_Key, SearchDocument] = {}
        self._counts: dict[_Key, Counter[str]] = {}

    def put(self, document: SearchDocument) -> None:
        """Put a document into the index, or in the place of what it held."""
        key = (document.tenant_id, document.kind, document.item_id)
        self._documents[key] = document
        self._counts[key] = term_counts(document.text)

    def drop(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        """Take a document out of the index; absent already is fine."""
        self._documents.pop((tenant_id, kind, item_id), None)

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        """Give the items most similar to `query`, best first."""
        asked = term_counts(query, limit=MAX_QUERY_TERMS)
        held = {key: doc for key, doc in self._documents.items() if key[0] == tenant_id}
        weighing = weigh(asked, self._corpus(list(held), asked))
        hits = [
            make_hit(
                kind=document.kind,
                item_id=document.item_id,
                name=document.name,
                agent_id=document.agent_id,
                content=document.content,
                score=weighing.score(self._counts[key], self._counts[key].total()),
                weights=weighing.weights,
            )
            for key, document in held.items()
            if kind in {None, document.kind}
            and (agent_id is None or document.agent_id in {None, agent_id})
        ]
        found = [hit for hit in hits if hit.score > 0]
        return sorted(found, key=lambda hit: -hit.score)[: max(0, limit)]

    async def refresh(self, tenant_id: str) -> None:
        """Bring the index up to what the skill store holds."""
        if self._skills is None:
            return
        held = {key for key in self._documents if key[:2] == (tenant_id, Kind.SKILL)}
        for key in held:
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

    def _corpus(self, keys: Sequence[_Key], terms: Counter[str]) -> Corpus:
        counts = [self._counts[key] for key in keys]
        frequencies = {term: sum(term in found for found in counts) for term in terms}
        return Corpus(
            documents=len(counts),
            mean_length=sum(found.total() for found in counts) / max(1, len(counts)),
            frequencies={term: number for term, number in frequencies.items() if number},
        )
