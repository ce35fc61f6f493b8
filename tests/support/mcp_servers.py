"""Scripted claude-skills and computer-use MCP servers: answer shapes, faults, tool names."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import mcp.types as types
from mcp.server.lowlevel import Server

from core.domain.models import ShellResult
from core.mcp_client import COMPUTER_USE, McpClient, McpServer, open_mcp
from core.testing.pods import LocalPod
from tests.support.mcp_http import McpHttp, count_faults

SHELL_SHAPES = ("string", "blocks", "output", "fields", "header")
ID_SHAPES = ("session_id", "sessionId", "result", "data", "text")
TOOL_FAULTS = ("tool_error", "hang", "gone", "nonsense", "truncated", "exit_code")


@asynccontextmanager
async def connected(
    server: McpHttp,
    *,
    name: str = COMPUTER_USE,
    token: str | None = None,
    call_seconds: float = 10,
) -> AsyncIterator[McpClient]:
    """Yield a client for one scripted server."""
    where = McpServer(name, server.url, token)
    async with open_mcp([where], call_seconds=call_seconds) as client:
        yield client


def text_result(*texts: str, error: bool = False) -> types.CallToolResult:
    """Answer with text blocks."""
    content = [types.TextContent(type="text", text=text) for text in texts]
    return types.CallToolResult(content=[*content], isError=error)


def fields_result(**fields: object) -> types.CallToolResult:
    """Answer with structured content, and the same as JSON text."""
    result = text_result(json.dumps(fields, ensure_ascii=False))
    result.structuredContent = fields
    return result


class ScriptedServer(McpHttp):
    """Tools by their short names, whatever `rename` makes of them.

    `faults` maps `tool`, or `tool:n` for its n-th call (from 1), to a fault of the wire (`McpHttp`)
    or of the tool: `tool_error`, `hang` (until `released` is set), `gone` (the pod is unknown),
    `nonsense`, and for run_shell `truncated` and `exit_code`. `calls` are the short names of the
    calls in order, `arguments` what each was called with.
    """

    def __init__(
        self,
        *,
        rename: Callable[[str], str] = lambda name: name,
        faults: Mapping[str, str] | None = None,
        sse: bool = False,
        token: str | None = None,
        json: bool = False,
    ) -> None:
        super().__init__(sse=sse, token=token, json=json)
        self.rename = rename
        self.faults = dict(faults or {})
        self.calls: list[str] = []
        self.entered: list[str] = []
        self.arguments: list[Mapping[str, object]] = []
        self.annotations: dict[str, types.ToolAnnotations] = {}
        self.called = asyncio.Event()
        self.released = asyncio.Event()

    def tools(self) -> Mapping[str, tuple[str, ...]]:
        """Return short name -> names of its arguments."""
        raise NotImplementedError

    async def answer(self, tool: str, given: Mapping[str, object]) -> types.CallToolResult:
        raise NotImplementedError

    def begin(self, faults: Mapping[str, str]) -> None:
        """Restart the count of calls, with other faults; hanging calls are released."""
        self.released.set()
        self.released = asyncio.Event()
        self.faults = dict(faults)
        self.calls.clear()
        self.entered.clear()

    def fault(self, tool: str) -> str:
        short = {self.rename(name): name for name in self.tools()}.get(tool, tool)
        self.calls.append(short)
        self.called.set()
        return count_faults(self.faults, self.calls, short)

    def build(self) -> Server[object, object]:
        server: Server[object, object] = Server("scripted")
        names = {self.rename(name): name for name in self.tools()}

        @server.list_tools()  # type: ignore[no-untyped-call,untyped-decorator]
        async def list_tools() -> list[types.Tool]:
            return [
                types.Tool(
                    name=full,
                    inputSchema=_schema(self.tools()[short]),
                    annotations=self.annotations.get(short),
                )
                for full, short in names.items()
            ]

        @server.call_tool()  # type: ignore[untyped-decorator]
        async def call_tool(name: str, arguments: dict[str, object]) -> types.CallToolResult:
            self.arguments.append(arguments)
            return await self._called(names[name], arguments)

        return server

    async def _called(self, tool: str, given: Mapping[str, object]) -> types.CallToolResult:
        self.entered.append(tool)  # at once: more calls may have arrived since this one
        fault = count_faults(self.faults, self.entered, tool)
        if fault == "hang":
            await self.released.wait()
        if fault == "tool_error":
            return text_result(f"{tool} 실패: Skill is valid!", error=True)
        if fault == "gone":
            return text_result("unknown session_id", error=True)
        if fault == "nonsense":
            return text_result("무엇을 도와드릴까요?")
        return await self.answer(tool, given)


class ScriptedComputerUse(ScriptedServer):
    """Pods over folders under `root`, with a real shell: no wall. `/tmp` is the pod's folder."""

    def __init__(
        self,
        root: Path,
        *,
        shape: str = "fields",
        id_shape: str = "session_id",
        env: Mapping[str, str] | None = None,
        rename: Callable[[str], str] = lambda name: name,
        faults: Mapping[str, str] | None = None,
        sse: bool = False,
        token: str | None = None,
        json: bool = False,
    ) -> None:
        super().__init__(rename=rename, faults=faults, sse=sse, token=token, json=json)
        self.root = root
        self.shape = shape
        self.id_shape = id_shape
        self.env = {"LC_ALL": "C.UTF-8"} if env is None else dict(env)
        self.pods: dict[str, LocalPod] = {}
        self.ids = count(1)

    def tools(self) -> Mapping[str, tuple[str, ...]]:
        return {
            "create_session": ("ttl",),
            "create_file": ("session_id", "file_path", "content"),
            "delete_file": ("session_id", "file_path"),
            "run_shell": ("session_id", "command"),
            "delete_session": ("session_id",),
        }

    async def start(self) -> None:
        for pod_id in list(self.pods):
            self._remove(pod_id)
        await super().start()

    async def answer(self, tool: str, given: Mapping[str, object]) -> types.CallToolResult:
        if tool == "create_session":
            pod_id = f"세션-{next(self.ids)}"
            self.pods[pod_id] = LocalPod(self.root / pod_id, self.env)
            self.pods[pod_id].folder.mkdir(parents=True)
            return _id_result(self.id_shape, pod_id)
        pod_id = str(given["session_id"])
        pod = self.pods.get(pod_id)
        if pod is None:
            return text_result(f"unknown session_id {pod_id}", error=True)
        if tool == "delete_session":
            self._remove(pod_id)
        elif tool == "create_file":
            pod.write(str(given["file_path"]), str(given["content"]))
        elif tool == "delete_file":
            pod.delete(str(given["file_path"]))
        else:
            return self._shaped(await pod.run(str(given["command"])))
        return text_result("ok")

    def _shaped(self, result: ShellResult) -> types.CallToolResult:
        fault = count_faults(self.faults, self.calls, "run_shell")
        stdout = result.stdout[: len(result.stdout) // 2] if fault == "truncated" else result.stdout
        status = 1 if fault == "exit_code" else result.exit_code
        return shell_answer(
            self.shape, ShellResult(exit_code=status, stdout=stdout, stderr=result.stderr)
        )

    def _remove(self, pod_id: str) -> None:
        shutil.rmtree(self.pods.pop(pod_id).folder, ignore_errors=True)


class ScriptedSkills(ScriptedServer):
    """The claude-skills tools over `documents`: `skill/path` -> text."""

    def __init__(
        self,
        documents: Mapping[str, str],
        *,
        rename: Callable[[str], str] = lambda name: name,
        faults: Mapping[str, str] | None = None,
        sse: bool = False,
        token: str | None = None,
        json: bool = False,
    ) -> None:
        super().__init__(rename=rename, faults=faults, sse=sse, token=token, json=json)
        self.documents = dict(documents)

    def tools(self) -> Mapping[str, tuple[str, ...]]:
        return {"read_skill_document": ("skill_name", "document_path"), "list_skills": ()}

    async def answer(self, tool: str, given: Mapping[str, object]) -> types.CallToolResult:
        skills = sorted({name.partition("/")[0] for name in self.documents})
        if tool == "list_skills":
            return text_result("\n".join(skills))
        skill, path = str(given["skill_name"]), str(given["document_path"])
        if skill not in skills:
            return text_result(f"Skill '{skill}' not found. Use find_helpful_skills to search.")
        if f"{skill}/{path}" not in self.documents:
            return text_result(f"No documents matching '{path}' found in skill '{skill}'.")
        return text_result(f"Document: {path}\n\n{'=' * 80}\n\n{self.documents[f'{skill}/{path}']}")


def shell_answer(shape: str, result: ShellResult) -> types.CallToolResult:
    """Answer as one of SHELL_SHAPES does (contracts, section 6)."""
    out, err, status = result.stdout, result.stderr, result.exit_code
    if shape == "string":
        answer = text_result(out + err)
        answer.structuredContent = {"result": out + err}
        return answer
    if shape == "blocks":
        return text_result(*(text for text in (out, err) if text))
    if shape == "output":
        return fields_result(output=out + err)
    if shape == "fields":
        return fields_result(stdout=out, stderr=err, exit_code=status)
    tail = f"\nSTDERR:\n{err}" if err else ""
    return text_result(f"exit_code: {status}\nSTDOUT:\n{out}{tail}")


def _id_result(shape: str, pod_id: str) -> types.CallToolResult:
    if shape in ("result", "data"):
        return fields_result(**{shape: {"sessionId": pod_id}})
    if shape == "text":
        return text_result(json.dumps({"session_id": pod_id, "status": "created"}))
    return fields_result(**{shape: pod_id})


def _schema(names: tuple[str, ...]) -> dict[str, object]:
    kinds = {name: {"type": "integer" if name == "ttl" else "string"} for name in names}
    return {"type": "object", "properties": kinds, "required": list(names)}
