"""`skill-worker.yaml`: one file for all that is no setting, checked as a whole at start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args, get_origin

from pydantic import BaseModel, Field, PrivateAttr

from core.app.settings import Settings
from core.changes.audit import AuditRules
from core.changes.cases.config import CaseRules
from core.changes.lessons.config import LessonRules
from core.changes.policy.review_policy import PRESETS, ReviewPolicy
from core.delivery.hooks import HookList
from core.delivery.platform_names import PlatformNames
from core.domain.errors import ConfigurationError
from core.domain.input_formats.yaml_text import fields_of, model_of_yaml, models_in, read_yaml_file
from core.domain.messages import Message, joined, said
from core.domain.models.access import Limits, SignIn, ToolMark
from core.domain.models.base import Model
from core.domain.models.plugins import OnePlugin, Plugins
from core.knowledge.usage.config import EffectRules
from core.safety.config import DEFAULT, ScreenConfig
from core.skills.published.index_file import SkillsConfig

DEFAULT_NAME = "skill-worker.yaml"
_POLICY, _CONFIG = "REVIEW_POLICY", "SKILL_WORKER_CONFIG"


class StoreChoice(Model):
    """Which plug-in keeps what, in the place of what the worker has itself."""

    skills: OnePlugin | None = None


class ConfigFile(ReviewPolicy):
    """All of the file. The policy is its top level; every other part is a section.

    Each section's model belongs to the room that uses it. `mcp_tools` marks the tools of MCP
    servers where these say nothing of them, or something else: by server, then by tool.
    `console_url` is where people reach the console, for links in messages.
    """

    mcp_tools: Mapping[str, Mapping[str, ToolMark]] = {}
    screen: ScreenConfig = DEFAULT
    limits: Limits = Limits()
    sign_in: SignIn | None = None
    hooks: HookList = ()
    console_url: str | None = Field(default=None, pattern=r"^https?://")
    audit: AuditRules = AuditRules()
    effect: EffectRules = EffectRules()
    lessons: LessonRules = LessonRules()
    cases: CaseRules = CaseRules()
    sources: Plugins = Field(default_factory=dict)
    stores: StoreChoice = StoreChoice()
    kinds: tuple[str, ...] = ()
    platform: PlatformNames = Field(default={})
    skills: SkillsConfig = SkillsConfig()

    _source: ConfigSource | None = PrivateAttr(default=None)

    @property
    def source(self) -> ConfigSource | None:
        """The file it was read from; None where there is none."""
        return self._source


@dataclass(frozen=True)
class ConfigSource:
    """A file, and the setting that names it: "" for the one of the working directory."""

    path: Path
    setting: str

    @property
    def shown(self) -> str:
        """How the file is named in errors: as the setting that has to be mended says it."""
        return f"{self.setting}={self.path}" if self.setting else str(self.path)


def load_config(settings: Settings) -> ConfigFile:
    """Load the file of the settings, under the mode that REVIEW_POLICY names.

    The file is SKILL_WORKER_CONFIG, else a file that REVIEW_POLICY names, else `skill-worker.yaml`
    of the working directory if there is one. Raises ConfigurationError.
    """
    mode = settings.review_policy if settings.review_policy in PRESETS else None
    source = _source(settings, mode)
    found = ConfigFile() if source is None else read_config(source)
    return found if mode is None else found.under(mode)


def read_config(source: ConfigSource) -> ConfigFile:
    """Read one file by itself. Raises ConfigurationError, with each problem's line and field."""
    try:
        text = read_yaml_file(source.path.expanduser())
        found = model_of_yaml(ConfigFile, text, may_be_empty=True)
    except ValueError as error:
        raise ConfigurationError(
            Message("config_file.wrong", file=source.shown, why=said(error)), hint=_hint(source)
        ) from None
    found._source = source
    return found


def _hint(source: ConfigSource) -> Message:
    if source.setting == _POLICY:
        return Message("policy.hint", presets=", ".join(PRESETS))
    return Message("config_file.hint")


def _source(settings: Settings, mode: str | None) -> ConfigSource | None:
    named = settings.skill_worker_config
    if mode is None:
        policy = Path(settings.review_policy).expanduser()
        if named and named.expanduser() != policy:
            raise ConfigurationError(
                Message("config_file.two", policy=policy, config=named),
                hint=Message("config_file.one"),
            )
        return ConfigSource(Path(settings.review_policy), _POLICY)
    if named is not None:
        return ConfigSource(named, _CONFIG)
    here = Path(DEFAULT_NAME)
    return ConfigSource(here, "") if here.is_file() else None


def config_in_words(config: ConfigFile) -> str:
    """Return which file is in force and what it has, on one line."""
    mode = config.mode
    if config.source is None:
        return Message("config_file.none", mode=mode or PRESETS[0])
    own = len(config.own_rules)
    sections = sorted(config.model_fields_set - {"rules", "otherwise"})
    told = [Message("config_file.in_force", file=config.source.path, n=own)]
    told += [Message("config_file.sections", names=", ".join(sections))] if sections else []
    told += [Message("config_file.mode", mode=mode)] if mode else []
    return joined(told, ", ")


def places(model: type[BaseModel], above: str = "") -> Iterator[str]:
    """Yield every place of a file, as `rules[].when.kind`; names that are free are `*`."""
    for name, kind in fields_of(model).items():
        place = f"{above}{name}"
        yield place
        for inner in models_in(kind):
            yield from places(inner, f"{place}{_step(kind)}.")


def _step(kind: object) -> str:
    """Return how one of several is written: `[]` in a list, `.*` under a name that is free."""
    for one in (kind, *get_args(kind)):
        origin = get_origin(one)
        if origin in {tuple, list}:
            return "[]"
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return ".*"
    return ""
