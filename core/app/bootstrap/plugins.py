"""Plug-ins: what installed packages add by entry points, loaded in one way for all groups."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, NamedTuple, TypeVar

from pydantic import ValidationError

from core.app.config_file import load_config
from core.app.settings import Settings
from core.domain.errors import ConfigurationError, SkillWorkerError
from core.domain.messages import Message, joined
from core.domain.models.plugins import Options, Plugins
from core.domain.ports import Asker, FeedbackSource, SkillStore, TextScreen

P = TypeVar("P")


@dataclass(frozen=True)
class Group(Generic[P]):
    """A group of entry points, and the port that what its plug-ins open stands behind."""

    name: str
    port: type[object]

    @property
    def members(self) -> Sequence[str]:
        """The names that the port asks for."""
        return [name for name in vars(self.port) if not name.startswith("_")]


SOURCES = Group[FeedbackSource]("skill_worker.sources", FeedbackSource)
SCREENS = Group[TextScreen]("skill_worker.screens", TextScreen)
HOOKS = Group[Asker]("skill_worker.hooks", Asker)
STORES = Group[SkillStore]("skill_worker.stores", SkillStore)
KINDS = "skill_worker.kinds"  # classes, which nothing opens


class Named(NamedTuple):
    """A plug-in that skill-worker.yaml names."""

    group: str
    name: str


class Loaded(NamedTuple):
    """A plug-in that is imported: what opens it, and where it is from."""

    named: Named
    place: str
    package: str
    opens: Callable[..., object]

    def __str__(self) -> str:
        kind = self.named.group.removeprefix("skill_worker.")
        return f"{self.named.name} of {kind} ({self.package or self.place})"


def named_plugins(settings: Settings) -> Iterator[tuple[Named, Options | None]]:
    """Yield the plug-ins that skill-worker.yaml names, each with what it gives them.

    Raises ConfigurationError.
    """
    config = load_config(settings)
    chosen: list[tuple[str, Plugins]] = [
        (SOURCES.name, config.sources),
        (SCREENS.name, config.screen.plugins),
        *((HOOKS.name, hook.plugin) for hook in config.hooks if hook.plugin),
        (STORES.name, config.stores.skills or {}),
        (KINDS, dict.fromkeys(config.kinds)),
    ]
    for group, plugins in chosen:
        for name, options in plugins.items():
            yield Named(group, name), options


def load(named: Named) -> Loaded:
    """Import a plug-in of an installed package. Raises ConfigurationError."""
    group, name = named
    installed = sorted({entry.name for entry in entry_points(group=group)})
    found = {entry.value: entry for entry in entry_points(group=group, name=name)}
    if not found:
        hint = Message("plugins.none", group=group)
        if installed:
            hint = Message("plugins.installed", group=group, names=", ".join(installed))
        raise ConfigurationError(Message("plugins.no_such", group=group, name=name), hint=hint)
    if len(found) > 1:
        places = ", ".join(sorted(found))
        raise ConfigurationError(Message("plugins.several", group=group, name=name, places=places))
    (entry,) = found.values()
    try:
        opens = entry.load()
    except (Exception, SystemExit) as error:
        # Foreign code: whatever it raises, the worker says which plug-in it was.
        raise broken(named, entry.value, error) from error
    if not callable(opens):
        raise _unfit(named, entry.value, Message("plugins.no_function"))
    return Loaded(named, entry.value, _package(entry), opens)


@asynccontextmanager
async def opened(
    settings: Settings, group: Group[P], name: str, options: Options | None, *more: object
) -> AsyncIterator[P]:
    """Open a plug-in with what skill-worker.yaml gives it, and with `more`.

    Variables in its options are filled in. Raises ConfigurationError, also if what it opens lacks
    something of the port; errors of ours that opening raises go on.
    """
    named = Named(group.name, name)
    given = settings.expanded(name, options or {})
    loaded = load(named)
    async with AsyncExitStack() as stack:
        try:
            found = await stack.enter_async_context(_manager(loaded, given, *more))
        except SkillWorkerError:
            raise
        except ValidationError as error:
            raise _wrong_options(named, error) from None
        except (Exception, SystemExit) as error:
            raise broken(named, loaded.place, error) from error
        lacking = [member for member in group.members if not hasattr(found, member)]
        if lacking:
            why = Message("plugins.lacks", port=group.port.__name__, names=", ".join(lacking))
            raise _unfit(named, loaded.place, why)
        yield found  # type: ignore[misc]


def _manager(loaded: Loaded, given: Options, *more: object) -> AbstractAsyncContextManager[object]:
    made = loaded.opens(given, *more)
    if isinstance(made, AbstractAsyncContextManager):
        return made
    if inspect.iscoroutine(made):
        made.close()
    raise _unfit(loaded.named, loaded.place, Message("plugins.no_context"))


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""


def broken(named: Named, place: str, error: BaseException) -> ConfigurationError:
    """Return the error of a plug-in that cannot be loaded or opened."""
    why = f"{type(error).__name__}: {error}"
    told: Mapping[str, str] = {**named._asdict(), "place": place, "why": why}
    return ConfigurationError(Message("plugins.broken", **told))


def _unfit(named: Named, place: str, why: str) -> ConfigurationError:
    told: Mapping[str, str] = {**named._asdict(), "place": place, "why": why}
    return ConfigurationError(Message("plugins.unfit", **told), hint=Message("plugins.hint_unfit"))


def _wrong_options(named: Named, error: ValidationError) -> ConfigurationError:
    """Return what is wrong with the options: where and why, and nothing that they say."""
    told = [
        ": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"])))
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return ConfigurationError(
        Message("plugins.options", group=named.group, name=named.name, why=joined(told)),
        hint=Message("plugins.hint_options"),
    )
