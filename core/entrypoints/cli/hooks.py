"""`skill-worker hooks`: which hooks there are, and what they do with an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.errors import NotFound
from core.domain.messages import Message
from core.entrypoints.cli.exits import FAILED, WrongCall
from core.entrypoints.cli.options import Json, Offline
from core.entrypoints.cli.output import print_json, print_table, say, talk
from core.entrypoints.cli.session import load, run_async, with_app

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

    from core.app.program import App
    from core.delivery.asking import HookTarget
    from core.delivery.hooks import Hook
    from core.domain.models.deliveries import Sent, TargetState

app = typer.Typer(help="See and try the hooks of skill-worker.yaml.")
NONE = """no hooks. One is added in skill-worker.yaml, in the working directory or where
SKILL_WORKER_CONFIG says:

hooks:
- name: tell-us
  event: change.held
  http: https://example.com/skill-worker
"""
_HOW = "docs/how-to/hooks.md says what else there is."


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the hooks, and which of them are in trouble or cannot be asked as they are set up."""
    hooks = _hooks()
    if not hooks and not as_json:
        _say_none()
        return

    async def read(opened: App) -> tuple[Sequence[TargetState], Mapping[str, str]]:
        unready = await opened.hooks.unready() if opened.hooks else {}
        return await opened.stores.delivery_log.targets(), unready

    targets, unready = with_app(read) if hooks else ((), {})
    states = {state.name: state for state in targets}
    rows = [(hook, unready.get(hook.name) or _state(hook, states.get(hook.name))) for hook in hooks]
    if as_json:
        items: list[JsonValue] = [_shown(hook) | {"state": state} for hook, state in rows]
        print_json({"items": items, "next": None})
        return
    print_table(
        ("NAME", "KIND", "EVENTS", "IF", "STATE"),
        [(h.name, h.shown_kind, ", ".join(h.events), h.condition, state) for h, state in rows],
    )


@app.command("enable")
def enable(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the hook.")],
    as_json: Json = False,
) -> None:
    """Send again to a hook whose receiver wanted no more, or failed; what waits goes out."""
    if name not in {hook.name for hook in _hooks()}:
        raise NotFound(Message("hooks.unknown", name=name))
    was = with_app(lambda opened: opened.stores.delivery_log.enable(name))
    if as_json:
        print_json({"name": name, "was_off": was})
        return
    say(f"{name} is sent to again" if was else f"{name} was sent to already")


@app.command("test")
def try_hooks(
    event: Annotated[str, typer.Argument(metavar="EVENT", help="Name of an event.")],
    offline: Offline = False,
    as_json: Json = False,
) -> None:
    """Run the hooks of an event on a made-up one, and print what came of it.

    Nothing is learnt or stored; what a hook does with the event, it does.
    """
    from core.delivery.hooks import EVENTS

    if event not in EVENTS:
        raise WrongCall(Message("hooks.no_event", name=event, known=", ".join(EVENTS)))
    own = [hook for hook in _hooks() if event in hook.events]
    told = _tried(event, own, offline=offline) if own else []
    if as_json:
        items: list[JsonValue] = [_outcome(hook, sent, seconds) for hook, sent, seconds in told]
        print_json({"event": event, "items": items})
    elif not own:
        _say_none() if not _hooks() else talk(f"no hook is on {event}")
    else:
        _print_tried(told)
    if any(sent is not None and sent.outcome != "done" for _, sent, _ in told):
        raise typer.Exit(FAILED)


def _hooks() -> Sequence[Hook]:
    from core.app.config_file import load_config

    return load_config(load(interactive=True)).hooks


def _say_none() -> None:
    talk(NONE)
    talk(_HOW)


def _state(hook: Hook, state: TargetState | None) -> str:
    if state is None:
        return "ok"
    if state.disabled_at and state.digest == hook.digest:
        return f"off since {state.disabled_at:%F %T}: {state.error}; `hooks enable {hook.name}`"
    return f"{state.failures} failures in a row: {state.error}"


def _shown(hook: Hook) -> dict[str, JsonValue]:
    """Return a hook without what may be secret."""
    shown: dict[str, JsonValue] = {
        "name": hook.name,
        "kind": hook.shown_kind,
        "events": [*hook.events],
        "if": hook.condition,
        "once": hook.once,
        "async": hook.in_background,
        "timeout": hook.timeout,
        "required": hook.required,
    }
    return shown


def _tried(
    event: str, hooks: Sequence[Hook], *, offline: bool
) -> list[tuple[Hook, Sent | None, float]]:
    """Return how each ended, and how long it took; None if its condition does not hold."""
    settings = load(interactive=True)
    asks = any(hook.kind in {"prompt", "agent"} for hook in hooks)
    has_model = offline or settings.llm_model is not None

    async def run() -> list[tuple[Hook, Sent | None, float]]:
        from core.app import program

        async with program.open_over_tenants(
            settings, model=asks and has_model, offline=offline
        ) as opened:
            assert opened.hooks is not None
            targets = [opened.hooks.targets[hook.name] for hook in hooks]
            return [await _try(event, target, f"dlv_{opened.new_id()}") for target in targets]

    return run_async(run())


async def _try(event: str, target: HookTarget, delivery_id: str) -> tuple[Hook, Sent | None, float]:
    import time

    from core.delivery.sample import sample
    from core.domain.errors import ConfigurationError
    from core.domain.models.deliveries import Outcome

    delivery, values = sample(event, delivery_id)
    if not target.hook.matches(values):
        return target.hook, None, 0.0
    began = time.monotonic()
    sent = await target.deliver(delivery)
    if sent.status == ConfigurationError.kind:  # which a worker tries again, but time does not mend
        sent = sent.model_copy(update={"outcome": Outcome.NEVER})
    return target.hook, sent, time.monotonic() - began


def _outcome(hook: Hook, sent: Sent | None, seconds: float) -> JsonValue:
    if sent is None:
        return {"hook": hook.name, "kind": hook.shown_kind, "outcome": "skipped"}
    told: JsonValue = sent.model_dump(mode="json", exclude_none=True)
    assert isinstance(told, dict)
    return {"hook": hook.name, "kind": hook.shown_kind, **told, "seconds": round(seconds, 3)}


def _print_tried(told: Sequence[tuple[Hook, Sent | None, float]]) -> None:
    rows = []
    for hook, sent, seconds in told:
        if sent is None:
            rows.append((hook.name, hook.shown_kind, "skipped", "", f"if: {hook.condition}"))
            continue
        answer = sent.answer
        said = f"{answer.decision} {answer.note}".strip() if answer else str(sent.error or "")
        rows.append(
            (hook.name, hook.shown_kind, f"{sent.outcome} {sent.status}", f"{seconds:.2f}", said)
        )
    print_table(("HOOK", "KIND", "OUTCOME", "SECONDS", "IT SAID"), rows)
