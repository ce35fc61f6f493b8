"""`skill-worker runs`: what runs decided, and asking them again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.entrypoints.cli.exits import FAILED
from core.entrypoints.cli.options import (
    AgentId,
    Cursor,
    FromStep,
    Json,
    Limit,
    Prompts,
    Tenant,
    who,
)
from core.entrypoints.cli.output import print_list, print_model, say
from core.entrypoints.cli.runs.showing import show_comparison, show_run
from core.entrypoints.cli.session import run_async, with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.agent.replay.comparing import Comparison
    from core.app.program import App
    from core.domain.models.recorded_runs import RecordedRun
    from core.entrypoints.cli.runs.showing import ShownRun

MOST_TAG_CHARS = 100
app = typer.Typer(help="See how runs decided, repeat them without effect, and mark them.")
RunId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Id of the run, of its candidate, or of feedback with one candidate."
    ),
]


@app.command("list")
def list_(
    tag: Annotated[str | None, typer.Option("--tag", help="Only runs with this tag.")] = None,
    feedback: Annotated[
        str | None, typer.Option("--feedback", help="Only about this feedback.")
    ] = None,
    agent: AgentId = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: Json = False,
) -> None:
    """List runs, those of the newest feedback first; of each candidate its last one."""
    from core.domain.models.recorded_runs import RunFilter
    from core.domain.text import shorten

    async def read(opened: App) -> tuple[Sequence[RecordedRun], str | None]:
        from core.entrypoints.cli.knowledge.tenants import known_owner

        owner = await known_owner(opened, tenant, agent)
        wanted = RunFilter(tag=tag, feedback_id=feedback, agent_id=agent, tenant_id=owner)
        return await opened.stores.run_records.page(wanted, limit=limit, cursor=cursor)

    print_list(
        with_app(read),
        ("ID", "STATUS", "AGENT", "TAGS", "ABOUT"),
        lambda run: (
            run.id,
            run.status or "-",
            run.agent_id,
            ", ".join(run.tags),
            shorten(run.content, 60),
        ),
        as_json=as_json,
        empty="no runs",
    )


@app.command("show")
def show(run_id: RunId, as_json: Json = False) -> None:
    """Show a run: what it was told, what the model asked for, and what it was answered."""

    async def work(opened: App) -> ShownRun:
        from core.entrypoints.cli.runs.showing import ShownRun, lessons_of

        run = await opened.stores.run_records.get(run_id)
        said = await opened.stores.threads.read(run.id)
        return ShownRun(
            run=run,
            is_stored=said is not None,
            said=tuple(said or ()),
            lessons=await lessons_of(opened, run),
        )

    shown = with_app(work)
    if as_json:
        print_model(shown)
    else:
        show_run(shown)


@app.command("tag")
def tag(
    run_id: RunId,
    tags: Annotated[list[str], typer.Argument(metavar="TAG...", help="One or more words.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take the tags off.")] = False,
    as_json: Json = False,
) -> None:
    """Mark a run, so that it is stored for as long as a tag is on it, and found by it."""
    for one in tags:
        if not one.strip() or len(one) > MOST_TAG_CHARS:
            raise InvalidInput(Message("run.bad_tag", tag=one, n=MOST_TAG_CHARS))
    wanted = [*dict.fromkeys(one.strip() for one in tags)]

    async def work(opened: App) -> RecordedRun:
        records = opened.stores.run_records
        run = await records.get(run_id)
        if remove:
            return await records.untag(run, wanted)
        return await records.tag(run, wanted, by=who())

    run = with_app(work)
    if as_json:
        print_model(run)
    else:
        say(f"{run.id}: {', '.join(run.tags) or 'no tags'}")


@app.command("replay")
def replay(
    run_id: RunId,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="MODEL", help="Model to ask; default is LLM_MODEL."),
    ] = None,
    prompts: Prompts = None,
    from_step: FromStep = 1,
    as_json: Json = False,
) -> None:
    """Repeat a run without effect, and show where it decides otherwise; exit 1 if it does."""
    found = run_async(_replayed(run_id, model, prompts, from_step))
    if as_json:
        print_model(found)
    else:
        show_comparison(found)
    if found.likeness == "otherwise":
        raise typer.Exit(FAILED)


async def _replayed(
    run_id: str, model: str | None, prompts: Path | None, from_step: int
) -> Comparison:
    from contextlib import nullcontext

    from core.agent.model.chat_model import with_prompts
    from core.app import program
    from core.app.replaying import replay as repeat
    from core.entrypoints.cli.session import chosen_model, load

    asked = chosen_model(model)
    settings = load({"llm_model": asked}, interactive=True)
    with with_prompts(prompts) if prompts else nullcontext():
        async with program.open_over_tenants(
            settings, model=True, offline=asked == "offline", dry_run=True
        ) as opened:
            return await repeat(opened, run_id, model=asked, from_step=from_step)


@app.command("fork")
def fork(
    run_id: RunId,
    from_step: FromStep,
    as_json: Json = False,
) -> None:
    """Let a worker go on from a step of a run, for good; what the run came to stands."""

    async def work(opened: App) -> RecordedRun:
        from core.app.replaying import fork as begin

        return await begin(opened, run_id, step=from_step, by=who())

    run = with_app(work)
    if as_json:
        print_model(run)
    else:
        say(f"{run.id} goes on from step {from_step} of {run.forked_from}; a worker takes it up")
