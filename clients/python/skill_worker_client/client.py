"""The client: each call once at once, and once to be awaited (its name begins with an `a`)."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeVar

import httpx
from pydantic import BaseModel, JsonValue

from skill_worker_client.calls import (
    Call,
    Caller,
    pause,
    read,
    seconds_to_wait,
    sendable,
    unanswered,
)
from skill_worker_client.models import (
    Context,
    Decision,
    Memories,
    OutcomeTaken,
    SkillFile,
    TakenFeedback,
    UsedItem,
)

A = TypeVar("A", bound=BaseModel)
ATTEMPTS = 5


class SkillWorker:
    """What one agent uses of what it learnt.

    A call that cannot be sent, or is told to come again soon, is sent up to five times. Every
    method raises SkillWorkerError: Unreachable, CallFailed, or CallRefused with NotAllowed and
    Unknown below it.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        agent: str | None = None,
        tenant_id: str | None = None,
        timeout: float = 10.0,
        language: str | None = None,
    ) -> None:
        """Take the worker's address and a token; an agent's own token need not name the agent.

        `timeout` is in seconds; `language` (as "ko") is what errors are told in. Raises ValueError
        for a token that no worker can have given.
        """
        headers = {"Authorization": f"Bearer {sendable(token)}"}
        if language is not None:
            headers["Accept-Language"] = language
        self._caller = Caller(agent, tenant_id)
        self._now = httpx.Client(base_url=url, headers=headers, timeout=timeout)
        # One for each event loop: its connections belong to the loop that opened them.
        self._open: Callable[[], httpx.AsyncClient] = lambda: httpx.AsyncClient(
            base_url=url, headers=headers, timeout=timeout
        )
        self._later: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    @classmethod
    def from_env(cls, *, agent: str | None = None) -> Self:
        """Return a client of SKILL_WORKER_URL and SKILL_WORKER_TOKEN. Raises KeyError."""
        url, token = os.environ["SKILL_WORKER_URL"], os.environ["SKILL_WORKER_TOKEN"]
        named = agent or os.environ.get("SKILL_WORKER_AGENT")
        return cls(url, token, agent=named, tenant_id=os.environ.get("SKILL_WORKER_TENANT"))

    def context(self, task: str, *, budget_tokens: int = 1_500, user: str | None = None) -> Context:
        """Return what the agent should see for a task; `user` is the end user it is done for."""
        return self._send(self._caller.context(task, budget_tokens, user))

    async def acontext(
        self, task: str, *, budget_tokens: int = 1_500, user: str | None = None
    ) -> Context:
        """`context`, to be awaited."""
        return await self._asend(self._caller.context(task, budget_tokens, user))

    def search_memories(self, query: str, *, limit: int = 5, user: str | None = None) -> Memories:
        """Return the agent's memories that hold now, best first."""
        return self._send(self._caller.search(query, limit, user))

    async def asearch_memories(
        self, query: str, *, limit: int = 5, user: str | None = None
    ) -> Memories:
        """`search_memories`, to be awaited."""
        return await self._asend(self._caller.search(query, limit, user))

    def evaluate_decision(self, name: str, inputs: Mapping[str, JsonValue]) -> Decision:
        """Return what a decision table says about a case: a JSON value for each input column."""
        return self._send(self._caller.decision(name, inputs))

    async def aevaluate_decision(self, name: str, inputs: Mapping[str, JsonValue]) -> Decision:
        """`evaluate_decision`, to be awaited."""
        return await self._asend(self._caller.decision(name, inputs))

    def load_skill(self, name: str, path: str | None = None) -> SkillFile:
        """Return a file of a skill on the agent's list: without a `path` SKILL.md."""
        return self._send(self._caller.skill(name, path))

    async def aload_skill(self, name: str, path: str | None = None) -> SkillFile:
        """`load_skill`, to be awaited."""
        return await self._asend(self._caller.skill(name, path))

    def report_outcome(
        self, used: Sequence[UsedItem], success: bool, note: str | None = None
    ) -> OutcomeTaken:
        """Say how a task ended to what was used in it; an item that is gone is told of."""
        return self._send(self._caller.outcome(used, success, note))

    async def areport_outcome(
        self, used: Sequence[UsedItem], success: bool, note: str | None = None
    ) -> OutcomeTaken:
        """`report_outcome`, to be awaited."""
        return await self._asend(self._caller.outcome(used, success, note))

    def give_feedback(
        self,
        text: str,
        *,
        about: str | None = None,
        author: str | None = None,
        output: JsonValue = None,
        thread: str | None = None,
    ) -> TakenFeedback:
        """Hand in what a user said: the agent learns from it soon. Needs the role submit.

        `about` is the task it was said about, `output` what the agent had produced, `thread` the
        conversation. Raises ValueError without an agent.
        """
        return self._send(self._caller.feedback(text, about, author, output, thread))

    async def agive_feedback(
        self,
        text: str,
        *,
        about: str | None = None,
        author: str | None = None,
        output: JsonValue = None,
        thread: str | None = None,
    ) -> TakenFeedback:
        """`give_feedback`, to be awaited."""
        return await self._asend(self._caller.feedback(text, about, author, output, thread))

    def close(self) -> None:
        """Close the connections of calls at once."""
        self._now.close()

    async def aclose(self) -> None:
        """Close the connections of this event loop; each that awaited calls has its own."""
        opened = self._later.pop(asyncio.get_running_loop(), None)
        if opened is not None:
            await opened.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.aclose()
        self.close()

    def _send(self, call: Call[A]) -> A:
        content = call.content
        for attempt in range(ATTEMPTS):
            is_last = attempt == ATTEMPTS - 1
            try:
                response = self._now.post(call.path, content=content, headers=call.headers)
            except httpx.TransportError as error:
                if is_last:
                    raise unanswered(call, self._now.base_url, error) from error
                time.sleep(pause(attempt))
                continue
            wait = None if is_last else seconds_to_wait(response, attempt)
            if wait is None:
                return read(call, response)
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _asend(self, call: Call[A]) -> A:
        client, content = self._of_loop(), call.content
        for attempt in range(ATTEMPTS):
            is_last = attempt == ATTEMPTS - 1
            try:
                response = await client.post(call.path, content=content, headers=call.headers)
            except httpx.TransportError as error:
                if is_last:
                    raise unanswered(call, client.base_url, error) from error
                await asyncio.sleep(pause(attempt))
                continue
            wait = None if is_last else seconds_to_wait(response, attempt)
            if wait is None:
                return read(call, response)
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _of_loop(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        for gone in [one for one in self._later if one.is_closed()]:
            del self._later[gone]
        if loop not in self._later:
            self._later[loop] = self._open()
        return self._later[loop]
