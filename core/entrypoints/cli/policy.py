"""`skill-worker policy`: what may be taught by whom, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall, see_help
from core.entrypoints.cli.options import Json, any_kind_name
from core.entrypoints.cli.output import print_json, print_table, say, talk
from core.entrypoints.cli.session import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from core.app.config_file import ConfigFile
    from core.changes.policy.explaining import ExplainedRule, Explanation
    from core.domain.kinds import Kinds
    from core.domain.models import Change, Finding

app = typer.Typer(help="See who may teach what, and why.")


@app.callback()
def _group() -> None:
    """See who may teach what, and why."""


Author = Annotated[
    str | None, typer.Option("--author", help="Who says it; '' for one without a name.")
]
Roles = Annotated[
    list[str] | None,
    typer.Option("--role", help="A role of the author, or of the token; may be repeated."),
]
Source = Annotated[str | None, typer.Option("--source", help="Where it comes in.")]
Agent = Annotated[str | None, typer.Option("--agent", help="The agent that learns.")]
Tenant = Annotated[str | None, typer.Option("--tenant", help="Its tenant.")]
What = Annotated[
    str | None,
    typer.Option("--kind", metavar="KIND", callback=any_kind_name, help="What would change."),
]
How = Annotated[
    Literal["CREATE", "UPDATE", "DELETE"] | None,
    typer.Option("--operation", case_sensitive=False, help="What would be done with it."),
]
Target = Annotated[str | None, typer.Option("--target", help="The name of the item.")]
Findings = Annotated[
    list[str] | None,
    typer.Option("--finding", help="The code of a finding or note, mask, hold; '' for none."),
]
Accepted = Annotated[
    bool | None,
    typer.Option(
        "--accepted/--not-accepted",
        help="Whether a person has approved something that the author taught.",
    ),
]
Reaches = Annotated[
    Literal["agent", "user", "tenant"] | None,
    typer.Option("--scope", help="For whom a memory would be."),
]
Asks = Annotated[
    Literal["AGENT", "IMPORT", "PERSON"],
    typer.Option("--origin", case_sensitive=False, help="Who asks for the change."),
]


@app.command("explain")
def explain(
    author: Author = None,
    role: Roles = None,
    source: Source = None,
    agent: Agent = None,
    tenant: Tenant = None,
    kind: What = None,
    operation: How = None,
    target: Target = None,
    finding: Findings = None,
    accepted: Accepted = None,
    scope: Reaches = None,
    origin: Asks = "AGENT",
    as_json: Json = False,
) -> None:
    """Say which rule decides about a case, why, and which tools the model would be offered."""
    from core.app.config_file import load_config
    from core.changes.policy.explaining import ALL, explain

    config = load_config(load(interactive=True))
    given: dict[str, object] = {
        "author": author,
        "role": role,
        "source": source,
        "author_accepted": accepted,
        "agent": agent,
        "tenant": tenant,
        "kind": kind,
        "operation": operation,
        "target": target,
        "finding": finding,
        "scope": scope,
    }
    told = {name: value for name, value in given.items() if value is not None}
    _see_roles(config, role or [])
    unknown = ALL - told.keys() - {"origin"} - ({"role"} if author is not None else set())
    if origin != "AGENT":  # no feedback asks for it, and so nobody who has said that
        unknown -= {"author", "role", "source", "author_accepted", "feedback"}
    explained = explain(config, _case(told, origin), unknown)
    tools = _tools(config, told, unknown) if origin == "AGENT" else {}
    if as_json:
        data: dict[str, JsonValue] = {**explained.model_dump(mode="json")}
        data |= {"source": _source(config), "tools": {**tools}}
        print_json(data)
        return
    _show(config, explained, tools)


@app.command("check")
def check(
    file: Annotated[
        Path | None, typer.Argument(help="The file; without it, the one that is in force.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a file as a whole: each problem with its line and field."""
    from core.app.config_file import ConfigSource, config_in_words, load_config, read_config
    from core.changes.policy.explaining import unreachable

    if file is None:
        config = load_config(load(interactive=True))
    else:
        config = read_config(ConfigSource(file, ""))
    warnings = unreachable(config)
    if as_json:
        told: list[JsonValue] = [*warnings]
        rules = len(config.own_rules)
        print_json({"file": _source(config), "rules": rules, "warnings": told})
        return
    say(config_in_words(config))
    for warning in warnings:
        talk(f"warning: {warning}")


def _see_roles(config: ConfigFile, roles: list[str]) -> None:
    from core.changes.policy.review_policy import TOKEN_ROLES

    for name in roles:
        if name not in config.roles.keys() | TOKEN_ROLES:
            known = ", ".join([*config.roles, *sorted(TOKEN_ROLES)])
            raise WrongCall(
                Message("policy.no_role", name=name, known=known), hint=see_help("policy explain")
            )


def _case(told: Mapping[str, object], origin: str) -> Change:
    """Return the change of a case; what is not told has a value that nothing looks at."""
    from core.changes.policy.review_policy import asked_change
    from core.domain.models import (
        Asker,
        Kind,
        Operation,
        Origin,
        Reach,
        Scope,
        Snapshot,
        SubmitContext,
    )

    def text(name: str) -> str:
        return str(told.get(name, ""))

    context = SubmitContext(
        key="", tenant_id=text("tenant"), agent_id=text("agent"), origin=Origin(origin)
    )
    kind, operation = Kind(text("kind") or "MEMORY"), Operation(text("operation") or "CREATE")
    change = asked_change(context, kind, operation, text("target"))
    roles, codes = told.get("role", []), told.get("finding", [])
    assert isinstance(roles, list)
    assert isinstance(codes, list)
    findings = tuple(_finding(code) for code in codes if code)
    is_accepted = bool(told["author_accepted"]) if "author_accepted" in told else None
    asker = Asker(
        author=text("author"),
        source=text("source"),
        is_accepted=is_accepted,
        roles=frozenset(roles),
    )
    reach = Reach(scope=Scope(text("scope"))) if "scope" in told else None
    after = reach and Snapshot(content="", name=text("target"), reach=reach)
    return change.model_copy(
        update={
            "asker": asker if origin == "AGENT" else None,
            "findings": findings,
            "after": after,
        }
    )


def _finding(code: str) -> Finding:
    """Return a finding of a code, or of a severity."""
    from core.domain.models import Finding, ScreenSeverity

    is_severity = code in set(ScreenSeverity)
    severity = ScreenSeverity(code) if is_severity else ScreenSeverity.NOTE
    code = "" if is_severity else code
    return Finding(code=code, text=code, severity=severity, start=0, end=0, digest="")


def _tools(
    config: ConfigFile, told: Mapping[str, object], unknown: frozenset[str]
) -> Mapping[str, JsonValue]:
    """Return which tools would be offered, and why not the others."""
    from core.agent.loop.tool_args import denied_in_words, denied_writes, offered
    from core.changes.policy.conditions import AFTER
    from core.domain.models import Kind, Operation

    base = _case(told, "AGENT")
    open_still = (unknown | AFTER) - {"kind", "operation"}

    def denies(kind: Kind, operation: Operation) -> str | None:
        asked = base.model_copy(update={"kind": kind, "operation": operation})
        return config.refusal(asked, open_still)

    kinds = _kinds(config)
    denied = denied_writes(denies, kinds)
    return {"offered": [*offered(denied, kinds)], "denied": {**denied_in_words(denied)}}


def _kinds(config: ConfigFile) -> Kinds:
    """Return the kinds that packages add. Raises ConfigurationError."""
    if not config.kinds:
        return ()
    from core.app.bootstrap.kinds import load_kinds

    return tuple(own.kind for own in load_kinds(config))


def _source(config: ConfigFile) -> str | None:
    return str(config.source.path) if config.source else None


_MET = {True: "yes", False: "no", None: "maybe"}


def _show(config: ConfigFile, explained: Explanation, tools: Mapping[str, JsonValue]) -> None:
    say(_outcome(explained))
    say(_decider(config, explained))
    say("")
    if explained.rules:
        rows = [_row(config, rule) for rule in explained.rules]
        print_table(("RULE", "OF", "THEN", "MET", "WHY"), rows)
    say(f"otherwise: {explained.otherwise}")
    if not tools:
        return
    offered, denied = tools["offered"], tools["denied"]
    assert isinstance(offered, list)
    assert isinstance(denied, dict)
    say(f"\ntools offered: {', '.join(map(str, offered))}")
    for tool, why in denied.items():
        say(f"not offered: {tool}: {why}")


def _outcome(explained: Explanation) -> str:
    if explained.effect is None:
        names = sorted(
            {name for rule in explained.rules if rule.met is None for name in rule.depends_on}
        )
        return Message("policy.depends", names=", ".join(names))
    why = "; ".join(explained.reasons)
    return f"{explained.effect}: {why}" if why else str(explained.effect)


def _decider(config: ConfigFile, explained: Explanation) -> str:
    if explained.effect is None:
        return Message("policy.decider_open")
    if explained.decided_by is None:
        return Message("policy.decider_end")
    rule = explained.rules[explained.decided_by - 1]
    name = f" ({rule.name})" if rule.name else ""
    return Message("policy.decider", n=rule.rule, name=name, of=_of(config, rule))


def _of(config: ConfigFile, rule: ExplainedRule) -> str:
    if rule.mode:
        return rule.mode
    return config.source.path.name if config.source else ""


def _row(config: ConfigFile, rule: ExplainedRule) -> tuple[object, ...]:
    told = [f"not met: {', '.join(rule.not_met)}"] if rule.not_met else []
    if rule.depends_on and not rule.not_met:
        told.append(f"depends on: {', '.join(rule.depends_on)}")
    shown = f"{rule.rule} {rule.name}".rstrip()
    why = "; ".join([*told, *([rule.because] if rule.because else [])])
    return shown, _of(config, rule), rule.then, _MET[rule.met], why
