"""How a command reaches the program: settings, logs, an open app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from core.cli.stopping import run_async, run_until_stopped

if TYPE_CHECKING:
    from core.app import App
    from core.settings import Override, Settings

T = TypeVar("T")
__all__ = ["load", "run_async", "run_until_stopped", "with_app"]


def load(overrides: Mapping[str, Override] | None = None, *, interactive: bool = False) -> Settings:
    """Read the settings and set up the logs. Raises ConfigurationError.

    An `interactive` command says in plain lines what a service logs for whoever collects it.
    """
    import structlog

    from core.observability import configure_logging
    from core.settings import load_settings

    settings = load_settings(overrides)
    if interactive and settings.log_format == "auto":
        level = "warning" if settings.log_level == "info" else settings.log_level
        configure_logging(level, "talk")
    else:
        configure_logging(settings.log_level, settings.log_format)
    for warning in settings.warnings:
        structlog.get_logger(__name__).warning("setting.ignored", reason=warning)
    return settings


def with_app(
    work: Callable[[App], Awaitable[T]], dry_run: bool = False, *, model: bool = False
) -> T:
    """Open the program for one command, without a model or with the one that is set, if any."""
    settings = load(interactive=True)
    asks = model and settings.llm_model is not None

    async def opened() -> T:
        from core import bootstrap

        async with bootstrap.open_app(settings, model=asks, dry_run=dry_run) as app:
            return await work(app)

    return run_async(opened())
