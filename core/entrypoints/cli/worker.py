"""`skill-worker run`: the worker itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.errors import ConfigurationError
from core.domain.messages import Message
from core.entrypoints.cli.exits import FAILED, WrongCall
from core.entrypoints.cli.front import Front, make_front
from core.entrypoints.cli.options import Json, Offline
from core.entrypoints.cli.output import print_json, print_table, talk
from core.entrypoints.cli.progress import feedback_bar
from core.entrypoints.cli.session import load, run_until_stopped

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app.run_summary import RunSummary
    from core.app.settings import Override, Settings
    from core.domain.models import Feedback, Pause, Receipt, Verdict

# Consecutive looks, a fifth of a second apart: what another worker finishes soon is not reported.
_PATIENCE = 8


class Awaited:
    """Watches the counts, and prints what is awaited when that lasts."""

    def __init__(self, stalled_after: float, say: Callable[[str], None]) -> None:
        self._stalled_after = stalled_after
        self._say = say
        self._checks = 0
        self._last_said = ""

    def update(self, counts: Mapping[str, int], working: int, pause: Pause | None = None) -> None:
        """Take the number of pieces by status, those in progress here, and what blocks work."""
        taken, queued = counts.get("processing", 0), counts.get("queued", 0)
        self._checks = 0 if working or not taken + queued else self._checks + 1
        if not self._checks:
            self._last_said = ""
        elif self._checks >= _PATIENCE:
            self._say_once(
                "taken" if taken else pause.kind if pause else "due", taken, queued, pause
            )

    def _say_once(self, what: str, taken: int, queued: int, pause: Pause | None) -> None:
        if what != self._last_said:
            self._last_said = what
            self._say(self._sentence(taken, queued, pause))

    def _sentence(self, taken: int, queued: int, pause: Pause | None) -> str:
        if taken:
            return (
                f"Waiting for feedback that another worker has ({taken}). If that worker has"
                f" stopped answering, it is taken over {self._stalled_after:g} s"
                " (STALLED_AFTER_SECONDS) after its last sign of life."
            )
        if pause is None:
            return f"Waiting for feedback whose next attempt is due later ({queued})."
        if pause.kind == "paused":
            why = f": {pause.reason}" if pause.reason else ""
            return f"Intake is paused{why}. `skill-worker intake resume` goes on ({queued} wait)."
        return (
            f"Waiting for the model ({queued} wait): {pause.reason}."
            " It is asked again every LLM_PROBE_SECONDS."
        )


_DRY_RUN_LIMIT = 1000


def run(
    once: Annotated[
        bool, typer.Option("--once", help="Work off what is there, then leave.")
    ] = False,
    offline: Offline = False,
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", min=1, max=1000, help="Pieces of feedback at a time."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Decide, but change nothing; implies --once.")
    ] = False,
    host: Annotated[
        str | None, typer.Option("--host", help="Address of the health pages, API and console.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="Their port; 0 picks one."),
    ] = None,
    api: Annotated[bool, typer.Option("--api", help="Serve the HTTP API too.")] = False,
    console: Annotated[
        bool, typer.Option("--console", help="Serve the console too, and the API with it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Work on feedback until told to stop. A second Ctrl+C stops at once."""
    from core.app.observability import worker_named

    if (api or console) and (once or dry_run):
        raise WrongCall(Message("cli.api_stays"), hint=Message("cli.hint_once"))
    watched = not (once or dry_run) or port is not None
    settings = model_settings(
        offline=offline, interactive=not watched, health_host=host, health_port=port
    )
    if dry_run:
        _dry_run(settings, offline=offline, as_json=as_json)
        return
    front = make_front(settings, console=console) if api or console else None
    with worker_named(settings.worker_name):
        summary = run_until_stopped(
            lambda stop: _work(settings, stop, once, offline, concurrency, watched, front),
            _on_first_signal,
        )
    show_summary(summary, once=once, as_json=as_json, currency=settings.price_currency)
    if once and (summary.unhappy() or summary.resting):
        raise typer.Exit(FAILED)


def model_settings(*, offline: bool, interactive: bool = False, **options: Override) -> Settings:
    """Read settings for a command that needs a model; `options` take precedence.

    An `interactive` one is called by a person, who reads its result and not its log. Raises
    ConfigurationError.
    """
    overrides = {name: value for name, value in options.items() if value is not None}
    if offline:
        overrides["llm_model"] = "offline"
    settings = load(overrides, interactive=interactive)
    if settings.require_model() == "offline" and not offline:
        raise ConfigurationError(Message("cli.offline"), hint=Message("cli.hint_offline"))
    return settings


async def _work(
    settings: Settings,
    stop: asyncio.Event,
    once: bool,
    offline: bool,
    concurrency: int | None,
    watched: bool,
    front: Front | None,
) -> RunSummary:
    from core.app import bootstrap, program

    around = front.serving.around if front else None
    async with (
        bootstrap.serve_health(settings, stop, around) if watched else nullcontext() as served,
        program.open_app(
            settings, model=True, offline=offline, health=served.health if served else None
        ) as app,
        front.open(app, served.url) if front and served else nullcontext(),
    ):
        program.spare_collections()
        if not once:
            talk("Waiting for feedback. Ctrl+C stops.")
        awaited = Awaited(settings.stalled_after_seconds, talk)
        with feedback_bar("learning") if once else nullcontext(_ignore) as show_progress:

            def on_progress(counts: Mapping[str, int]) -> None:
                show_progress(counts)
                awaited.update(counts, app.summary.working, app.summary.pause)

            await app.run(once, concurrency or settings.worker_concurrency, stop, on_progress)
        return app.summary


def show_summary(summary: RunSummary, *, once: bool, as_json: bool, currency: str = "") -> None:
    """Print what this run did, without what others or earlier runs did, and who waits."""
    counts: dict[str, JsonValue] = dict(summary.counts())
    unhappy = summary.unhappy()
    if as_json:
        items: list[JsonValue] = [piece.model_dump(mode="json") for piece in unhappy]
        resting: list[JsonValue] = [tenant.model_dump(mode="json") for tenant in summary.resting]
        partly: list[JsonValue] = [piece.model_dump(mode="json") for piece in summary.partly()]
        parts: dict[str, JsonValue] = {"unhappy": items, "partly": partly}
        told: dict[str, JsonValue] = {"warned": summary.warned, "screened": summary.screened}
        print_json({"counts": counts, **parts, **told, "resting": resting})
    elif once:
        done = [f"{n} {status}" for status, n in counts.items()]
        if summary.warned:
            done.append(f"{summary.warned} change{'s' if summary.warned > 1 else ''} with warnings")
        if done or not summary.resting:
            talk(", ".join(done) or "There was nothing.")
        if summary.applied:
            talk("applied: " + ", ".join(_applied(summary)))
        for piece in (*summary.partly(), *unhappy):
            talk(f"{piece.status}: {piece.id}: {piece.error or 'no reason is known'}")
        _tell_resting(summary, currency)
        if summary.warned:
            talk("Warnings: `skill-worker changes list` counts them, `changes show ID` tells them.")
        if summary.screened:
            talk(Message("screen.waiting", n=summary.screened))
        if unhappy:
            talk("Why: `skill-worker feedback show ID`; again: `skill-worker feedback retry ID`.")


def _applied(summary: RunSummary) -> Iterator[str]:
    """Yield what was applied: `2 MEMORY CREATE`."""
    for (kind, operation), number in sorted(summary.applied.items()):
        yield f"{number} {kind} {operation}"


def _tell_resting(summary: RunSummary, currency: str) -> None:
    from core.agent.budgets import says_used_up

    for tenant in summary.resting:
        talk(f"held back ({tenant.waiting}): {says_used_up(tenant, currency)}")


def _dry_run(settings: Settings, *, offline: bool, as_json: bool) -> None:
    async def decide(_stop: asyncio.Event) -> Sequence[tuple[Feedback, tuple[Verdict, ...]]]:
        from core.app import program

        async with program.open_over_tenants(
            settings, model=True, offline=offline, dry_run=True
        ) as app:
            return await app.dry_run(_DRY_RUN_LIMIT)

    decisions = run_until_stopped(decide, _on_first_signal)
    if as_json:
        print_json({"items": [_decision(*decision) for decision in decisions], "next": None})
        return
    print_table(
        ("FEEDBACK", "CONTENT", "WOULD BECOME", "WHY"),
        [
            (
                feedback.id,
                feedback.content[:200],
                ", ".join(map(_in_short, verdict.receipts)) or verdict.status,
                verdict.reason,
            )
            for feedback, verdicts in decisions
            for verdict in verdicts
        ],
    )


def _decision(feedback: Feedback, verdicts: tuple[Verdict, ...]) -> JsonValue:
    dumped: list[JsonValue] = [verdict.model_dump(mode="json") for verdict in verdicts]
    return {"feedback": feedback.model_dump(mode="json"), "verdicts": dumped}


def _in_short(receipt: Receipt) -> str:
    refusal = None if receipt.status.is_outcome else receipt.status
    words = (refusal, receipt.operation, receipt.kind, receipt.target_name)
    return " ".join(word for word in words if word) or receipt.status


def _on_first_signal() -> None:
    talk("Finishing what is in progress. The same signal again stops at once.")


def _ignore(_counts: Mapping[str, int]) -> None:
    return None
