"""Middleware for `create_agent`: an agent recalls before it answers, and says what came of it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from skill_worker_client.client import SkillWorker
from skill_worker_client.errors import SkillWorkerError
from skill_worker_client.langchain.tools import EndUser, Items, knowledge_tools, used_in, user_of
from skill_worker_client.models import Context

log = logging.getLogger(__name__)
_MOST_TASK = 4_000  # characters; the worker searches for no more


class Shown(TypedDict):
    """The reference of a turn, and the ids and versions of what is in it."""

    text: str
    items: Items


class KnowledgeState(AgentState[Any]):
    """The state of an agent with its reference, which leaves with the turn."""

    reference: NotRequired[Annotated[Shown | None, PrivateStateAttr]]


class KnowledgeMiddleware(AgentMiddleware[KnowledgeState, Any, Any]):
    """Recall before an answer, decide by tables, open skills when needed, report the outcome.

    On a turn of the user the worker is asked once what matters for what was said. It stands at the
    end of the system message, in a block that says it is reference and no instruction, for that
    turn alone: no message of the conversation is changed or added. The tools of `knowledge_tools`
    are the agent's too.

    Without the worker an agent goes on without the reference, which is logged; with `required` the
    turn fails.
    """

    state_schema = KnowledgeState

    def __init__(
        self,
        worker: SkillWorker,
        *,
        user: EndUser = None,
        budget_tokens: int = 1_500,
        judge: Callable[[KnowledgeState], bool | None] | None = None,
        required: bool = False,
    ) -> None:
        """Take the client of the agent; `user` is the end user, or says who it is in a run.

        With `judge` the outcome is reported when a turn ends, as it says: None reports nothing.
        Without it the model reports by its tool.
        """
        super().__init__()
        self._worker, self._budget, self._user = worker, budget_tokens, user
        self._judge, self._required = judge, required
        tools = knowledge_tools(worker, user=user)
        self.tools = [one for one in tools if judge is None or one.name != "report_outcome"]

    def before_agent(self, state: KnowledgeState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Ask what matters for what the user said."""
        task = _task(state)
        found = None
        if task is not None:
            try:
                found = self._worker.context(
                    task,
                    budget_tokens=self._budget,
                    user=user_of(self._user, state, runtime.context),
                )
            except SkillWorkerError as error:
                self._go_on(error)
        return {"reference": _shown(found)}

    async def abefore_agent(
        self, state: KnowledgeState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Ask what matters for what the user said."""
        task = _task(state)
        found = None
        if task is not None:
            try:
                found = await self._worker.acontext(
                    task,
                    budget_tokens=self._budget,
                    user=user_of(self._user, state, runtime.context),
                )
            except SkillWorkerError as error:
                self._go_on(error)
        return {"reference": _shown(found)}

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | AIMessage:
        """Let the model see the reference of this turn."""
        return handler(self._with_reference(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Let the model see the reference of this turn."""
        return await handler(self._with_reference(request))

    def after_agent(self, state: KnowledgeState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Report how the turn ended, if there is somebody to judge it."""
        del runtime
        success, used = self._judged(state), used_in(state)
        if success is not None:
            try:
                self._worker.report_outcome(used, success)
            except SkillWorkerError as error:
                self._go_on(error)
        return {"reference": None}

    async def aafter_agent(
        self, state: KnowledgeState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Report how the turn ended, if there is somebody to judge it."""
        del runtime
        success, used = self._judged(state), used_in(state)
        if success is not None:
            try:
                await self._worker.areport_outcome(used, success)
            except SkillWorkerError as error:
                self._go_on(error)
        return {"reference": None}

    def _with_reference(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        shown = cast("Shown | None", request.state.get("reference"))
        if not shown:
            return request
        before = f"{request.system_message.text}\n\n" if request.system_message else ""
        return request.override(system_message=SystemMessage(before + shown["text"]))

    def _judged(self, state: KnowledgeState) -> bool | None:
        return self._judge(state) if self._judge is not None else None

    def _go_on(self, error: SkillWorkerError) -> None:
        if self._required:
            raise error
        log.warning("going on without what was learnt: %s", error)


def _task(state: KnowledgeState) -> str | None:
    """Return what the user said last; None where it is not the user's turn."""
    messages = state.get("messages") or []
    if not messages or not isinstance(messages[-1], HumanMessage):
        return None
    said = messages[-1].text.strip()
    return said[:_MOST_TASK] or None


def _shown(found: Context | None) -> Shown | None:
    if found is None or not found.text:
        return None
    return Shown(text=found.text, items=[(one.id, one.version) for one in found.items])
