"""Pods on the computer-use server: each uses one MCP session and is deleted at its end."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from pydantic import JsonValue

from core.adapters.mcp.answers import ToolAnswer, join_blocks, json_object, objects
from core.adapters.mcp.errors import excerpt
from core.adapters.mcp.session import COMPUTER_USE, McpSession, Sessions
from core.domain.errors import McpDown, PodCallFailed, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import ShellResult

# Header, rule and empty line; empty lines there are the server's, not the document's.
_DOCUMENT = re.compile(r"\ADocument: ([^\r\n]+)\r?\n(?:\r?\n)?[=-]{3,}(?:\r?\n(?:\r?\n)?|\Z)")
_CONTENT = ("content", "text", "document", "result", "data", "file", "documents")
_ERROR = ("error", "detail", "message", "reason", "content", "text")
_SUBJECT = r"(?:(?:skill|document|file|path|resource)\b|스킬|문서|파일)"
_ABSENT = (
    r"(?:not found|no such|does(?: not|n't) exist|no (?:documents?|files?|skills?)\b"
    r"|(?:could not|cannot|can't|unable to) (?:be )?f(?:ind|ound)|찾을 수 없|없습니다)"
)
_PREFIX = r"\W*(?:(?:error|failed|\w*Error|\w*Exception)\b[^:\n]{0,80}:\W*|\[errno 2\]\W*|404\W+)*"
_SENTENCE = re.compile(
    rf"{_PREFIX}(?:(?:the |this )?{_SUBJECT}[^\n]{{0,200}}?{_ABSENT}|{_ABSENT})", re.IGNORECASE
)
_ANYWHERE = re.compile(rf"{_SUBJECT}[^\n]{{0,200}}?{_ABSENT}", re.IGNORECASE)
_ABSENCE = re.compile(_ABSENT, re.IGNORECASE)
_NAMED = re.compile(r"['\"‘“`]([^'\"’”`\n]{1,300})['\"’”`]")
_BLOCKS = 4  # levels of JSON around a document


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
                if _is_absence(_said(error.message), skill_name, document_path, whole=False):
                    return None
                raise McpDown(error.message, hint=error.hint) from error
        return read_document(answer, skill_name, document_path)


def read_document(answer: ToolAnswer, skill_name: str, document_path: str) -> str | None:
    """Return the document in an answer, None if it says that there is none.

    It arrives under a header and a rule, as the plain text of a script, or inside JSON; its absence
    as a sentence, or as an error in JSON. Of a plain answer only the first words count, since a
    document may contain such a sentence itself. Raises McpDown for any other answer.
    """
    request = (skill_name, document_path)
    for value in (answer.text, answer.structured):
        found = _in_value(value, *request, _BLOCKS)
        if found is not None:
            return found.text
    raise McpDown(
        Message("mcp.no_document", skill=skill_name, path=document_path, text=excerpt(answer.text))
    )


def _said(message: str) -> str:
    """Return what the server said in an error of ours about it."""
    why = message.parameters.get("why") if isinstance(message, Message) else None
    return why if isinstance(why, str) else message


@dataclass(frozen=True)
class _Found:
    """A document, or its absence."""

    text: str | None


def _in_value(value: JsonValue, skill: str, path: str, depth: int) -> _Found | None:
    """Return what a part of an answer says of the document; None if it says nothing of it."""
    if isinstance(value, str):
        parsed = None if path.endswith(".json") else json_object(value)
        return (
            _in_text(value, skill, path)
            if parsed is None
            else _in_object(parsed, skill, path, depth)
        )
    if isinstance(value, list):
        blocks = _text(value)
        if blocks:
            return _in_value(blocks, skill, path, depth - 1)
        same = (item for item in value if isinstance(item, dict) and _is_of(item, path))
        return next((_in_object(item, skill, path, depth - 1) for item in same), None)
    return _in_object(value, skill, path, depth) if isinstance(value, dict) and depth else None


def _in_object(given: Mapping[str, JsonValue], skill: str, path: str, depth: int) -> _Found | None:
    if _is_error(given):
        said = " ".join(_sentences(given))
        return _Found(None) if _is_absence(said, skill, path, whole=False) else None
    if any(given.get(key) is False for key in ("found", "exists")):
        return _Found(None)
    found = (_in_value(given[key], skill, path, depth - 1) for key in _CONTENT if given.get(key))
    return next((part for part in found if part), None)


def _is_error(given: Mapping[str, JsonValue]) -> bool:
    failed = given.get("isError") is True or given.get("status") == "error"
    failed |= given.get("success") is False or given.get("ok") is False
    return failed or bool(given.get("error")) or "detail" in given


def _sentences(given: Mapping[str, JsonValue]) -> Iterator[str]:
    for value in (given.get(key) for key in _ERROR):
        if isinstance(value, dict):
            yield from _sentences(value)
        elif text := _text(value):
            yield text


def _is_of(item: Mapping[str, JsonValue], path: str) -> bool:
    shown = next((item[key] for key in ("path", "name", "document_path") if key in item), None)
    return isinstance(shown, str) and _is_same(shown, path)


def _in_text(text: str, skill: str, path: str) -> _Found | None:
    header = _DOCUMENT.match(text)
    if header is not None and _is_same(header[1].strip(), path):
        return _Found(text[header.end() :])
    if header is None and _is_document(text, path):
        return _Found(text)
    return _Found(None) if _is_absence(text, skill, path, whole=True) else None


def _is_same(shown: str, asked: str) -> bool:
    return shown == asked or shown.endswith("/" + asked)


def _is_document(text: str, path: str) -> bool:
    """Whether a text without a header is the script itself, and no sentence of the server."""
    if not path.endswith(".py"):
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(not isinstance(node, ast.Expr) for node in tree.body)


def _is_absence(text: str, skill: str, path: str, *, whole: bool) -> bool:
    """Whether a text says that the skill or the document is not there, and names no other.

    As a `whole` answer it must begin with that; in an error it may stand anywhere.
    """
    line = (text.strip().splitlines() or [""])[0]
    names = (skill, path, path.rsplit("/", 1)[-1])
    asked = any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", line) for name in names)
    if _SENTENCE.match(line) or (not whole and _ANYWHERE.search(line)):
        return asked or _NAMED.search(line) is None
    return asked and not whole and _ABSENCE.search(line) is not None


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
