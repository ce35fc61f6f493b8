"""A retriever of what an agent remembers."""

from __future__ import annotations

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from skill_worker_client.client import SkillWorker
from skill_worker_client.models import Memories, Memory


class KnowledgeRetriever(BaseRetriever):
    """Return memories as documents, best first; `limit` is 1 to 50.

    The metadata of a document are its `version`, `score` and `taught_at`. Raises SkillWorkerError.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    worker: SkillWorker
    limit: int = 5
    user: str | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        return _documents(self.worker.search_memories(query, limit=self.limit, user=self.user))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        found = await self.worker.asearch_memories(query, limit=self.limit, user=self.user)
        return _documents(found)


def _documents(found: Memories) -> list[Document]:
    return [_document(one) for one in found.items]


def _document(memory: Memory) -> Document:
    taught_at = memory.taught_at.isoformat() if memory.taught_at else None
    facts = {"version": memory.version, "score": memory.score, "taught_at": taught_at}
    return Document(page_content=memory.content, metadata=facts, id=memory.id)
