"""Imports into, and exports out of, an opened program."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

from pydantic import JsonValue

from core.app.program import App
from core.domain.input_formats.agents import tenants_by_agent
from core.domain.input_formats.feedback import Problem
from core.domain.input_formats.lines import LineSplitter, RawLine
from core.domain.models import Agent, Change, ChangeFilter, Kind
from core.knowledge.transfer.exporter import Exporter
from core.knowledge.transfer.importer import Imported, Importer
from core.knowledge.transfer.owners import Owners
from core.knowledge.transfer.pipeline import import_lines

AGENTS = (
    Agent(id="a", tenant_id="t", name="A"),
    Agent(id="b", tenant_id="t", name="B"),
    Agent(id="c", tenant_id="u", name="C"),
)
Line = dict[str, JsonValue]


async def as_lines(data: bytes) -> AsyncIterator[RawLine]:
    splitter = LineSplitter(1_000_000)
    for line in [*splitter.feed(data), *splitter.end()]:
        yield line


@dataclass
class Place:
    """A program into and out of which knowledge is moved."""

    app: App

    async def take(
        self,
        *lines: Line | bytes,
        replace: bool = False,
        agent: str | None = None,
        tenant: str | None = None,
        dry_run: bool = False,
    ) -> list[Imported | Problem]:
        """Import lines; return the result of each that is not blank."""
        importer = Importer(
            gate=self.app.gate,
            changes=self.app.stores.changes,
            knowledge=self.app.stores.knowledge,
            skills=self.app.stores.skills,
            owners=Owners(tenants_by_agent(await self.app.stores.agents.list()), tenant, agent),
            origin="test.jsonl",
            replace=replace,
            dry_run=dry_run,
        )
        results: list[Imported | Problem] = []
        parts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in lines]
        await import_lines(
            as_lines(b"\n".join(parts)),
            importer,
            1000,
            lambda result, _: results.append(result) if result else None,
        )
        return results

    async def give(
        self, kind: Kind | None = None, tenant: str | None = None, agent: str | None = None
    ) -> list[Line]:
        """Export."""
        exporter = Exporter(
            pages=self.app.stores.pages,
            agents=self.app.stores.agents,
            skills=self.app.stores.skills,
        )
        if agent is not None and tenant is None:
            (tenant,) = [known.tenant_id for known in AGENTS if known.id == agent]
        lines = exporter.lines(kind=kind, tenant_id=tenant, agent_id=agent)
        return [line async for line in lines]

    async def contents(self, agent: str | None = None) -> list[str]:
        """Return the known memories and rules."""
        items = await self.app.stores.knowledge.list(tenant_id=None, agent_id=agent, kind=None)
        return sorted(item.content for item in items if item.kind is not Kind.SKILL)

    async def changes(self) -> list[Change]:
        """Return all changes, newest first."""
        return [*(await self.app.stores.reader.changes(ChangeFilter(), limit=100, cursor=None))[0]]


def short(results: list[Imported | Problem]) -> list[str]:
    """Return one word per line: the outcome, or why not."""
    return [r.outcome if isinstance(r, Imported) else r.reason for r in results]
