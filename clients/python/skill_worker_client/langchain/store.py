"""LangGraph's long-term store over what an agent remembers: searched there, taught by feedback."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from skill_worker_client.client import SkillWorker
from skill_worker_client.models import Memories, Memory

NAMESPACE = ("memories",)
_BEGINNING = datetime.fromtimestamp(0, UTC)
_MOST = 50


class KnowledgeStore(BaseStore):
    """Search memories with `search(("memories",), query=...)`; ("memories", USER) adds a user's.

    An item's value has `content`, `version` and `taught_at`. `put` hands its `content` in as
    feedback: the worker decides what is learnt from it, under a key of its own, so it is not read
    back under the one it was put with. `get` and `delete` raise NotImplementedError: what was
    learnt is taken back by retracting what taught it.
    """

    __slots__ = ("_worker",)

    def __init__(self, worker: SkillWorker) -> None:
        """Take the client of the agent."""
        self._worker = worker

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in their order."""
        return [self._one(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in their order."""
        return [await self._aone(op) for op in ops]

    def _one(self, op: Op) -> Result:
        if isinstance(op, SearchOp) and op.query:
            wanted, user = _wanted(op), _user(op.namespace_prefix)
            return _items(op, self._worker.search_memories(op.query, limit=wanted, user=user))
        if isinstance(op, PutOp) and op.value is not None:
            self._worker.give_feedback(_content(op))
            return None
        return _without_asking(op)

    async def _aone(self, op: Op) -> Result:
        if isinstance(op, SearchOp) and op.query:
            wanted, user = _wanted(op), _user(op.namespace_prefix)
            found = await self._worker.asearch_memories(op.query, limit=wanted, user=user)
            return _items(op, found)
        if isinstance(op, PutOp) and op.value is not None:
            await self._worker.agive_feedback(_content(op))
            return None
        return _without_asking(op)


def _without_asking(op: Op) -> Result:
    if isinstance(op, ListNamespacesOp):
        listed: list[tuple[str, ...]] = [NAMESPACE]
        return listed
    if isinstance(op, SearchOp):
        return []  # nothing is listed, as there is nothing that it would be near to
    if isinstance(op, GetOp):
        raise NotImplementedError("memories are found by what they say: search(..., query=...)")
    raise NotImplementedError("what was learnt is taken back by retracting what taught it")


def _wanted(op: SearchOp) -> int:
    if op.filter:
        raise NotImplementedError("memories have no fields to filter by")
    return max(1, min(op.limit + op.offset, _MOST))


def _user(namespace: Sequence[str]) -> str | None:
    """Return the end user of a namespace. Raises ValueError on one that is not of memories."""
    if tuple(namespace[:1]) not in {(), NAMESPACE} or len(namespace) > len(NAMESPACE) + 1:
        raise ValueError(f"{namespace!r} is not ('memories',) or ('memories', USER)")
    return namespace[1] if len(namespace) > 1 else None


def _content(op: PutOp) -> str:
    """Return what is said to be learnt. Raises ValueError."""
    _user(op.namespace)
    content = (op.value or {}).get("content")
    if not isinstance(content, str) or not content.strip():
        raise ValueError("a value has `content`: what is to be learnt, in words")
    return content


def _items(op: SearchOp, found: Memories) -> list[SearchItem]:
    user = _user(op.namespace_prefix)
    namespace = (*NAMESPACE, user) if user else NAMESPACE
    return [_item(one, namespace) for one in found.items[op.offset :]]


def _item(memory: Memory, namespace: tuple[str, ...]) -> SearchItem:
    at = memory.taught_at or _BEGINNING
    value: dict[str, Any] = {
        "content": memory.content,
        "version": memory.version,
        "taught_at": memory.taught_at.isoformat() if memory.taught_at else None,
    }
    return SearchItem(namespace, memory.id, value, at, at, memory.score)
