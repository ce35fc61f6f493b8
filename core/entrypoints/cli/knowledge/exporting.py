"""`skill-worker knowledge export`: all that is known, as lines that `knowledge import` takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from core.domain.messages import Message
from core.domain.text import escape_json
from core.entrypoints.cli.exits import WrongCall, see_help
from core.entrypoints.cli.files import is_stdout, open_output
from core.entrypoints.cli.knowledge.tenants import known_owner
from core.entrypoints.cli.options import AgentId, Json, KindName, KindOption, Tenant
from core.entrypoints.cli.output import print_json, talk
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from core.app.program import App


def export(
    kind: KindOption = None,
    tenant: Tenant = None,
    agent: AgentId = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="File to write; stdout without it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write memories, rules and whole skills as they stand, one JSON object a line.

    With --json and -o stdout gets how many were written.
    """
    if as_json and is_stdout(out):
        raise WrongCall(Message("cli.json_lines"), hint=see_help("knowledge export"))
    with open_output(out) as stream:
        count = with_app(lambda opened: _write(opened, stream, kind, tenant, agent))
    if as_json:
        print_json({"written": count, "path": str(out)})
    elif not is_stdout(out):
        talk(f"{count} written to {out}")


async def _write(
    opened: App, stream: TextIO, kind: KindName | None, tenant: str | None, agent: str | None
) -> int:
    from core.domain.models import Kind
    from core.entrypoints.cli.progress import count_bar
    from core.knowledge.transfer.exporter import Exporter

    wanted = Kind(kind) if kind else None
    await opened.require_kind(wanted)
    tenant = await known_owner(opened, tenant, agent)
    exporter = Exporter(
        pages=opened.stores.pages,
        agents=opened.stores.agents,
        skills=opened.stores.skills,
        kinds=await opened.item_kinds(),
    )
    lines = exporter.lines(kind=wanted, tenant_id=tenant, agent_id=agent)
    count = 0
    with count_bar("exporting") as advance:
        async for line in lines:
            stream.write(escape_json(json.dumps(line, ensure_ascii=False)) + "\n")
            count += 1
            advance(1)
    return count
