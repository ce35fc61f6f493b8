"""The only reader of the environment: every setting, its default, its check and its fix."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.errors import ConfigurationError
from core.settings_file import name_warnings
from core.settings_types import (
    OFF,
    ON,
    Count,
    Seconds,
    Url,
    absolute,
    default_home,
    flag,
    postgres_url,
)

OFFLINE_MODEL = "offline"
Override = str | int | float | bool | Path | None


class Settings(BaseSettings):
    """All settings, frozen. A field's upper-case name is its environment variable.

    `description` is what the reference says of it, `examples[0]` a value that works.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_file_encoding="utf-8-sig", env_ignore_empty=True
    )

    skill_worker_home: Annotated[Path, AfterValidator(absolute)] = Field(
        default_factory=default_home,
        description="Folder for the embedded PostgreSQL, the embedded skill server and logs.",
        examples=["/srv/skill-worker"],
    )
    database_url: Annotated[SecretStr, AfterValidator(postgres_url)] | None = Field(
        default=None,
        description="PostgreSQL to use. Unset: an embedded PostgreSQL under SKILL_WORKER_HOME.",
        examples=["postgresql://user:password@localhost:5432/skills"],
    )
    llm_model: str | None = Field(
        default=None,
        description="Chat model in LangChain's form. Needed by every command that asks a model.",
        examples=["openai:gpt-4o"],
    )
    llm_proxy_url: Url | None = Field(
        default=None,
        description="Base address of an OpenAI-compatible proxy that serves LLM_MODEL.",
        examples=["http://localhost:4000/v1"],
    )
    llm_proxy_api_key: SecretStr | None = Field(
        default=None, description="Key for LLM_PROXY_URL.", examples=["sk-..."]
    )
    llm_timeout_seconds: Seconds = Field(
        default=120, description="Longest wait for one model call.", examples=[120]
    )
    llm_max_retries: Annotated[int, Field(ge=0, le=20)] = Field(
        default=2,
        description="Times one model call is repeated at once after a passing failure.",
        examples=[2],
    )
    react_max_iterations: Annotated[int, Field(ge=1, le=500)] = Field(
        default=50, description="Model calls one ReAct run may make.", examples=[50]
    )
    author_max_rounds: Annotated[int, Field(ge=1, le=20)] = Field(
        default=3,
        description="Times the skill author may answer before its skill counts as invalid.",
        examples=[3],
    )
    mcp_server_url: Url | None = Field(
        default=None,
        description="The claude-skills MCP server. Unset: the embedded skill server.",
        examples=["http://localhost:8765/mcp"],
    )
    mcp_server_name: Annotated[str, Field(min_length=1)] = Field(
        default="claude-skills",
        description="Name of the claude-skills connection.",
        examples=["claude-skills"],
    )
    mcp_server_token: SecretStr | None = Field(
        default=None, description="Bearer token for MCP_SERVER_URL.", examples=["s3cret"]
    )
    mcp_timeout_seconds: Seconds = Field(
        default=60, description="Longest wait for one call of an MCP server.", examples=[60]
    )
    skill_api_base_url: Url | None = Field(
        default=None,
        validate_default=True,
        description="Base address of the skill HTTP API. Unset: MCP_SERVER_URL less `/mcp`.",
        examples=["http://localhost:8765"],
    )
    skill_api_token: SecretStr | None = Field(
        default=None, description="Bearer token for the skill HTTP API.", examples=["s3cret"]
    )
    skill_api_timeout_seconds: Seconds = Field(
        default=30, description="Longest wait for one call of the skill HTTP API.", examples=[30]
    )
    use_skill_creator_workflow: Annotated[bool, BeforeValidator(flag)] = Field(
        default=False,
        description="Build skills in a sandbox with skill-creator. `true`, `1` or `yes` is on.",
        examples=["true"],
    )
    computer_use_mcp_url: Url | None = Field(
        default=None,
        description="The computer-use MCP server that gives pods. Unset: skills go out over HTTP.",
        examples=["http://localhost:8766/mcp"],
    )
    computer_use_mcp_token: SecretStr | None = Field(
        default=None, description="Bearer token for COMPUTER_USE_MCP_URL.", examples=["s3cret"]
    )
    supabase_url: Url | None = Field(
        default=None,
        description="Supabase project that holds feedback. Read, but not used yet.",
        examples=["https://project.supabase.co"],
    )
    supabase_key: SecretStr | None = Field(
        default=None,
        description="Key for SUPABASE_URL. Read, but not used yet.",
        examples=["ey..."],
    )
    poll_interval_seconds: Seconds = Field(
        default=7,
        description="Pause between two fetches from sources that cannot notify.",
        examples=[7],
    )
    worker_concurrency: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=4, description="Pieces of feedback worked on at the same time.", examples=[4]
    )
    max_attempts: Annotated[int, Field(ge=1, le=100)] = Field(
        default=10, description="Starts of one piece of feedback before it is dead.", examples=[10]
    )
    retry_base_seconds: Seconds = Field(
        default=2, description="Wait before the second attempt; it doubles.", examples=[2]
    )
    retry_max_seconds: Seconds = Field(
        default=300,
        validate_default=True,
        description="Longest wait between two attempts. At least RETRY_BASE_SECONDS.",
        examples=[300],
    )
    shutdown_grace_seconds: Seconds = Field(
        default=30,
        description="Time that running feedback gets to end after the first signal.",
        examples=[30],
    )
    heartbeat_seconds: Seconds = Field(
        default=5, description="Time between two signs of life of a worker.", examples=[5]
    )
    stalled_after_seconds: Seconds = Field(
        default=30,
        validate_default=True,
        description="Silence after which a worker counts as dead. More than HEARTBEAT_SECONDS.",
        examples=[30],
    )
    sweep_seconds: Seconds = Field(
        default=30,
        description="Time between two searches for work that a dead worker left.",
        examples=[30],
    )
    feedback_max_chars: Count = Field(
        default=100_000, description="Longest feedback that is taken in.", examples=[100_000]
    )
    search_limit: Annotated[int, Field(ge=1, le=50)] = Field(
        default=5, description="Hits of a search where none is asked for.", examples=[5]
    )
    skill_refresh_seconds: Seconds = Field(
        default=60,
        description="Age after which the index looks again at skills written by others.",
        examples=[60],
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Lowest level that is logged.", examples=["info"]
    )
    log_format: Literal["auto", "console", "json"] = Field(
        default="auto",
        description="`auto`: plain lines, and of `run` and `serve` `console` on a terminal and"
        " `json` elsewhere.",
        examples=["json"],
    )

    _warnings: tuple[str, ...] = PrivateAttr(default=())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was ignored while reading, one sentence each."""
        return self._warnings

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
            raise ValueError("it is less than RETRY_BASE_SECONDS")
        return value

    @field_validator("stalled_after_seconds")
    @classmethod
    def _above_heartbeat(cls, value: float, info: ValidationInfo) -> float:
        if value <= info.data.get("heartbeat_seconds", 0):
            raise ValueError("it is not more than HEARTBEAT_SECONDS")
        return value

    @model_validator(mode="wrap")
    @classmethod
    def _note_ignored(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        settings = handler(data)
        raw = str(data.get("use_skill_creator_workflow", "")).strip()
        if raw.lower() not in ON | OFF:
            settings._warnings = (
                f"USE_SKILL_CREATOR_WORKFLOW={raw!r} is neither true nor false: it counts as off",
            )
        return settings

    def require_model(self) -> str:
        """Give the model's name. Raises ConfigurationError where none is set."""
        if self.llm_model is None:
            raise ConfigurationError(
                "LLM_MODEL is not set",
                hint="set LLM_MODEL, e.g. LLM_MODEL=openai:gpt-4o, or try it with --offline",
            )
        return self.llm_model


def load_settings(
    overrides: Mapping[str, Override] | None = None, *, env_file: Path | None = Path(".env")
) -> Settings:
    """Read the environment over `.env` of the working directory, once; `overrides` win.

    Raises ConfigurationError that names every wrong setting with its fix.
    """
    given: dict[str, Any] = dict(overrides or {})
    try:
        settings = Settings(_env_file=env_file, **given)
        names = (name.upper() for name in Settings.model_fields)
        settings._warnings += name_warnings(names, os.environ, env_file)
    except ValidationError as error:
        lines = [_problem(detail) for detail in error.errors(include_url=False)]
        raise ConfigurationError(
            "\n".join(lines),
            hint="mend them in the environment or in .env, then look with `skill-worker doctor`",
        ) from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{env_file} is not UTF-8 text", hint="save it as UTF-8") from None
    return settings


def _problem(detail: ErrorDetails) -> str:
    name = str(detail["loc"][0])
    example = (Settings.model_fields[name].examples or [""])[0]
    reason = detail["msg"].removeprefix("Value error, ")
    reason = reason[:1].lower() + reason[1:]
    return f"{name.upper()}: {reason}. Fix: e.g. {name.upper()}={example}, or leave it out."
