"""The only reader of the environment: every setting with its default, validation and fix."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from pydantic import (
    JsonValue,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsConfigDict

from core.app.mcp_servers import McpEntry, expanded, read_mcp_servers
from core.app.settings_groups import (
    OFF,
    ON,
    CostSettings,
    KnowledgeSettings,
    LimitSettings,
    ModelSettings,
    PlaceSettings,
    ReviewSettings,
    ServerSettings,
    ServingSettings,
    WorkerSettings,
)
from core.app.settings_tracing import TracingSettings
from core.domain.errors import ConfigurationError
from core.domain.messages import Message, joined, said
from core.domain.text import keep_secret

_ALIKE = 0.8
# The environment contains foreign names; what starts like this is most likely meant for us.
_OURS = ("SKILL_WORKER_", "LLM_", "MCP_", "FEEDBACK_")


def name_warnings(
    names: Iterable[str], environment: Mapping[str, str], env_file: Path | None
) -> tuple[str, ...]:
    """Return warnings about what looks like a setting in the file or environment but is none.

    `names` are the settings' upper-case names. Raises UnicodeDecodeError.
    """
    known = list(names)
    return (*_in_file(known, env_file), *_in_environment(known, environment))


def _in_file(known: list[str], env_file: Path | None) -> Iterator[str]:
    from dotenv.parser import parse_stream

    if env_file is None or not env_file.is_file():
        return
    with env_file.open(encoding="utf-8-sig") as stream:
        for binding in parse_stream(stream):
            source = Message("settings.place", file=env_file, n=binding.original.line)
            if binding.error:
                yield Message("settings.no_assignment", place=source)
            elif binding.key and (meant := _meant(binding.key, known)):
                yield Message("settings.unknown", place=source, name=binding.key, meant=meant)


def _in_environment(known: list[str], environment: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(environment):
        if name.upper().startswith(_OURS) and (meant := _meant(name, known)):
            place = Message("settings.environment")
            yield Message("settings.unknown", place=place, name=name, meant=meant)


def _meant(name: str, known: list[str]) -> str | None:
    """Return the setting with the most similar name; None if it is one, or similar to none."""
    if name.upper() in known:
        return None
    return next(iter(get_close_matches(name.upper(), known, n=1, cutoff=_ALIKE)), None)


OFFLINE_MODEL = "offline"
_SECRET_KEYS = ("token", "key", "secret", "password")  # of a section of a file
_NAMES_OF_SECRETS = ("_API_KEY", "_ACCESS_KEY", "_TOKEN", "_SECRET", "PASSWORD", "AUTHORIZATION")
COMPUTER_USE = "computer-use"
Override = str | int | float | bool | Path | None


# Fields appear in the order of these bases, read from right to left.
class Settings(
    TracingSettings,
    LimitSettings,
    ReviewSettings,
    KnowledgeSettings,
    ServingSettings,
    WorkerSettings,
    ServerSettings,
    CostSettings,
    ModelSettings,
    PlaceSettings,
):
    """All settings, frozen. A field's upper-case name is its environment variable.

    `description` is its text in the reference, `examples[0]` a value that works.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_file_encoding="utf-8-sig", env_ignore_empty=True
    )

    _warnings: tuple[str, ...] = PrivateAttr(default=())
    _mcp: Mapping[str, McpEntry] = PrivateAttr(default_factory=dict)
    _variables: Mapping[str, str | None] = PrivateAttr(default_factory=dict)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was ignored while reading, one sentence each."""
        return self._warnings

    def expanded(self, name: str, given: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        """Return a section of a file, with `$NAME` and `${NAME:-else}` in its texts replaced.

        Raises ConfigurationError if one is not set; `name` is the section's.
        """
        try:
            found = expanded(name, dict(given), self._variables)
        except ValueError as error:
            raise ConfigurationError(said(error)) from None
        assert isinstance(found, dict)
        for key, text in found.items():
            if isinstance(text, str) and key.lower().endswith(_SECRET_KEYS):
                keep_secret(text)
        return found

    @property
    def mcp_entries(self) -> Mapping[str, McpEntry]:
        """The servers of MCP_SERVERS that are used, by name."""
        return self._mcp

    @property
    def variables(self) -> Mapping[str, str | None]:
        """What `$NAME` stands for in a hook: the environment over `.env`, as for the settings."""
        return self._variables

    @property
    def has_pods(self) -> bool:
        """Whether a computer-use server is configured."""
        return self.computer_use_mcp_url is not None or COMPUTER_USE in self._mcp

    @property
    def builds_in_pods(self) -> bool:
        """Whether skills are built in pods: the flag is on, and there is a server."""
        return self.use_skill_creator_workflow and self.has_pods

    @property
    def writes_back(self) -> bool:
        """Whether what was learnt is written back to the platform."""
        wanted = self.platform_write_back
        return self.supabase_url is not None if wanted is None else wanted

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value

    @field_validator("skill_api_base_url")
    @classmethod
    def _derive_base(cls, value: str | None, info: ValidationInfo) -> str | None:
        server: str | None = info.data.get("mcp_server_url")
        return server.removesuffix("/mcp") if value is None and server else value

    @field_validator("retry_max_seconds")
    @classmethod
    def _not_below_base(cls, value: float, info: ValidationInfo) -> float:
        if value < info.data.get("retry_base_seconds", 0):
            raise ValueError(Message("settings.below_base"))
        return value

    @field_validator("stalled_after_seconds")
    @classmethod
    def _above_heartbeat(cls, value: float, info: ValidationInfo) -> float:
        if value <= info.data.get("heartbeat_seconds", 0):
            raise ValueError(Message("settings.above_heartbeat"))
        return value

    @model_validator(mode="wrap")
    @classmethod
    def _note_ignored(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        settings = handler(data)
        raw = str(data.get("use_skill_creator_workflow", "")).strip()
        if raw.lower() not in ON | OFF:
            settings._warnings = (Message("settings.no_switch", value=raw),)
        return settings

    def require_model(self) -> str:
        """Return the model's name. Raises ConfigurationError if none is set."""
        if self.llm_model is None:
            raise ConfigurationError(Message("model.unset"), hint=Message("model.hint_offline"))
        return self.llm_model


def load_settings(
    overrides: Mapping[str, Override] | None = None, *, env_file: Path | None = Path(".env")
) -> Settings:
    """Read the environment over `.env` of the working directory, once; `overrides` win.

    Raises ConfigurationError that names every wrong setting and its fix.
    """
    given: dict[str, Any] = dict(overrides or {})
    try:
        settings = _with_servers(Settings(_env_file=env_file, **given), given, env_file)
        names = (name.upper() for name in Settings.model_fields)
        settings._warnings += name_warnings(names, os.environ, env_file)
        settings._variables = _variables(env_file)
        _keep_secrets(settings, os.environ)
    except ValidationError as error:
        lines = [_problem(detail) for detail in error.errors(include_url=False)]
        raise ConfigurationError(joined(lines, "\n"), hint=Message("settings.hint")) from None
    except UnicodeDecodeError:
        raise ConfigurationError(
            Message("file.not_utf8", path=env_file or ".env"),
            hint=Message("hint.utf8"),
        ) from None
    return settings


def secret_named(name: str, env_file: Path | None = Path(".env")) -> SecretStr | None:
    """Return the secret in a variable that skill-worker.yaml names; None if it is not set."""
    from dotenv import dotenv_values

    found = os.environ.get(name) or (dotenv_values(env_file).get(name) if env_file else None)
    if not found:
        return None
    keep_secret(found)
    return SecretStr(found)


def _keep_secrets(settings: Settings, environment: Mapping[str, str]) -> None:
    """Have keys and passwords masked: those of settings, and those that libraries read."""
    for name in Settings.model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            secret = value.get_secret_value()
            if "://" not in secret:
                keep_secret(secret)
        if isinstance(value, SecretStr | str):
            _keep_password(value if isinstance(value, str) else value.get_secret_value())
    given = [environment]
    for entry in settings.mcp_entries.values():
        given += [entry.headers, entry.env]
    if headers := settings.otel_exporter_otlp_headers:
        pairs = (pair.partition("=") for pair in headers.get_secret_value().split(","))
        given += [{"authorization": unquote(text)} for _, _, text in pairs]
    for name, text in chain.from_iterable(one.items() for one in given):
        if name.upper().replace("-", "_").endswith(_NAMES_OF_SECRETS):
            keep_secret(text.strip().removeprefix("Bearer "))


def _keep_password(url: str) -> None:
    """Have the password of an address masked, as it is written there and as it is meant."""
    try:
        password = urlsplit(url).password if "://" in url else None
    except ValueError:
        return
    if password:
        keep_secret(password)
        keep_secret(unquote(password))


def _variables(env_file: Path | None) -> Mapping[str, str | None]:
    from dotenv import dotenv_values

    return {**(dotenv_values(env_file) if env_file else {}), **os.environ}


def _with_servers(settings: Settings, given: dict[str, Any], env_file: Path | None) -> Settings:
    """Return the settings with the servers of MCP_SERVERS. Raises ConfigurationError."""
    if settings.mcp_servers is None:
        return settings
    names = (settings.mcp_server_name, COMPUTER_USE)
    try:
        found = read_mcp_servers(
            settings.mcp_servers.get_secret_value(), names, _variables(env_file)
        )
    except ValueError as error:
        example = (Settings.model_fields["mcp_servers"].examples or [""])[0]
        raise ConfigurationError(
            Message("settings.wrong", name="MCP_SERVERS", why=said(error), example=example),
            hint=Message("settings.hint"),
        ) from None
    skills = found.wanted.get(settings.mcp_server_name)
    if settings.skill_api_base_url is None and skills and (skills.url or "").endswith("/mcp"):
        base = {"skill_api_base_url": (skills.url or "").removesuffix("/mcp")}
        settings = Settings(_env_file=env_file, **{**given, **base})
    settings._mcp = found.wanted
    for name in found.others:
        if meant := _meant(name, [wanted.upper() for wanted in names]):
            settings._warnings += (Message("settings.mcp_name", name=name, meant=meant.lower()),)
    return settings


def _problem(detail: ErrorDetails) -> str:
    name = str(detail["loc"][0])
    example = (Settings.model_fields[name].examples or [""])[0]
    ours = detail.get("ctx", {}).get("error")
    reason = said(ours) if isinstance(ours, ValueError) else detail["msg"]
    if not isinstance(reason, Message):
        reason = reason[:1].lower() + reason[1:]
    return Message("settings.wrong", name=name.upper(), why=reason, example=example)
