"""`skill-worker rule export`: a learnt table as a .dmn file, byte for byte as it is stored."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall, see_help
from core.entrypoints.cli.options import AgentId, Json, Tenant
from core.entrypoints.cli.output import print_json, talk
from core.entrypoints.cli.session import with_app


def export(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the table.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="File to write.")
    ] = None,
    agent: AgentId = None,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Write a learnt table as DMN 1.3 XML, with the cases that its rows were learnt from.

    With --json and -o stdout gets which table it is and how many bytes it has.
    """
    from core.entrypoints.cli.rule.lookup import named_rule

    if as_json and out is None:
        raise WrongCall(Message("cli.json_xml"), hint=see_help("rule export"))
    item = with_app(lambda opened: named_rule(opened, name, tenant, agent))
    data = item.content.encode("utf-8")
    if out is None:
        sys.stdout.buffer.write(data)
        return
    try:
        out.write_bytes(data)
    except OSError as error:
        raise InvalidInput(Message("file.unwritable", path=out, why=error)) from None
    if as_json:
        print_json({"id": item.id, "name": item.name, "path": str(out), "size": len(data)})
    else:
        talk(f"{out}: {len(data)} bytes")
