"""MCP servers as people have them: a file, or JSON, in the shape of `.mcp.json`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, ConfigDict, Field, JsonValue, StringConstraints, ValidationError

from core.domain.errors import InvalidInput
from core.domain.input_formats.json_text import parse_json
from core.domain.input_formats.text import explain
from core.domain.messages import Message
from core.domain.models.base import Model

_LISTS = ("mcpServers", "servers")
# `$NAME`, `${NAME}` and `${NAME:-what else}`; `$$` is a dollar sign.
_VARIABLE = re.compile(
    r"\$(?:\$|(?P<bare>[A-Za-z_]\w*)|\{(?P<name>[A-Za-z_]\w*)(?::-(?P<else>[^}]*))?\})"
)
_Said = Annotated[str, StringConstraints(min_length=1)]


class McpEntry(Model):
    """One server: a command to start, or an address; keys of other programs are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: Literal["stdio", "http", "streamable-http", "streamable_http", "sse"] | None = Field(
        default=None, validation_alias=AliasChoices("type", "transport")
    )
    command: _Said | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str | None = None
    url: _Said | None = None
    headers: Mapping[str, str] = {}

    @property
    def is_sse(self) -> bool | None:
        """Whether it speaks SSE; None if the address is to tell."""
        return None if self.type is None else self.type == "sse"


@dataclass(frozen=True)
class McpServers:
    """The servers that are wanted, by name, and the names of the others."""

    wanted: Mapping[str, McpEntry]
    others: tuple[str, ...] = ()


def read_mcp_servers(
    given: str, wanted: Collection[str], environment: Mapping[str, str | None]
) -> McpServers:
    """Return the servers of a list; `given` is JSON, or the path of a file of it.

    Variables in commands, arguments, addresses, headers and environments are those of
    `environment`. Entries that are not wanted are not looked into: the list may be another
    program's. Raises ValueError, with a message that names the server and what is wrong.
    """
    text = given if given.lstrip().startswith("{") else _text_of(Path(given).expanduser())
    try:
        parsed = parse_json(text)
    except InvalidInput as error:
        raise ValueError(error.message) from error
    whole = parsed if isinstance(parsed, dict) else {}
    listed = next((whole[key] for key in _LISTS if key in whole), whole)
    if not isinstance(listed, dict) or not listed:
        raise ValueError(Message("mcp_servers.no_list"))
    found = {name: _entry(name, listed[name], environment) for name in wanted if name in listed}
    return McpServers(found, tuple(name for name in listed if name not in found))


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(Message("file.not_utf8", path=path)) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ValueError(Message("mcp_servers.unreadable", path=path, why=why)) from error


def _entry(name: str, given: JsonValue, environment: Mapping[str, str | None]) -> McpEntry:
    try:
        entry = McpEntry.model_validate(expanded(name, given, environment))
    except ValidationError as error:
        raise ValueError(Message("mcp_servers.entry", name=name, why=explain(error))) from None
    if (entry.command is None) == (entry.url is None):
        raise ValueError(Message("mcp_servers.either", name=name))
    if entry.type is not None and (entry.type == "stdio") != (entry.command is not None):
        key = "command" if entry.type == "stdio" else "url"
        needs = Message("mcp_servers.needs", type=entry.type, key=key)
        raise ValueError(Message("mcp_servers.entry", name=name, why=needs))
    return entry


def expanded(name: str, given: JsonValue, environment: Mapping[str, str | None]) -> JsonValue:
    """Return what is given with its variables replaced; `name` is whose. Raises ValueError."""
    if isinstance(given, dict):
        return {key: expanded(name, value, environment) for key, value in given.items()}
    if isinstance(given, list):
        return [expanded(name, value, environment) for value in given]
    if not isinstance(given, str):
        return given

    try:
        return expanded_text(given, environment)
    except KeyError as error:
        variable = str(error.args[0])
        raise ValueError(Message("mcp_servers.variable", name=name, variable=variable)) from None


def expanded_text(text: str, environment: Mapping[str, str | None]) -> str:
    """Return a text with its variables replaced. Raises KeyError with the name of one not set."""

    def value(found: re.Match[str]) -> str:
        variable = found["bare"] or found["name"]
        if variable is None:
            return "$"
        known = environment.get(variable) or found["else"]
        if known is None:
            raise KeyError(variable)
        return known

    return _VARIABLE.sub(value, text)
