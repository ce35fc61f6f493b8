"""What plug-ins of the groups `skill_worker.*` give, beside the ports that they stand behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from pydantic import JsonValue

from core.domain.models.deliveries import Notice, Sent
from core.domain.models.findings import Addition, Found
from core.domain.ports.knowledge import SkillStore


class TextScreen(Protocol):
    """A screen: it looks for what may do harm. It runs in a thread and event loop of its own."""

    async def find(self, texts: Sequence[Addition]) -> Sequence[Found]:
        """Return what is found in the texts; what it raises holds what they belong to."""


class OpenScreen(Protocol):
    """What an entry point of the group `skill_worker.screens` names: it opens a screen.

    `given` is what `screen.plugins` in `skill-worker.yaml` has under the entry point's name.
    Raises ConfigurationError, or pydantic's ValidationError.
    """

    def __call__(
        self, given: Mapping[str, JsonValue], /
    ) -> AbstractAsyncContextManager[TextScreen]:
        """Open the screen."""


class Asker(Protocol):
    """One kind of hook: it is given a notice, within the hook's time."""

    async def ask(self, notice: Notice) -> Sent:
        """Give notice, and return how that ended. May raise what it cannot foresee."""


class OpenHook(Protocol):
    """What an entry point of the group `skill_worker.hooks` names: it opens a hook.

    `given` is what `plugin` has under the entry point's name in one hook of `skill-worker.yaml`.
    Raises ConfigurationError, or pydantic's ValidationError.
    """

    def __call__(self, given: Mapping[str, JsonValue], /) -> AbstractAsyncContextManager[Asker]:
        """Open the hook."""


class OpenSkills(Protocol):
    """What an entry point of the group `skill_worker.stores` names: it opens a store of skills.

    `given` is what `stores.skills` in `skill-worker.yaml` has under the entry point's name. Raises
    ConfigurationError, or pydantic's ValidationError.
    """

    def __call__(
        self, given: Mapping[str, JsonValue], /
    ) -> AbstractAsyncContextManager[SkillStore]:
        """Open the store."""
