"""`skill-worker feedback`: what users said, in and out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.entrypoints.cli.exits import FAILED, WrongCall, named_by_option, see_help
from core.entrypoints.cli.feedback.erasing import erase
from core.entrypoints.cli.options import Cursor, Json, Limit, Tenant
from core.entrypoints.cli.output import print_json, print_list, print_model, print_page, say, talk
from core.entrypoints.cli.session import in_app, load, run_async, with_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from core.app.program import App
    from core.app.settings import Settings
    from core.domain.input_formats.feedback import Line, Problem
    from core.domain.models import Feedback
    from core.entrypoints.cli.feedback.adding import Report

_OPTIONS = {
    "content": "--text",
    "agent_ids": "--agent",
    "tenant_id": "--tenant",
    "task": "--task",
    "author": "--author",
    "said_at": "--said-at",
    "in_reply_to": "--in-reply-to",
    "thread": "--thread",
    "output": "--output",
}

app = typer.Typer(help="Take feedback in, and see what became of it.")
Status = Literal[
    "queued", "processing", "completed", "no_action", "held", "failed", "dead", "cancelled"
]
FeedbackId = Annotated[str, typer.Argument(help="Id of the feedback.")]
app.command("erase")(erase)


@app.command("add")
def add(
    file: Annotated[Path | None, typer.Argument(help="JSONL file; `-` is stdin.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="What the user said.")] = None,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="Agent it is about; may be repeated.")
    ] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Tenant of the agents.")] = None,
    task: Annotated[str, typer.Option("--task", help="What the agent was doing.")] = "",
    author: Annotated[str | None, typer.Option("--author", help="Who said it.")] = None,
    said_at: Annotated[
        str | None, typer.Option("--said-at", metavar="TIME", help="When it was said; default now.")
    ] = None,
    in_reply_to: Annotated[
        str | None, typer.Option("--in-reply-to", metavar="ID", help="The piece it answers.")
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", help="The conversation it belongs to.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="TEXT", help="What the agent had produced.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Take in a JSONL file, stdin, or one text. Good lines go in, bad ones are named."""
    if (file is None) == (text is None):
        raise WrongCall(Message("cli.file_or_text"), hint=see_help("feedback add"))
    if text is not None and tenant is None:
        raise WrongCall(Message("field.missing", field="--tenant"), hint=see_help("feedback add"))
    if file is not None:
        report = _add_file(load(interactive=True), file)
    else:
        entry = {"content": text, "agent_ids": agent or [], "tenant_id": tenant or ""}
        about = {"task": task, "author": author, "said_at": _said_at(said_at)}
        about |= {"in_reply_to": in_reply_to, "thread": thread, "output": output}
        report = _add_text(load(interactive=True), {**entry, **about})
    _show_report(report, as_json=as_json)
    if report.problems:
        raise typer.Exit(FAILED)


@app.command("list")
def list_(
    status: Annotated[Status | None, typer.Option("--status", help="Only this status.")] = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: Json = False,
) -> None:
    """List feedback, newest first."""
    from core.domain.models import FeedbackFilter, FeedbackStatus

    statuses = (FeedbackStatus(status),) if status else ()
    wanted = FeedbackFilter(statuses=statuses, tenant_id=tenant)

    async def read(opened: App) -> tuple[Sequence[Feedback], str | None]:
        await _known(opened, tenant)
        return await opened.stores.reader.feedback(wanted, limit=limit, cursor=cursor)

    page = with_app(read)
    print_list(
        page,
        ("ID", "STATUS", "AGENTS", "CALLS", "CONTENT", "ERROR"),
        lambda f: (
            f.id,
            f.status,
            ", ".join(f.agent_ids),
            f.usage.model_calls,
            f.content[:200],
            f.error,
        ),
        as_json=as_json,
        empty="no feedback",
    )


@app.command("show")
def show(feedback_id: FeedbackId, as_json: Json = False) -> None:
    """Show one piece of feedback: its state, what it changed, what happened."""
    from core.domain.models import HistoryFilter
    from core.entrypoints.cli.render import FeedbackFile, show_feedback

    async def read(opened: App) -> FeedbackFile:
        its = HistoryFilter(feedback_id=feedback_id)
        history, _ = await opened.stores.reader.history(its, limit=200, cursor=None)
        feedback = await opened.stores.inbox.get(feedback_id)
        return FeedbackFile(
            feedback=feedback,
            budget=tuple(await opened.stores.budgets.today(feedback.tenant_id)),
            currency=opened.currency,
            candidates=tuple(await opened.stores.runs.candidates(feedback_id)),
            history=tuple(history),
            run_events=tuple(await opened.stores.reader.events(feedback_id)),
        )

    found = with_app(read)
    if as_json:
        print_json({**found.feedback.model_dump(mode="json"), **found.details()})
        return
    show_feedback(found)


@app.command("retry")
def retry(
    feedback_id: Annotated[str | None, typer.Argument(help="Id of the feedback.")] = None,
    all_dead: Annotated[
        bool, typer.Option("--all-dead", help="All whose attempts are used up.")
    ] = False,
    all_failed: Annotated[
        bool, typer.Option("--all-failed", help="All that ended for a permanent reason.")
    ] = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Queue an ended piece of feedback again, or all that ended dead or failed."""
    ways = [name for name, wanted in (("dead", all_dead), ("failed", all_failed)) if wanted]
    if (feedback_id is None) == (not ways) or (feedback_id and tenant):
        raise WrongCall(Message("cli.retry_what"), hint=see_help("feedback retry"))
    if feedback_id is None:
        _retry_all(ways, tenant, as_json=as_json)
        return
    feedback = with_app(lambda opened: opened.stores.intake.revive(feedback_id))
    if as_json:
        print_model(feedback)
        return
    say(f"queued {feedback.id} again, generation {feedback.generation}")


@app.command("cancel")
def cancel(
    feedback_id: FeedbackId,
    reason: Annotated[str, typer.Option("--reason", help="Why it is not to be learnt from.")],
    as_json: Json = False,
) -> None:
    """End a piece of feedback that waits or is worked on; nothing more is learnt from it."""
    if not reason.strip():
        raise WrongCall(Message("cli.reason_blank"), hint=see_help("feedback cancel"))
    feedback = with_app(lambda opened: opened.stores.intake.cancel(feedback_id, reason))
    if as_json:
        print_model(feedback)
        return
    say(f"cancelled {feedback.id}")


def _retry_all(ways: list[str], tenant: str | None, *, as_json: bool) -> None:
    from core.domain.models import FeedbackStatus
    from core.entrypoints.cli.feedback.retrying import revive_all
    from core.entrypoints.cli.progress import count_bar

    async def work(opened: App) -> list[Feedback]:
        await _known(opened, tenant)
        statuses = [FeedbackStatus(way) for way in ways]
        with count_bar("queueing again") as advance:
            return await revive_all(
                opened.stores.intake, opened.stores.reader, statuses, tenant, advance
            )

    revived = with_app(work)
    if as_json:
        print_page(revived)
        return
    for feedback in revived:
        say(f"queued {feedback.id} again, generation {feedback.generation}")
    talk(f"{len(revived)} queued again")


async def _known(opened: App, tenant: str | None) -> None:
    from core.entrypoints.cli.knowledge.tenants import known_tenant

    if tenant is not None:
        await known_tenant(opened, tenant)


def _add_file(settings: Settings, file: Path) -> Report:
    from core.domain.input_formats.feedback import read_lines
    from core.entrypoints.cli.files import open_input, size_of
    from core.entrypoints.cli.progress import byte_bar

    with open_input(file) as handle, byte_bar("taking in", size_of(file)) as advance:
        lines = read_lines(handle, settings.feedback_max_chars)
        return run_async(_take_in(settings, lines, advance))


async def _take_in(
    settings: Settings, lines: Iterable[Line | Problem], advance: Callable[[int], None]
) -> Report:
    from core.entrypoints.cli.feedback.adding import take_in

    return await in_app(
        settings,
        lambda opened: take_in(opened.stores.inbox, opened.stores.agents, lines, advance),
        failed=lambda report: report.problems,
    )


def _add_text(settings: Settings, entry: dict[str, object]) -> Report:
    from core.domain.input_formats.feedback import Line, checked

    with named_by_option("feedback add", _OPTIONS):
        piece = checked(entry, settings.feedback_max_chars)

    line = Line(number=1, piece=piece, size=0)
    report = run_async(_take_in(settings, [line], lambda _: None))
    if report.problems:
        raise InvalidInput(report.problems[0].reason, hint=Message("see.agents"))
    return report


def _said_at(given: str | None) -> datetime | None:
    from core.entrypoints.cli.moments import read_moment

    return None if given is None else read_moment(given)


def _show_report(report: Report, *, as_json: bool) -> None:
    for problem in report.problems:
        talk(f"line {problem.line}: {problem.reason}")
    if as_json:
        print_json(
            {
                "items": [line.model_dump(mode="json") for line in report.added],
                "next": None,
                "problems": [
                    problem.model_dump(mode="json", exclude={"size"}) for problem in report.problems
                ],
            }
        )
        return
    for line in report.added:
        say(f"{line.id}  {'new' if line.new else 'known already'}")
        for finding in line.masked:
            talk(Message("screen.masked", id=line.id, what=finding.text))
    if report.problems:
        talk(f"{len(report.added)} taken in, {len(report.problems)} refused")
