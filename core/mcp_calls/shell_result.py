"""Reads what `run_shell` answered, in each of the shapes servers use (contracts, section 6)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import JsonValue

from core.mcp_calls.answers import ToolAnswer, join_blocks, json_object
from core.models import ShellResult

_STATUS = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_OUTPUT = ("stdout", "content", "text", "output")
# A command may print JSON itself: only an object with nothing foreign in it is the server's.
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
    """Give status, stdout and stderr. `exit_code` is None where the server does not tell.

    Structured content counts before text. In a text the last `STDERR:` line parts the outputs:
    what stderr says of itself then shows in stdout, and nothing of stdout is ever lost.
    """
    return _of_value(answer.structured) or _of_text(answer.text)


def _of_value(value: JsonValue) -> ShellResult | None:
    """Read structured content: the fields themselves, or below a wrapper, or a text in one."""
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
    """Give a text, or the texts of a list of blocks (`{"type": "text", "text": …}` or strings)."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [block.get("text") if isinstance(block, dict) else block for block in value]
        return join_blocks([part for part in parts if isinstance(part, str)])
    return None
