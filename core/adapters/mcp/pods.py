"""Pods on the computer-use server: each uses one MCP session and is deleted at its end."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import structlog
from pydantic import JsonValue

from core.adapters.mcp.answers import ToolAnswer, join_blocks, json_object, objects
from core.adapters.mcp.errors import excerpt
from core.adapters.mcp.session import COMPUTER_USE, McpSession, Sessions
from core.domain.errors import McpDown, PodCallFailed, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import ShellResult

# Header, rule and empty line; empty lines there are the server's, not the document's.
_DOCUMENT = re.compile(r"\ADocument: ([^\r\n]+)\r?\n(?:\r?\n)?={8,}(?:\r?\n(?:\r?\n)?|\Z)")
_QUOTE = "['\"‘’“”]?"


class McpSkillDocuments:
    """The port `SkillDocuments` on the tool `read_skill_document`."""

    def __init__(self, client: Sessions, server_name: str) -> None:
        """`server_name` is the claude-skills connection of `client`."""
        self._client = client
        self._server = server_name

    async def read(self, skill_name: str, document_path: str) -> str | None:
        async with self._client.lease(self._server) as session:
            try:
                answer = await session.ask(
                    "read_skill_document",
                    {"skill_name": skill_name, "document_path": document_path},
                )
            except PodCallFailed as error:
                raise McpDown(error.message, hint=error.hint) from error
        return read_document(answer.text, skill_name, document_path)


def read_document(text: str, skill_name: str, document_path: str) -> str | None:
    """Return the document in an answer, None for a "not found" sentence about this request.

    Only the answer's first words count, since a document may contain such a sentence itself. Raises
    McpDown for any other answer.
    """
    header = _DOCUMENT.match(text)
    if header is not None and _is_same(header[1].strip(), document_path):
        return text[header.end() :]
    if _is_absence(text, skill_name, document_path):
        return None
    raise McpDown(
        Message("mcp.no_document", skill=skill_name, path=document_path, text=excerpt(text))
    )


def _is_same(shown: str, asked: str) -> bool:
    return shown == asked or shown.endswith("/" + asked)


def _is_absence(text: str, skill_name: str, document_path: str) -> bool:
    skill = rf"Skill {_QUOTE}{re.escape(skill_name)}{_QUOTE} not found\b"
    document = rf"No documents matching {_QUOTE}{re.escape(document_path)}{_QUOTE}(?:\W|$)"
    return re.match(rf"\s*(?:{skill}|{document})", text) is not None


_STATUS = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_OUTPUT = ("stdout", "content", "text", "output")
# A command may print JSON itself: only an object without unknown keys is the server's.
_BESIDE = frozenset({"stderr", "success", "status", "error", "session_id", "sessionId", "command"})
_TIMES = frozenset({"duration", "duration_ms", "elapsed", "timed_out", "truncated", "type"})
_KNOWN = _BESIDE | _TIMES | {*_STATUS, *_OUTPUT}
_WRAPPERS = ("result", "data")
_HEADER = re.compile(
    r"\A[ \t]*\[?(?:exit[ _-]?(?:code|status)|return[ _-]?code)[ \t]*[:=]?[ \t]*(-?\d{1,10})\]?"
    r"[ \t]*(?:\r?\n|\Z)",
    re.IGNORECASE,
)
_STDOUT = re.compile(r"\A(?:[ \t]*\r?\n)?[ \t]*\[?stdout\]?:[ \t]*(?:\r?\n|\Z)", re.IGNORECASE)
_STDERR = re.compile(r"^[ \t]*\[?stderr\]?:[ \t]*(?:\r?\n|\Z)", re.IGNORECASE | re.MULTILINE)


def read_shell_answer(answer: ToolAnswer) -> ShellResult:
    """Return status, stdout and stderr. `exit_code` is None if the server does not report it.

    Structured content takes precedence over text. In text, the last `STDERR:` line separates the
    outputs: if stderr contains such a line, its part shows up in stdout, but no stdout is ever
    lost.
    """
    return _of_value(answer.structured) or _of_text(answer.text)


def _of_value(value: JsonValue) -> ShellResult | None:
    """Parse structured content: the fields themselves, or inside a wrapper, or a text in one."""
    if not isinstance(value, dict):
        return None
    if found := _of_fields(value):
        return found
    for name in _WRAPPERS:
        inner = value.get(name)
        if isinstance(inner, str):
            return _of_text(inner)
        if isinstance(inner, list) and (text := _text(inner)) is not None:
            return _of_text(text)
        if found := _of_value(inner):
            return found
    return None


def _of_text(text: str) -> ShellResult:
    value = json_object(text)
    if value is not None and (found := _of_json_text(value)):
        return found
    header = _HEADER.match(text)
    if header is None:
        return ShellResult(exit_code=None, stdout=text)
    stdout, stderr = _sections(text[header.end() :])
    return ShellResult(exit_code=int(header[1]), stdout=stdout, stderr=stderr)


def _of_json_text(value: Mapping[str, JsonValue]) -> ShellResult | None:
    if set(value) <= {*_WRAPPERS, *_BESIDE}:
        return _of_value(dict(value))
    return _of_fields(value) if set(value) <= _KNOWN else None


def _of_fields(value: Mapping[str, JsonValue]) -> ShellResult | None:
    status = next((_number(value[name]) for name in _STATUS if name in value), None)
    output = next((value[name] for name in _OUTPUT if name in value), None)
    stderr = _text(value.get("stderr"))
    stdout = _text(output)
    if stdout is None and stderr is None and status is None:
        return None
    if stdout is not None and stderr is None and status is None:
        return _of_text(stdout) if json_object(stdout) is None else _plain(stdout)
    return ShellResult(exit_code=status, stdout=stdout or "", stderr=stderr or "")


def _plain(stdout: str) -> ShellResult:
    return ShellResult(exit_code=None, stdout=stdout)


def _sections(body: str) -> tuple[str, str]:
    if first := _STDOUT.match(body):
        body = body[first.end() :]
    marks = list(_STDERR.finditer(body))
    if not marks:
        return body, ""
    return body[: marks[-1].start()], body[marks[-1].end() :]


def _number(value: JsonValue) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,10}", value.strip()):
        return int(value)
    return value if isinstance(value, int) else None


def _text(value: JsonValue) -> str | None:
    """Return a text, or that of a list of blocks (`{"type": "text", "text": …}` or strings)."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [block.get("text") if isinstance(block, dict) else block for block in value]
        return join_blocks([part for part in parts if isinstance(part, str)])
    return None


DELETE_SECONDS = 10.0
_ID_NAMES = ("session_id", "sessionId")
_log = structlog.get_logger(__name__)


class McpPods:
    """The port `Pods` over the connection `computer-use`."""

    def __init__(self, client: Sessions, *, server_name: str = COMPUTER_USE) -> None:
        """`server_name` is the computer-use connection of `client`."""
        self._client = client
        self._server = server_name
        self._deletions: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self, *, ttl: int) -> AsyncIterator[McpPod]:
        """Create a pod that lives at most `ttl` seconds; it is always deleted at the end.

        Raises McpDown, also if the server has no free pod: that says nothing about the work to be
        done in it. A pod that cannot be deleted is logged and left to its ttl.
        """
        async with self._client.lease(self._server) as session:
            pod_id = await _create(session, ttl)
            try:
                yield McpPod(session, pod_id)
            finally:
                await self._delete(pod_id)

    async def _delete(self, pod_id: str) -> None:
        """Delete the pod even if we are cancelled meanwhile; the cancellation waits, briefly."""
        task = asyncio.create_task(self._try_to_delete(pod_id))
        self._deletions.add(task)
        task.add_done_callback(self._deletions.discard)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})
            raise

    async def _try_to_delete(self, pod_id: str) -> None:
        try:
            async with (
                asyncio.timeout(DELETE_SECONDS),
                self._client.lease(self._server) as session,
            ):
                await session.ask("delete_session", {"session_id": pod_id})
        except (SkillWorkerError, TimeoutError) as error:
            reason = str(error) or f"no answer within {DELETE_SECONDS:g} s"
            _log.warning("pod.left_behind", pod=pod_id, error=reason)


class McpPod:
    """The port `Pod`: a session of the computer-use server, over the MCP session that made it."""

    def __init__(self, session: McpSession, pod_id: str) -> None:
        """`pod_id` is what the server calls its session."""
        self._session = session
        self._id = pod_id

    async def create_file(self, path: str, content: str) -> None:
        await self._ask("create_file", {"file_path": path, "content": content})

    async def delete_file(self, path: str) -> None:
        await self._ask("delete_file", {"file_path": path})

    async def run_shell(self, command: str) -> ShellResult:
        return read_shell_answer(await self._ask("run_shell", {"command": command}))

    async def _ask(self, tool: str, arguments: dict[str, JsonValue]) -> ToolAnswer:
        return await self._session.ask(tool, {"session_id": self._id, **arguments})


async def _create(session: McpSession, ttl: int) -> str:
    """Create a pod and return its id. Raises McpDown."""
    try:
        return read_session_id(await session.ask("create_session", {"ttl": ttl}))
    except PodCallFailed as error:
        hint = Message("pod.hint_sessions")
        raise McpDown(Message("pod.none", why=error.message), hint=hint) from error


def read_session_id(answer: ToolAnswer) -> str:
    """Return the id in the answer of `create_session`. Raises PodCallFailed if there is none."""
    for found in objects(answer):
        for name in _ID_NAMES:
            value = found.get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return str(value)
    raise PodCallFailed(Message("pod.no_session", text=excerpt(answer.text)))
