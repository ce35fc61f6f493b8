"""`skill-worker demo`: the whole way once, with example feedback, in a home of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_json, talk
from core.entrypoints.cli.progress import feedback_bar
from core.entrypoints.cli.session import load_apart, run_until_stopped

if TYPE_CHECKING:
    from core.app.settings import Settings
    from core.entrypoints.cli.demo_show import Exhibits


def demo(
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep the demo's home here.")
    ] = None,
    skill_creator: Annotated[
        bool, typer.Option("--skill-creator", help="Build the demo's skills in sandboxes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """See example feedback become memories, rules and skills; no key, nothing left behind."""
    from core.entrypoints.cli.demo_show import show_demo, summary

    with _home(keep) as home:
        settings = load_apart(home, llm_model="offline")
        exhibits = run_until_stopped(
            lambda stop: _run_demo(settings, stop, in_pods=skill_creator),
            lambda: talk("Ending the demo."),
            whole=True,
        )
    if as_json:
        print_json({**summary(exhibits.story), "home": str(keep) if keep else None})
        return
    show_demo(exhibits, retained=keep)


async def _run_demo(settings: Settings, stop: asyncio.Event, *, in_pods: bool) -> Exhibits:
    if not in_pods:
        return await _run_story(settings, stop)
    from core.app import bootstrap
    from core.entrypoints.demo.story import Sandbox

    name, is_boundary, detail = await bootstrap.sandbox_status()
    sandbox = Sandbox(name=name, is_boundary=is_boundary, detail=detail)
    # What it runs ships with the program, so a user may do without a wall; root may not.
    served = bootstrap.PodHost(no_sandbox=os.geteuid() != 0)
    async with bootstrap.computer_use(settings, served) as url:
        pods = {"use_skill_creator_workflow": True, "computer_use_mcp_url": url}
        exhibits = await _run_story(settings.model_copy(update=pods), stop)
    story = exhibits.story.model_copy(update={"sandbox": sandbox})
    return exhibits.model_copy(update={"story": story})


async def _run_story(settings: Settings, stop: asyncio.Event) -> Exhibits:
    from core.app import program
    from core.entrypoints.cli.demo_show import collect_exhibits
    from core.entrypoints.demo.scenario import load_scenario
    from core.entrypoints.demo.story import run_story

    scenario = load_scenario()
    talk(f"Starting PostgreSQL and a skill server in {settings.skill_worker_home} …")
    async with program.open_over_tenants(settings, model=True, offline=True) as app:
        with feedback_bar("learning from feedback") as on_progress:
            story = await run_story(app, scenario, on_progress, stop)
        return await collect_exhibits(app, scenario, story)


@contextmanager
def _home(keep: Path | None) -> Iterator[Path]:
    """Yield a home for the demo: `keep`, which must be new or empty, or a temporary one."""
    if keep is None:
        home = Path(tempfile.mkdtemp(prefix="skill-worker-demo-"))
        try:
            yield home
        finally:
            shutil.rmtree(home, ignore_errors=True)
        return
    yield _new_folder(keep)


def _new_folder(keep: Path) -> Path:
    """Create the folder that retains the demo's home. Raises InvalidInput."""
    try:
        keep.mkdir(parents=True, exist_ok=True)
        is_used = any(keep.iterdir())
    except (FileExistsError, NotADirectoryError):
        raise InvalidInput(
            Message("cli.keep_no_folder", path=keep),
            hint=Message("cli.hint_new_folder"),
        ) from None
    except OSError as error:
        raise InvalidInput(
            Message("cli.keep_unusable", path=keep, why=error),
            hint=Message("cli.hint_writable"),
        ) from None
    if is_used:
        raise InvalidInput(
            Message("cli.keep_not_empty", path=keep),
            hint=Message("cli.hint_new_folder"),
        )
    return keep.resolve()
