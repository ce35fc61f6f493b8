"""What stands between a transport and the SDK's session: the extension, errors, notices."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import TypeAlias

import structlog
from anyio import TASK_STATUS_IGNORED, BrokenResourceError, ClosedResourceError
from anyio.abc import TaskGroup, TaskStatus
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.shared.exceptions import McpError
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import AnyUrl, BaseModel, ValidationError
from starlette.requests import Request

from core.domain.errors import SkillWorkerError
from core.domain.messages import Message
from core.entrypoints.mcp_knowledge import skills
from core.entrypoints.mcp_knowledge.caller import Caller
from core.entrypoints.mcp_knowledge.watching import Watcher

log = structlog.get_logger(__name__)

Incoming: TypeAlias = MemoryObjectReceiveStream[SessionMessage | Exception]
Onward: TypeAlias = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing: TypeAlias = MemoryObjectSendStream[SessionMessage]
WhoAsks = Callable[[Request | None], Caller]
Watch = Callable[[Caller], Awaitable[AbstractAsyncContextManager[Watcher]]]
NOTICE_SECONDS = 0.1  # between two notices to one client
_EXTENSION = frozenset({skills.LIST, skills.GET})
_TOLD = 5


@dataclass
class Gate:
    """Passes on what the SDK's session can read, and answers the rest itself.

    The session knows no methods of extensions, takes an unknown method for wrong parameters, and
    would log what it cannot read.
    """

    out: Outgoing
    tasks: TaskGroup
    subscribed: set[str]
    who: WhoAsks
    watch: Watch
    methods: Mapping[str, type[BaseModel]]
    is_open: bool = False

    async def work(self, incoming: Incoming, onward: Onward) -> None:
        """Pass messages on until the client leaves."""
        with suppress(ClosedResourceError, BrokenResourceError):
            async with incoming, onward:
                async for message in incoming:
                    if isinstance(message, Exception):
                        log.warning("mcp.unreadable")
                    elif not await self._takes(message):
                        await onward.send(message)

    async def _takes(self, message: SessionMessage) -> bool:
        """Whether a message ends here."""
        told = message.message.root
        if isinstance(told, types.JSONRPCNotification):
            return _problem(types.ClientNotification, told) is not None
        if not isinstance(told, types.JSONRPCRequest):
            return False
        error = self._refusal(told)
        if error is not None:
            await self._answer(told.id, error)
            return True
        if told.method == "initialize":
            await self._begin(message)
        elif told.method in _EXTENSION:
            self.tasks.start_soon(self._extension, message, told)
            return True
        return False

    def _refusal(self, asked: types.JSONRPCRequest) -> types.ErrorData | None:
        if asked.method not in {*self.methods, *_EXTENSION}:
            return types.ErrorData(code=types.METHOD_NOT_FOUND, message="Method not found")
        if asked.method in _EXTENSION:
            code = types.INVALID_REQUEST
            return None if self.is_open else types.ErrorData(code=code, message="Not initialized")
        problem = _problem(self.methods[asked.method], asked)
        if problem is None:
            return None
        return types.ErrorData(code=types.INVALID_PARAMS, message=problem)

    async def _begin(self, message: SessionMessage) -> None:
        """Watch for the client before it is answered: it then learns of all that changes after."""
        if not self.is_open:
            self.is_open = True
            await self.tasks.start(self._notify, self._caller(message))

    def _caller(self, message: SessionMessage) -> Caller:
        data = message.metadata
        request = data.request_context if isinstance(data, ServerMessageMetadata) else None
        return self.who(request if isinstance(request, Request) else None)

    async def _extension(self, message: SessionMessage, asked: types.JSONRPCRequest) -> None:
        async def work() -> types.Result:
            answer = await skills.answer(self._caller(message), asked.method, asked.params or {})
            return types.Result.model_validate(answer)

        try:
            result: types.Result | types.ErrorData = await answered(work)
        except McpError as error:
            result = error.error
        await self._answer(asked.id, result)

    async def _answer(self, request_id: types.RequestId, result: BaseModel) -> None:
        dumped = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        about: dict[str, object] = {"jsonrpc": "2.0", "id": request_id}
        part = {"error": dumped} if isinstance(result, types.ErrorData) else {"result": dumped}
        await self._send({**about, **part})

    async def _notify(
        self, caller: Caller, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED
    ) -> None:
        """Tell the client what has changed, for as long as it is connected."""
        try:
            watching = await self.watch(caller)
        except SkillWorkerError as error:
            log.warning("mcp.unwatched", error=error.message)
            task_status.started()
            return
        async with watching as watcher:
            listed = await self._listed(caller)
            task_status.started()
            while True:
                changed = await watcher.wait()
                # What has just left the list is told of once more.
                before, listed = listed, await self._listed(caller)
                changed &= before | listed
                await self._tell(types.ResourceListChangedNotification())
                for uri in sorted(self.subscribed):
                    named = skills.skill_of(uri)
                    if uri == skills.INDEX or (named and named[0] in changed):
                        about = types.ResourceUpdatedNotificationParams(uri=AnyUrl(uri))
                        await self._tell(types.ResourceUpdatedNotification(params=about))
                await asyncio.sleep(NOTICE_SECONDS)

    async def _listed(self, caller: Caller) -> frozenset[str]:
        """Return the skills on the agent's list, none while that cannot be read."""
        try:
            with caller.knowledge() as known:
                return frozenset((await known.agent(caller.agent_id)).skills)
        except SkillWorkerError as error:
            log.warning("mcp.unwatched", error=error.message)
            return frozenset()

    async def _tell(self, notice: BaseModel) -> None:
        dumped = notice.model_dump(by_alias=True, mode="json", exclude_none=True)
        await self._send({"jsonrpc": "2.0", **dumped})

    async def _send(self, message: Mapping[str, object]) -> None:
        with suppress(ClosedResourceError, BrokenResourceError):  # the client has left
            await self.out.send(SessionMessage(types.JSONRPCMessage.model_validate(message)))


async def answered(work: Callable[[], Awaitable[types.Result]]) -> types.Result:
    """Return what `work` returns. Raises McpError, whatever it raises; a defect is logged."""
    try:
        return await work()
    except McpError:
        raise
    except SkillWorkerError as error:
        code = types.INTERNAL_ERROR if error.retryable else types.INVALID_PARAMS
        raise McpError(types.ErrorData(code=code, message=error.sentences)) from None
    except Exception:
        log.exception("mcp.broke")
        message = Message("use.broke")
        raise McpError(types.ErrorData(code=types.INTERNAL_ERROR, message=message)) from None


def _problem(model: type[BaseModel], told: BaseModel) -> str | None:
    """Return what is wrong with a message, by its fields and without their values."""
    try:
        model.model_validate(told.model_dump(by_alias=True, mode="json", exclude_none=True))
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found[:_TOLD])
    return None
