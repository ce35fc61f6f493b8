"""`skill-worker knowledge export`: all that is known, as lines that `knowledge import` takes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.text import escape_json
from core.entrypoints.cli.exits import WrongCall, see_help
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
    if as_json and _is_stdout(out):
        raise WrongCall(Message("cli.json_lines"), hint=see_help("knowledge export"))
    with _output(out) as stream:
        count = with_app(lambda opened: _write(opened, stream, kind, tenant, agent))
    if as_json:
        print_json({"written": count, "path": str(out)})
    elif not _is_stdout(out):
        talk(f"{count} written to {out}")


async def _write(
    opened: App, stream: TextIO, kind: KindName | None, tenant: str | None, agent: str | None
) -> int:
    from core.domain.models import Kind
    from core.entrypoints.cli.progress import count_bar
    from core.knowledge.transfer.exporter import Exporter

    tenant = await known_owner(opened, tenant, agent)
    exporter = Exporter(
        pages=opened.stores.pages, agents=opened.stores.agents, skills=opened.stores.skills
    )
    lines = exporter.lines(kind=Kind(kind) if kind else None, tenant_id=tenant, agent_id=agent)
    count = 0
    with count_bar("exporting") as advance:
        async for line in lines:
            stream.write(escape_json(json.dumps(line, ensure_ascii=False)) + "\n")
            count += 1
            advance(1)
    return count


def _is_stdout(out: Path | None) -> bool:
    return out is None or str(out) == "-"


@contextmanager
def _output(out: Path | None) -> Iterator[TextIO]:
    """Yield stdout, or a file that appears only once it is complete. Raises InvalidInput."""
    if out is None or _is_stdout(out):
        yield sys.stdout
        return
    draft = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
        draft.replace(out)
    except OSError as error:
        raise InvalidInput(Message("file.unwritable", path=out, why=error)) from None
    finally:
        draft.unlink(missing_ok=True)
