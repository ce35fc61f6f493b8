"""What `run --api` and `run --console` serve beside the worker's health pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from core.domain.errors import ConfigurationError
from core.domain.messages import Message
from core.entrypoints.cli.output import talk

if TYPE_CHECKING:
    from core.app.program import App
    from core.app.settings import Settings
    from core.domain.models.access import SignIn
    from core.entrypoints.api.oidc import Provider
    from core.entrypoints.api.serving import Mount, Serving
    from core.entrypoints.auth import Made

_ANY = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not listened on


@dataclass(frozen=True)
class Front:
    """The API, and the console if it `has_console`, before the program is opened."""

    serving: Serving
    has_console: bool

    @asynccontextmanager
    async def open(self, app: App, url: str) -> AsyncIterator[None]:
        """Admit callers while the context lasts, and print how they get in."""
        async with self.serving.opened_to(app) as token_file:
            if token_file is not None:
                talk(f"A first token, for everything, is in {token_file}.")
            if self.has_console:
                talk(f"Console: {await _new_link(app, url)} (once, for ten minutes)")
            yield


def make_front(settings: Settings, *, console: bool) -> Front:
    """Return what is served. Raises ConfigurationError if the console is not installed."""
    mount = _console() if console else None
    from core.app.config_file import load_config
    from core.entrypoints.api.serving import Serving

    config = load_config(settings)
    serving = Serving(
        host=settings.health_host,
        hosts=settings.api_hosts.split(",") if settings.api_hosts else (),
        home=settings.skill_worker_home,
        mount=mount,
        limits=config.limits,
        provider=_provider(config.sign_in) if console and config.sign_in else None,
    )
    return Front(serving, console)


def link_of(made: Made, base: str) -> str:
    """Return the one-time address of the console; loopback's if all interfaces are served."""
    from core.entrypoints.api.entry_page import ENTER

    parts = urlsplit(base)
    if parts.hostname in _ANY:
        here = "127.0.0.1" if parts.port is None else f"127.0.0.1:{parts.port}"
        parts = parts._replace(netloc=here)
    path = parts.path.rstrip("/") + ENTER
    query = f"key={made.secret.get_secret_value()}"
    return urlunsplit(parts._replace(path=path, query=query))


async def _new_link(app: App, url: str) -> str:
    from core.entrypoints.auth import Access, Grant

    made = await Access(app.stores.tokens, app.new_id).link(Grant(name="console"))
    return link_of(made, url)


def _provider(config: SignIn) -> Provider:
    """Return the identity provider. Raises ConfigurationError without its package or its secret."""
    from core.app.settings import secret_named

    try:
        from core.entrypoints.api.oidc import Provider
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"authlib", "joserfc"}:
            raise
        raise ConfigurationError(
            Message("sign_in.no_package"), hint=Message("sign_in.hint_package")
        ) from None
    name = config.client_secret_env
    secret = secret_named(name) if name else None
    if name and secret is None:
        raise ConfigurationError(
            Message("sign_in.no_secret", name=name), hint=Message("sign_in.hint_secret")
        )
    return Provider(config, secret)


def _console() -> Mount:
    try:
        from core.entrypoints.console.app import mount
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "nicegui":
            raise
        raise ConfigurationError(
            Message("cli.no_nicegui"),
            hint=Message("cli.hint_nicegui"),
        ) from None
    return mount
