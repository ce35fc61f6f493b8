"""The screens of plug-ins, each in a thread of its own: what hangs there holds up nothing here."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import structlog

from core.app.bootstrap.plugins import (
    HOOKS,
    SCREENS,
    Loaded,
    Named,
    broken,
    load,
    named_plugins,
    opened,
)
from core.app.bootstrap.stores import Parts
from core.app.config_file import load_config
from core.app.settings import Settings
from core.domain.errors import ConfigurationError, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import Addition, Found
from core.domain.models.plugins import Options
from core.domain.ports import TextScreen
from core.safety.config import FindingClass
from core.safety.plugins import Ask, PluginScreens, own_masks

log = structlog.get_logger(__name__)

OPEN_SECONDS = 60.0
END_SECONDS = 2.0
GRACE_SECONDS = 0.1  # in which what was given up may notice it


@asynccontextmanager
async def open_screens(settings: Settings) -> AsyncIterator[PluginScreens | None]:
    """Yield the screens of plug-ins, which open at first use, and masks of one's own.

    None where there are neither.
    """
    config = load_config(settings).screen
    masks = own_masks(config)
    if not config.plugins and masks is None:
        yield None
        return
    residents = {
        name: _Resident(settings, name, options) for name, options in config.plugins.items()
    }

    async def asks() -> Mapping[str, Ask]:
        for resident in residents.values():
            await resident.open()
        found: dict[str, Ask] = {name: resident.find for name, resident in residents.items()}
        return found | ({FindingClass.EXTRA: masks} if masks else {})

    try:
        yield PluginScreens(asks, config)
    finally:
        for resident in residents.values():
            await resident.close()


@asynccontextmanager
async def with_screens(parts: Parts) -> AsyncIterator[Parts]:
    """Yield the parts with the screens of plug-ins."""
    async with open_screens(parts.settings) as screens:
        yield replace(parts, screens=screens)


async def see_plugins(settings: Settings) -> Sequence[Loaded]:
    """Load all plug-ins that skill-worker.yaml names; open its screens and hooks, asking nothing.

    Raises ConfigurationError.
    """
    named = list(named_plugins(settings))
    loaded = {one: load(one) for one, _ in named}
    for one, options in named:
        if one.group == HOOKS.name:
            async with opened(settings, HOOKS, one.name, options):
                pass
    async with open_screens(settings) as screens:
        if screens:
            await screens.check()
    return [*loaded.values()]


class _Resident:
    """A screen in an event loop and a thread of its own, which does not keep the process alive."""

    def __init__(self, settings: Settings, name: str, options: Options | None) -> None:
        self._settings = settings
        self._name = name
        self._options = options
        self._opening = asyncio.Lock()
        self._ready: Future[TextScreen] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None
        self._given_up: list[threading.Event] = []
        self._thread = threading.Thread(target=self._run, name=f"screen {name}", daemon=True)

    async def open(self) -> None:
        """Open it, once. Raises ConfigurationError, and what opening it raises of ours."""
        async with self._opening:
            if not self._thread.ident:
                self._thread.start()
            waiting = asyncio.shield(asyncio.wrap_future(self._ready))
            try:
                await asyncio.wait_for(waiting, OPEN_SECONDS)
            except TimeoutError:
                said = Message(
                    "plugins.slow", group=SCREENS.name, name=self._name, seconds=OPEN_SECONDS
                )
                raise ConfigurationError(said) from None

    async def find(self, texts: Sequence[Addition]) -> Sequence[Found]:
        """Ask the screen. May raise whatever it raises, but no cancellation of its own."""
        assert self._loop is not None
        await self._see_free()
        done = threading.Event()
        asked = asyncio.run_coroutine_threadsafe(self._asked(texts, done), self._loop)
        try:
            found = await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            self._given_up.append(done)
            raise
        if isinstance(found, Exception):
            raise found
        return found

    async def close(self) -> None:
        """End it; one that hangs is left behind."""
        if self._loop is None or self._over is None:
            return
        with suppress(RuntimeError):  # it has ended already, as one that did not open
            self._loop.call_soon_threadsafe(self._over.set)
        await asyncio.to_thread(self._thread.join, END_SECONDS)

    async def _see_free(self) -> None:
        """Raise TimeoutError while it is still at something that was given up."""
        while self._given_up:
            if not await asyncio.to_thread(self._given_up[0].wait, GRACE_SECONDS):
                raise TimeoutError
            self._given_up.pop(0)

    async def _asked(
        self, texts: Sequence[Addition], done: threading.Event
    ) -> Sequence[Found] | Exception:
        screen = self._ready.result()
        try:
            return await screen.find(texts)
        except Exception as error:  # noqa: BLE001 - raised again where it was asked
            return error
        except BaseException as error:  # noqa: BLE001 - else it would end our side too
            return RuntimeError(type(error).__name__).with_traceback(error.__traceback__)
        finally:
            done.set()

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:
            if self._ready.done():
                log.exception("screen.broke", screen=self._name)
            elif isinstance(error, SkillWorkerError):
                self._ready.set_exception(error)
            else:
                self._ready.set_exception(broken(Named(SCREENS.name, self._name), "", error))

    async def _live(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        async with opened(self._settings, SCREENS, self._name, self._options) as screen:
            self._ready.set_result(screen)
            await self._over.wait()
