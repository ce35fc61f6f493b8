"""Tools with which a model recalls, decides, opens skills and reports how it went."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from langchain.tools import ToolRuntime
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, JsonValue

from skill_worker_client.client import SkillWorker
from skill_worker_client.errors import CallRefused, SkillWorkerError
from skill_worker_client.models import Decision, Memories, SkillFile, UsedItem

A = TypeVar("A", bound=BaseModel)
REFERENCE = "reference"  # where the state of an agent has what it was shown
Items = list[tuple[str, int | None]]  # ids and versions
# Who the agent works for: by name, or from the state and the context of a run.
EndUser = str | Callable[[Mapping[str, Any], Any], str | None] | None
Told = tuple[str, Items]  # what the model reads, and what was used for it


def knowledge_tools(worker: SkillWorker, *, user: EndUser = None) -> list[BaseTool]:
    """Return the tools of an agent, under the names that they have over MCP too.

    What a call was refused for is answered to the model, so that it can mend it; a worker that does
    not answer is told to it as such. What a tool used is the artifact of its message: ids and
    versions.
    """
    tools = _Tools(worker, user)
    return [
        _tool(tools.search, tools.asearch, "search_memories", _SEARCH),
        _tool(tools.decide, tools.adecide, "evaluate_decision", _DECIDE),
        _tool(tools.load, tools.aload, "load_skill", _LOAD),
        _tool(tools.report, tools.areport, "report_outcome", _REPORT),
    ]


def user_of(user: EndUser, state: Mapping[str, Any], context: Any) -> str | None:
    """Return the end user of a run."""
    return user(state, context) if callable(user) else user


def used_in(state: Mapping[str, Any]) -> list[UsedItem]:
    """Return what was shown and used since the user spoke last."""
    shown = state.get(REFERENCE) or {}
    items: dict[str, int | None] = dict(shown.get("items", ()))
    for message in _of_turn(state.get("messages") or ()):
        if isinstance(message, ToolMessage) and isinstance(message.artifact, list):
            items |= dict(message.artifact)
    return [UsedItem(id=item_id, version=version) for item_id, version in items.items()]


def _of_turn(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    said = [place for place, one in enumerate(messages) if isinstance(one, HumanMessage)]
    return messages[said[-1] :] if said else messages


_SEARCH = "Search what was learnt before: facts, preferences and guidelines. Returns the best ones."
_DECIDE = (
    "Decide a case by a decision table named in the reference. `inputs` has a JSON value for each"
    " input column; what is missing is named."
)
_LOAD = "Open a skill named in the reference: its SKILL.md, or the file at `path`."
_REPORT = "Say at the end whether the task was done with what the reference gave, and why if not."


class _Tools:
    def __init__(self, worker: SkillWorker, user: EndUser) -> None:
        self._worker, self._user = worker, user

    def search(self, query: str, runtime: ToolRuntime, limit: int = 5) -> Told:
        user = user_of(self._user, runtime.state, runtime.context)
        return _said(lambda: self._worker.search_memories(query, limit=limit, user=user), _found)

    async def asearch(self, query: str, runtime: ToolRuntime, limit: int = 5) -> Told:
        user = user_of(self._user, runtime.state, runtime.context)
        call = self._worker.asearch_memories(query, limit=limit, user=user)
        return await _asaid(call, _found)

    def decide(self, name: str, inputs: dict[str, Any]) -> Told:
        return _said(lambda: self._worker.evaluate_decision(name, inputs), _decided)

    async def adecide(self, name: str, inputs: dict[str, Any]) -> Told:
        return await _asaid(self._worker.aevaluate_decision(name, inputs), _decided)

    def load(self, name: str, path: str | None = None) -> Told:
        return _said(lambda: self._worker.load_skill(name, path), _loaded)

    async def aload(self, name: str, path: str | None = None) -> Told:
        return await _asaid(self._worker.aload_skill(name, path), _loaded)

    def report(self, success: bool, runtime: ToolRuntime, note: str | None = None) -> Told:
        used = used_in(runtime.state)
        return _said(lambda: self._worker.report_outcome(used, success, note), _taken)

    async def areport(self, success: bool, runtime: ToolRuntime, note: str | None = None) -> Told:
        used = used_in(runtime.state)
        return await _asaid(self._worker.areport_outcome(used, success, note), _taken)


def _found(memories: Memories) -> Told:
    listed: list[JsonValue] = [{"id": one.id, "memory": one.content} for one in memories.items]
    return _json({"memories": listed}), [(one.id, one.version) for one in memories.items]


def _decided(decision: Decision) -> Told:
    shown = {"output", "matched", "missing", "defaulted", "notes"}
    used: Items = [] if decision.missing else [(decision.id, decision.version)]
    return _json(decision.model_dump(mode="json", include=shown)), used


def _loaded(file: SkillFile) -> Told:
    others: list[JsonValue] = [one.path for one in file.files if one.path != file.path]
    content = file.text if file.text is not None else f"(binary, {len(file.data)} bytes)"
    told = _json({"path": file.path, "content": content, "other_files": others})
    return told, [(file.id, file.version)]


def _taken(taken: BaseModel) -> Told:
    return _json(taken.model_dump(mode="json")), []


def _said(ask: Callable[[], A], tell: Callable[[A], Told]) -> Told:
    try:
        return tell(ask())
    except SkillWorkerError as error:
        return _failure(error)


async def _asaid(asked: Awaitable[A], tell: Callable[[A], Told]) -> Told:
    try:
        return tell(await asked)
    except SkillWorkerError as error:
        return _failure(error)


def _failure(error: SkillWorkerError) -> Told:
    if isinstance(error, CallRefused):
        return _json({"error": str(error)}), []
    return _json({"error": f"not available now, go on without it: {error.message}"}), []


def _json(value: Mapping[str, JsonValue]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _tool(
    at_once: Callable[..., Told], later: Callable[..., Awaitable[Told]], name: str, description: str
) -> BaseTool:
    return StructuredTool.from_function(
        at_once,
        later,
        name=name,
        description=description,
        response_format="content_and_artifact",
    )
