"""`skill-worker history verify`, `export` and `calls`: the record as auditors want it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.text import escape_json
from core.entrypoints.cli.exits import FAILED, WrongCall, see_help
from core.entrypoints.cli.files import is_stdout, open_input, open_output
from core.entrypoints.cli.options import Cursor, Json, Limit, Tenant
from core.entrypoints.cli.output import print_json, print_list, print_model, say, talk
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.app.program import App
    from core.domain.models.audit import ChainEntry, ChainHead, ChainProblem, Verification

_MOST_BYTES = 256 * 2**20


def verify(
    file: Annotated[
        Path | None,
        typer.Argument(help="A file of `history export`; without it the database is verified."),
    ] = None,
    tenant: Tenant = None,
    anchor: Annotated[
        list[str] | None,
        typer.Option(
            "--anchor",
            metavar="SEQ:DIGEST",
            help="A head that the log has of the tenant's chain; may be repeated.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Find what was changed, taken out, put in or moved past the record; leaves with 1 then."""
    known = _anchors(anchor or [], tenant)
    if file is not None:
        found = _verify_file(file, tenant, known)
    else:
        found = with_app(lambda opened: _verify(opened, tenant, known))
    if as_json:
        print_model(found)
    else:
        _show(found)
    if found.problems:
        raise typer.Exit(FAILED)


def export(
    tenant: Tenant = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="File to write; stdout without it."),
    ] = None,
    contents: Annotated[
        bool,
        typer.Option("--contents/--no-contents", help="With texts, or with their digests alone."),
    ] = True,
    as_json: Json = False,
) -> None:
    """Write history and decisions with their digests, one JSON object a line.

    Whoever has the file can verify it without the database. With --json and -o stdout gets how many
    were written.
    """
    if as_json and is_stdout(out):
        raise WrongCall(Message("cli.json_lines"), hint=see_help("history export"))
    with open_output(out) as stream:
        count = with_app(lambda opened: _write(opened, stream, tenant, contents=contents))
    if as_json:
        print_json({"written": count, "path": str(out)})
    elif not is_stdout(out):
        talk(f"{count} written to {out}")


def calls(
    tenant: Tenant = None,
    caller: Annotated[
        str | None, typer.Option("--by", metavar="NAME", help="Only of this token or person.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only from this time on.")
    ] = None,
    refused: Annotated[
        bool, typer.Option("--refused", help="Only those that were refused or failed.")
    ] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: Json = False,
) -> None:
    """List calls that changed something or were refused, newest first, and who made them."""
    from core.domain.models.audit import CallFilter
    from core.entrypoints.cli.moments import read_moment

    moment = read_moment(since) if since else None
    wanted = CallFilter(tenant_id=tenant, caller=caller, since=moment, refused=refused or None)
    page = with_app(lambda opened: opened.stores.calls.page(wanted, limit=limit, cursor=cursor))
    print_list(
        page,
        ("AT", "VIA", "BY", "WHAT", "ABOUT", "OUTCOME", "TIMES"),
        lambda call: (
            f"{call.at:%Y-%m-%d %H:%M:%S %Z}",
            call.via,
            call.caller or "unknown",
            f"{call.method} {call.route}".strip(),
            ", ".join(call.ids.values()),
            call.outcome,
            call.times,
        ),
        as_json=as_json,
        empty="no calls",
    )


async def _verify(opened: App, tenant: str | None, known: Sequence[ChainHead]) -> Verification:
    from core.changes.audit import ChainCheck

    await _known(opened, tenant)
    audit = opened.stores.audit
    check = ChainCheck([*await audit.heads(tenant), *known], rows=True)
    async for entry in audit.entries(tenant):
        check.see(entry)
    for row in await audit.unchained(tenant):
        check.insert(*row)
    return check.end()


def _verify_file(file: Path, tenant: str | None, known: Sequence[ChainHead]) -> Verification:
    from core.changes.audit import ChainCheck

    check = ChainCheck(known, rows=False)
    with open_input(file) as handle:
        for number, line in enumerate(iter(lambda: handle.readline(_MOST_BYTES), b""), start=1):
            entry = _entry(line, number)
            if tenant in {None, entry.tenant_id}:
                check.see(entry)
    found = check.end()
    if not found.entries and not found.problems:
        raise InvalidInput(Message("audit.nothing"), hint=Message("audit.hint_export"))
    return found


def _entry(line: bytes, number: int) -> ChainEntry:
    from pydantic import ValidationError

    from core.domain.input_formats.text import explain
    from core.domain.models.audit import ChainEntry

    try:
        return ChainEntry.model_validate_json(line)
    except ValidationError as error:
        said = Message("audit.line", n=number, why=explain(error))
        raise InvalidInput(said, hint=Message("audit.hint_export")) from None


async def _write(opened: App, stream: TextIO, tenant: str | None, *, contents: bool) -> int:
    from core.changes.audit import exported
    from core.entrypoints.cli.progress import count_bar

    await _known(opened, tenant)
    count = 0
    with count_bar("exporting") as advance:
        async for entry in opened.stores.audit.entries(tenant):
            line = dict(exported(entry, contents=contents))
            stream.write(escape_json(json.dumps(line, ensure_ascii=False)) + "\n")
            count += 1
            advance(1)
    return count


async def _known(opened: App, tenant: str | None) -> None:
    from core.entrypoints.cli.knowledge.tenants import known_tenant

    if tenant is not None:
        await known_tenant(opened, tenant)


def _anchors(given: Sequence[str], tenant: str | None) -> list[ChainHead]:
    from core.domain.models.audit import ChainHead

    heads = []
    for anchor in given:
        seq, _, digest = anchor.partition(":")
        if tenant is None or not seq.isdecimal() or not digest:
            raise WrongCall(Message("audit.anchor"), hint=see_help("history verify"))
        heads.append(ChainHead(tenant_id=tenant, seq=int(seq), digest=digest))
    return heads


def _show(found: Verification) -> None:
    for problem in found.problems:
        say(f"{problem.fault}: {_place(problem)}: {problem.message}")
    for head in found.heads:
        talk(f"tenant {head.tenant_id}: head {head.seq}:{head.digest}")
    erased = f", {found.erased} contents erased" if found.erased else ""
    so = f"{len(found.problems)} problems" if found.problems else "whole"
    say(f"{found.entries} entries of {len(found.heads)} tenants{erased}: {so}")


def _place(problem: ChainProblem) -> str:
    row = f", {problem.kind} {problem.subject}" if problem.subject else ""
    entry = f", entry {problem.seq}" if problem.seq is not None else ""
    return f"tenant {problem.tenant_id}{entry}{row}"
