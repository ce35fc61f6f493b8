"""How skill-worker.yaml names plug-ins: by name, each with what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, JsonValue

from core.domain.messages import Message

Options = Mapping[str, JsonValue]
Plugins = Mapping[str, Options | None]


def _one(chosen: Plugins) -> Plugins:
    if len(chosen) != 1:
        raise ValueError(Message("plugins.one", n=len(chosen)))
    return chosen


# A name alone will do for one that takes nothing.
OnePlugin = Annotated[
    Plugins,
    BeforeValidator(lambda given: {given: None} if isinstance(given, str) else given),
    AfterValidator(_one),
]
