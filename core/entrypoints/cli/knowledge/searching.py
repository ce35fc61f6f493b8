"""`skill-worker knowledge search`: one query from the command line, or one a line from stdin."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.text import to_json
from core.entrypoints.cli.exits import FAILED, describe
from core.entrypoints.cli.knowledge.tenants import known_owner, only_tenant, refresh_skills
from core.entrypoints.cli.options import AgentId, Json, KindName, KindOption, Tenant
from core.entrypoints.cli.output import print_page, print_table, say, talk
from core.entrypoints.cli.session import load, run_async

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from core.app.program import App
    from core.app.settings import Settings
    from core.domain.input_formats.lines import RawLine
    from core.domain.models import Hit

T = TypeVar("T")
STDIN = "-"
_MAX_LINE = 4 * 2**20


def search(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY", help="What to look for; `-` reads one query a line from stdin."
        ),
    ],
    kind: KindOption = None,
    agent: AgentId = None,
    tenant: Tenant = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, max=50, help="Most hits.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="Also what is for this end user.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Search what one tenant knows, best first; `-` answers each line of stdin with one of JSON."""
    wanted = _Wanted(kind=kind, agent_id=agent, tenant=tenant, limit=limit, user=user)
    settings = load(interactive=True)
    if query == STDIN:
        if run_async(_with_search(settings, wanted, _answer_lines)):
            raise typer.Exit(FAILED)
        return
    hits = run_async(_with_search(settings, wanted, lambda search: search.hits(query)))
    if as_json:
        print_page(hits)
    elif not hits:
        talk("nothing found")
    else:
        print_table(("SCORE", "KIND", "ID", "NAME", "EXCERPT", "WHY"), [*map(_row, hits)])


def _row(hit: Hit) -> tuple[str, ...]:
    """Return the cells of a hit; the name of a memory is only the beginning of its text."""
    name = "" if hit.kind == "MEMORY" else hit.name
    return f"{hit.score:.2f}", hit.kind, hit.id, name, hit.excerpt, hit.why


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    kind: KindName | None
    agent_id: str | None
    tenant: str | None
    limit: int | None
    user: str | None = None


class _Search:
    """A search of one tenant's knowledge on an opened app."""

    def __init__(self, opened: App, tenant_id: str, wanted: _Wanted, limit: int) -> None:
        self._app = opened
        self._tenant_id = tenant_id
        self._wanted = wanted
        self._limit = limit

    async def hits(self, query: str) -> Sequence[Hit]:
        """Return the hits. Raises InvalidInput if the query contains no words."""
        from core.domain.models import Kind
        from core.knowledge.search.tokens import read_question

        if not read_question(query).counts:
            raise InvalidInput(Message("cli.no_words"), hint=Message("cli.hint_words"))
        kind = Kind(self._wanted.kind) if self._wanted.kind else None
        await self._app.require_kind(kind)
        await refresh_skills(self._app, [self._tenant_id])
        return await self._app.stores.search.search(
            query,
            tenant_id=self._tenant_id,
            agent_id=self._wanted.agent_id,
            kind=kind,
            limit=self._limit,
            user=self._wanted.user,
        )


async def _with_search(
    settings: Settings, wanted: _Wanted, work: Callable[[_Search], Awaitable[T]]
) -> T:
    from core.app import program

    async with program.open_over_tenants(settings) as opened:
        tenant_id = await known_owner(opened, wanted.tenant, wanted.agent_id)
        tenant_id = tenant_id or await only_tenant(opened)
        await _tell_waiting(opened)
        return await work(_Search(opened, tenant_id, wanted, wanted.limit or settings.search_limit))


async def _tell_waiting(opened: App) -> None:
    """Say on stderr how many items are found by their words alone, as they lack a vector."""
    backlog = await opened.vectors.backlog() if opened.vectors else None
    if backlog and backlog.waiting:
        done = backlog.documents - backlog.waiting
        talk(Message("embedding.waiting", done=done, n=backlog.documents, model=backlog.model))


async def _answer_lines(search: _Search) -> int:
    """Answer each line before the next is read; return how many could not be answered."""
    from core.entrypoints.cli.files import read_lines

    failed = 0
    async for line in read_lines(sys.stdin.buffer, _MAX_LINE):
        if line.data is not None and not line.data.strip():
            continue
        answer: dict[str, JsonValue] = {"line": line.number}
        try:
            answer["query"] = query = _text(line)
            answer["items"] = [hit.model_dump(mode="json") for hit in await search.hits(query)]
        except InvalidInput as error:
            failed += 1
            answer["error"] = describe(error).data
        say(to_json(answer, indent=None))
        sys.stdout.flush()
    return failed


def _text(line: RawLine) -> str:
    if line.data is None:
        raise InvalidInput(Message("cli.line_large", n=_MAX_LINE // 2**20))
    try:
        return line.data.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidInput(Message("cli.line_not_utf8"), hint=Message("hint.utf8")) from None
