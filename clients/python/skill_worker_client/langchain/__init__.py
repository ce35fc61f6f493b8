"""For LangChain and LangGraph (extra `langchain`): middleware, tools, a retriever and a store."""

from skill_worker_client.langchain.middleware import KnowledgeMiddleware
from skill_worker_client.langchain.retriever import KnowledgeRetriever
from skill_worker_client.langchain.store import KnowledgeStore
from skill_worker_client.langchain.tools import knowledge_tools

__all__ = ["KnowledgeMiddleware", "KnowledgeRetriever", "KnowledgeStore", "knowledge_tools"]
