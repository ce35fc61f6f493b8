"""The settings in groups: defaults, limits, and their texts in the reference."""

from __future__ import annotations

import os
import re
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from platformdirs import user_data_path
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings

from core.domain.messages import Message

ON = {"true", "1", "yes"}
OFF = {"", "false", "0", "no"}
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:]+")


def default_home() -> Path:
    """Return the default home: under `/var/lib` as root, else in the user's data directory."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/skill-worker")
    return user_data_path("skill-worker", appauthor=False)


def flag(value: object) -> bool:
    """Whether a text switches something on."""
    return str(value).strip().lower() in ON


def absolute(value: Path) -> Path:
    """Return a path that does not depend on the working directory."""
    return Path(os.path.abspath(value.expanduser()))


def http_url(value: str) -> str:
    """Return an address without a trailing slash. Raises ValueError if malformed."""
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(Message("settings.no_http"))
    return value.rstrip("/")


def host_names(value: str) -> str:
    """Return host names, separated by commas. Raises ValueError if one is malformed."""
    names = [name.strip() for name in value.split(",")]
    for name in names:
        if not _HOST.fullmatch(name):
            raise ValueError(Message("settings.no_host", name=name))
    return ",".join(names)


def zone_name(value: str) -> str:
    """Return the name of a time zone. Raises ValueError if this machine knows none of that name."""
    try:
        ZoneInfo(value)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(Message("settings.no_zone", name=value)) from error
    return value


def postgres_url(value: SecretStr) -> SecretStr:
    """Return a PostgreSQL address. Raises ValueError if malformed."""
    if urlsplit(value.get_secret_value()).scheme not in {"postgresql", "postgres"}:
        raise ValueError(Message("settings.no_postgres"))
    return value


Url = Annotated[str, AfterValidator(http_url)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]

Text = Annotated[str, Field(min_length=1)]


class CostSettings(BaseSettings):
    """Prices and budgets."""

    model_prices: Text | None = Field(
        default=None,
        description="Money for a million tokens by model: a YAML file, or YAML or JSON itself.",
        examples=["{gpt-4o: {input: 2.50, output: 10, cached_input: 1.25}}"],
    )
    price_currency: Annotated[str, Field(pattern=r"^\S{1,12}$")] = Field(
        default="USD",
        description="Currency of MODEL_PRICES and of the budgets.",
        examples=["USD"],
    )
    daily_budget: Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Money that each tenant may spend on model calls in a day (UTC)."
        " Unset: without limit.",
        examples=["20"],
    )
    daily_budgets: Text | None = Field(
        default=None,
        description="The same by tenant, which wins over DAILY_BUDGET; `none` is without limit."
        " A YAML file, or YAML or JSON itself.",
        examples=["{acme: 50, lab: none}"],
    )


class ServingSettings(BaseSettings):
    """Where a worker listens, and under which names."""

    health_host: Annotated[str, Field(min_length=1)] = Field(
        default="127.0.0.1",
        description="Address on which `run` answers /healthz, /readyz and /metrics, and with --api"
        " or --console the API.",
        examples=["127.0.0.1"],
    )
    health_port: Annotated[int, Field(ge=0, le=65_535)] | None = Field(
        default=None,
        description="Port for the same; 0 takes a free one. Unset: 8720, or a free one if taken.",
        examples=[8720],
    )
    api_hosts: Annotated[str, AfterValidator(host_names)] | None = Field(
        default=None,
        description="Names, with commas between, that API and console may be called by beside those"
        " of HEALTH_HOST. Unset: none on loopback, any beyond it.",
        examples=["console.example.com"],
    )


class PlaceSettings(BaseSettings):
    """Where data is stored."""

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
    database_migration_url: Annotated[SecretStr, AfterValidator(postgres_url)] | None = Field(
        default=None,
        description="The same database for its owner, as whom `db migrate` logs in: it gives the"
        " role of DATABASE_URL the rights of a worker, no more. Unset: one role does both.",
        examples=["postgresql://owner:password@localhost:5432/skills"],
    )


class ModelSettings(BaseSettings):
    """The language model: which one, timeouts, limits."""

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
    llm_max_concurrency: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None,
        description="Calls of the model that run at the same time, over all workers.",
        examples=[32],
    )
    llm_requests_per_minute: Annotated[float, Field(gt=0, le=1_000_000)] | None = Field(
        default=None,
        description="Calls of the model that begin in a minute, over all workers.",
        examples=[500],
    )
    llm_breaker_failures: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=5,
        description="Failed model calls in a row, over all workers, that hold all work back.",
        examples=[5],
    )
    llm_probe_seconds: Seconds = Field(
        default=15,
        description="Time between two looks whether a model that failed answers again.",
        examples=[15],
    )
    react_max_iterations: Annotated[int, Field(ge=1, le=500)] = Field(
        default=50, description="Model calls one ReAct run may make.", examples=[50]
    )
    author_max_rounds: Annotated[int, Field(ge=1, le=20)] = Field(
        default=3,
        description="Times the skill author may answer before its skill counts as invalid.",
        examples=[3],
    )


class ServerSettings(BaseSettings):
    """The skill API and the MCP servers."""

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
    mcp_servers: SecretStr | None = Field(
        default=None,
        description="MCP servers as in `.mcp.json`: the path of such a file, or its JSON. The"
        " entries named as MCP_SERVER_NAME says and `computer-use` replace the addresses and"
        " tokens set here.",
        examples=['{"mcpServers": {"computer-use": {"url": "http://localhost:8766/mcp"}}}'],
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
        default=None,
        description="Bearer token for the skill HTTP API. Unset: the embedded server makes one.",
        examples=["s3cret"],
    )
    skill_api_timeout_seconds: Seconds = Field(
        default=30, description="Longest wait for one call of the skill HTTP API.", examples=[30]
    )
    skill_api_max_retries: Annotated[int, Field(ge=0, le=20)] = Field(
        default=4,
        description="Times one call of the skill HTTP API is repeated after a passing failure.",
        examples=[4],
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
        default=None,
        description="Bearer token for COMPUTER_USE_MCP_URL. Unset: that of a server of this home.",
        examples=["s3cret"],
    )


class WorkerSettings(BaseSettings):
    """Where feedback comes from, and how workers share it, stop and report."""

    supabase_url: Url | None = Field(
        default=None,
        description="Supabase (PostgREST) project that feedback is fetched from.",
        examples=["https://project.supabase.co"],
    )
    supabase_key: SecretStr | None = Field(
        default=None,
        description="Key for SUPABASE_URL, of a role that reads and updates rows of all tenants.",
        examples=["ey..."],
    )
    platform_write_back: bool | None = Field(
        default=None,
        description="Whether what was learnt is written back to the tables of SUPABASE_URL. Unset:"
        " true where that is set.",
        examples=["false"],
    )
    poll_interval_seconds: Seconds = Field(
        default=7,
        description="Pause between two fetches from sources that cannot notify.",
        examples=[7],
    )
    worker_name: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None,
        description="Name of this worker in logs. Unset: its host and process. Need not be unique.",
        examples=["worker-1"],
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
        default=2,
        description="Time between two looks for workers that have died.",
        examples=[2],
    )
    reconcile_seconds: Seconds = Field(
        default=30,
        description="Time between two searches for feedback without a job and changes half done.",
        examples=[30],
    )
    retention_days: Annotated[float, Field(ge=0, le=36_500, allow_inf_nan=False)] = Field(
        default=7,
        description="Days that the threads, model replies and events of ended feedback are kept.",
        examples=[7],
    )


class KnowledgeSettings(BaseSettings):
    """How knowledge is searched, and how skills are kept consistent."""

    embedding_model: str | None = Field(
        default=None,
        description="Embedding model that search uses beside its words: `local` (the extra"
        " `meaning`, without a key) or one in LangChain's form. Unset: words alone.",
        examples=["local"],
    )
    embedding_timeout_seconds: Seconds = Field(
        default=5,
        description="Longest wait for the embedding of a query; past it words alone decide.",
        examples=[5],
    )
    skill_shrink_percent: Annotated[float, Field(ge=0, le=100)] = Field(
        default=20,
        description="Share of a skill's text that an update in EXTEND or REFINE may drop.",
        examples=[20],
    )
    related_skills_max_chars: Count = Field(
        default=12_000,
        description="Characters of related skills that the skill author is shown, in all.",
        examples=[12_000],
    )
    agent_descriptions_max_chars: Count = Field(
        default=15_000,
        description="Sum of the descriptions of an agent's skills above which a change warns.",
        examples=[15_000],
    )
    setup_new_agents: Annotated[bool, BeforeValidator(flag)] = Field(
        default=False,
        description="Propose first knowledge from goal and persona when an agent is first seen.",
        examples=["true"],
    )


class ReviewSettings(BaseSettings):
    """Which changes are held, and for how long."""

    review_policy: Annotated[str, Field(min_length=1)] = Field(
        default="auto",
        description="What becomes of changes that no rule decides: `auto` (applied), `risky`,"
        " `strict` and `all` (some, more or all wait for a person), `locked` (refused); or a file"
        " of rules.",
        examples=["risky"],
    )
    skill_worker_config: Path | None = Field(
        default=None,
        description="File of rules and further parts. Unset: `skill-worker.yaml` of the working"
        " directory, if there is one.",
        examples=["/etc/skill-worker/skill-worker.yaml"],
    )
    screen: Literal["hold", "note"] = Field(
        default="hold",
        description="What becomes of a change that the screen finds something harmful in: it waits"
        " for a person, under every policy, or it is only told (`note`).",
        examples=["note"],
    )
    safety_keep_raw: Annotated[bool, BeforeValidator(flag)] = Field(
        default=False,
        description="Keep secrets and numbers of persons in what is stored. They are masked"
        " otherwise.",
        examples=["true"],
    )
    review_remind_hours: Annotated[float, Field(gt=0, le=876_000)] | None = Field(
        default=None,
        description="Hours after which a change that waits is named in the log, again and again.",
        examples=[24],
    )
    review_expire_days: Annotated[float, Field(gt=0, le=36_500)] | None = Field(
        default=None,
        description="Days after which a change that waits is rejected. Unset: it waits for ever.",
        examples=[30],
    )


class LimitSettings(BaseSettings):
    """Sizes, search and logs."""

    feedback_max_chars: Count = Field(
        default=100_000, description="Longest feedback that is taken in.", examples=[100_000]
    )
    time_zone: Annotated[str, AfterValidator(zone_name)] = Field(
        default="UTC",
        description="Time zone in which the model is told times, and whose midnight ends a day such"
        " as the last of a month.",
        examples=["Asia/Seoul"],
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
