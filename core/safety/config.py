"""The section `screen:` of `skill-worker.yaml`: what each class of finding comes to here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from core.domain.messages import Message
from core.domain.models import ScreenSeverity
from core.domain.models.base import Model
from core.domain.models.plugins import Plugins
from core.domain.patterns import wrong_with


class FindingClass(StrEnum):
    """The classes of findings: the part of a finding's code before the dot."""

    HIDDEN_TEXT = "hidden_text"
    MODEL_INSTRUCTION = "model_instruction"
    FORGED = "forged"
    PAYEE = "payee"
    CONTROL = "control"
    CONCEALMENT = "concealment"
    DATA = "data"
    HARM = "harm"
    PERSONAL_ID = "personal_id"
    SECRET = "secret"  # noqa: S105
    CODE = "code"
    TOOLS = "tools"
    CONTACT = "contact"
    LINK = "link"
    THRESHOLD = "threshold"
    APPROVER = "approver"
    INTERFERENCE = "interference"
    EXTRA = "extra"


class ClassSetting(StrEnum):
    """What a class of findings comes to: held for a person, told, or not looked for."""

    HOLD = "hold"
    NOTE = "note"
    OFF = "off"


def _compiles(pattern: str) -> str:
    if why := wrong_with(pattern):
        raise ValueError(Message("screen.pattern_wrong", why=why))
    return pattern


AUTO, ON, OFF = "auto", "on", "off"
_SWITCHED = {True: ON, False: OFF}  # YAML reads a bare `on` as true


def _switched(value: object) -> object:
    return _SWITCHED[value] if isinstance(value, bool) else value


# `auto`, `on`, `off`, or the name of a model.
SecondLookSetting = Annotated[str, BeforeValidator(_switched), Field(min_length=1, max_length=200)]


class ExtraPattern(Model):
    """Something of one's own to look for: a regular expression, and what it comes to."""

    name: str = Field(min_length=1, max_length=60)
    pattern: Annotated[str, AfterValidator(_compiles)] = Field(min_length=1, max_length=500)
    severity: ScreenSeverity = ScreenSeverity.HOLD

    @property
    def masks(self) -> bool:
        """Whether what it matches is taken out before anything is stored."""
        return self.severity is ScreenSeverity.MASK

    @property
    def code(self) -> str:
        """Its name as the last part of a code, in the letters that codes have."""
        return re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_") or "pattern"


INTERFERENCE_JUDGED = "second_look.interference"  # what a model confirms of interference
# First parts of the codes of what is found otherwise.
TAKEN = {*FindingClass, "second_look"}
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,59}")


class ScreenConfig(Model):
    """How findings are judged here. Without it every class has its default.

    `classes` overrides the defaults; secrets are masked whatever it says, it decides only whether
    what had one waits. `allowed_hosts` are hosts that the code of skills may talk to, `own_hosts`
    those of one's own links, which are not told. Both take `*.example.com`. `wary_sources` are
    sources whose findings are all held. `second_look` asks a model too: with `auto` that of a
    worker that has a real one, with `on` without exception (what no model has seen is held), or
    the one named. The class `second_look.interference` is what that model confirms of
    interference: held by default, and with `off` it is not asked. `plugins` are screens of
    installed packages, each within `plugin_seconds`; their names are classes too, and so is
    each of their codes, as `NAME.CODE`.
    """

    classes: Mapping[str, ClassSetting] = Field(default_factory=dict)
    allowed_hosts: tuple[str, ...] = ()
    own_hosts: tuple[str, ...] = ()
    extra: tuple[ExtraPattern, ...] = ()
    wary_sources: tuple[str, ...] = ()
    second_look: SecondLookSetting = AUTO
    plugins: Plugins = Field(default_factory=dict)
    plugin_seconds: float = Field(default=10.0, gt=0, le=600)

    @model_validator(mode="after")
    def _fits(self) -> ScreenConfig:
        known = sorted({*FindingClass, INTERFERENCE_JUDGED, *self.plugins})
        for name in self._unknown(known):
            raise ValueError(Message("screen.no_class", name=name, known=", ".join(known)))
        for name in self.plugins:
            if name in TAKEN or not _NAME.fullmatch(name):
                raise ValueError(Message("screen.name_taken", name=name))
        return self

    def _unknown(self, known: list[str]) -> Iterator[str]:
        """Yield the keys of `classes` that are no class, nor a code of a plug-in."""
        for key in self.classes:
            name, dot, _ = key.partition(".")
            if key not in known and not (dot and name in self.plugins):
                yield key


DEFAULT = ScreenConfig()
