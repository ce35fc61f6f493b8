"""A program whose platform is on a real PostgreSQL, and what both say of the same knowledge."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from core.adapters.postgres.queries import connection
from core.app.bootstrap.sending import open_dispatcher
from core.app.program import App, open_app
from core.delivery.dispatcher import Dispatcher
from core.domain.models import (
    Agent,
    ChangeRequest,
    MemoryRequest,
    MergeMode,
    Operation,
    Receipt,
    RowEdit,
    RuleDraft,
    RuleRequest,
    SkillFile,
    SkillRequest,
    SubmitContext,
)
from core.domain.models.cases import CaseBody, Check
from core.domain.models.deliveries import Delivery, DeliveryFilter
from tests.contracts.suites.outbox import Clock
from tests.support.api import settings_of
from tests.support.platform_tables import PlatformTables, platform_tables
from tests.support.postgrest_server import KEY

TENANT = "acme"
AGENTS = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222")
BINARY = b"\x89PNG\0\xff"
WEEK = 604_800.0


@dataclass
class WritingBack:
    """An opened program with a dispatcher on a clock of its own, and the platform's tables."""

    app: App
    platform: PlatformTables
    clock: Clock
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    feedback_id: str | None = None  # what is taught from now on is taught by it
    words: str = "그렇게 해 주세요"
    _dispatcher: Dispatcher | None = None

    async def dispatcher(self) -> Dispatcher:
        """Return what a worker of this program delivers with."""
        if self._dispatcher is None:
            stores = self.app.stores
            opened = await self.stack.enter_async_context(
                open_dispatcher(stores, self.app.gate, None, works=True)
            )
            assert opened is not None
            self._dispatcher = Dispatcher(
                stores.outbox,
                opened._targets,
                stores.journal,
                clock=self.clock,
                jitter=lambda: 0.0,
            )
        return self._dispatcher

    async def deliver(self, rounds: int = 1) -> None:
        """Deliver what is due, round by round with enough time in between for every back-off."""
        for _ in range(rounds):
            await (await self.dispatcher()).drain()
            self.clock.forward(WEEK if rounds > 1 else 0)

    async def deliveries(self, **wanted: object) -> Sequence[Delivery]:
        """Return deliveries, newest first."""
        log = self.app.stores.delivery_log
        items, _ = await log.page(DeliveryFilter(**wanted), limit=500, cursor=None)  # type: ignore[arg-type]
        return items

    async def submit(self, request: ChangeRequest, agent_id: str = AGENTS[0]) -> Receipt:
        """Submit a change for an agent."""
        context = SubmitContext(
            key=f"test:{next(self.numbers)}",
            tenant_id=TENANT,
            agent_id=agent_id,
            feedback_id=self.feedback_id,
            feedback_content=self.words,
        )
        return await self.app.gate.submit(request, context)

    async def memory(self, content: str, agent_id: str = AGENTS[0]) -> Receipt:
        """Create a memory."""
        return await self.submit(
            MemoryRequest(operation=Operation.CREATE, content=content), agent_id
        )

    async def rule(
        self,
        name: str,
        *over: int,
        rule_id: str | None = None,
        mode: MergeMode | None = None,
        no_more: Sequence[int] = (),
    ) -> Receipt:
        """Create a decision table with a row for each amount, or change one.

        `no_more` are amounts that no row is to decide from now on.
        """
        rows = tuple(
            RowEdit(inputs={"금액": f"{n}"}, outputs={"승인자": f'"팀장 {n}"'}) for n in over
        )
        operation = Operation.UPDATE if rule_id else Operation.CREATE
        draft = RuleDraft(name=name, rows=rows)
        return await self.submit(
            RuleRequest(
                operation=operation,
                rule=draft,
                target_id=rule_id,
                merge_mode=mode,
                cases=tuple(CaseBody(check=Check.DECISION, inputs={"금액": n}) for n in no_more),
            )
        )

    async def skill(
        self, name: str, text: str = "first", agent_id: str = AGENTS[0], *, update: bool = False
    ) -> Receipt:
        """Create a skill with a script and a picture, or change it."""
        document = f"---\nname: {name}\ndescription: How to {name}. Use it then.\n---\n# {name}\n\n"
        folder = {
            "SKILL.md": SkillFile(data=f"{document}{text}\n".encode()),
            "scripts/run.py": SkillFile(data=b"print('hello')\n", executable=True),
            "assets/picture.png": SkillFile(data=BINARY),
        }
        operation = Operation.UPDATE if update else Operation.CREATE
        return await self.submit(
            SkillRequest(operation=operation, target_id=name, folder=folder), agent_id
        )

    async def delete(self, request: type[MemoryRequest | RuleRequest], target_id: str) -> Receipt:
        """Delete a memory or a table."""
        return await self.submit(request(operation=Operation.DELETE, target_id=target_id))

    async def listed(self, agent_id: str = AGENTS[0]) -> str | None:
        """Return the list of an agent on the platform."""
        (row,) = await self.platform.run("SELECT skills FROM users WHERE id = %s", agent_id)
        skills: str | None = row["skills"]
        return skills

    async def differences(self) -> list[str]:
        """Return where the platform's tables are not what ours say, one sentence each."""
        return [
            *await self._lists(),
            *await self._history(),
            *await self._tables(),
        ]

    async def _ours(self, statement: str) -> Sequence[Mapping[str, object]]:
        async with connection(self.app.stores.pool) as conn:
            return await (await conn.execute(statement)).fetchall()  # type: ignore[arg-type]

    async def _lists(self) -> list[str]:
        problems = []
        rows = await self.platform.run("SELECT skill_name, user_id::text FROM agent_skills")
        for agent in await self.app.stores.agents.list(TENANT):
            names = sorted(row["skill_name"] for row in rows if row["user_id"] == agent.id)
            found = await self.platform.run("SELECT skills FROM users WHERE id = %s", agent.id)
            text = found[0]["skills"] or ""
            if text != ",".join(sorted(agent.skills)) or names != sorted(agent.skills):
                problems.append(f"{agent.id} has {agent.skills}, there {text!r} and {names}")
        ours = [row["name"] for row in await self._ours("SELECT name FROM tenant_skills")]
        (tenant,) = await self.platform.run("SELECT skills FROM tenants WHERE id = %s", TENANT)
        if sorted(ours, key=str) != (tenant["skills"] or []):
            problems.append(f"the tenant has {ours}, there {tenant['skills']}")
        return problems

    async def _history(self) -> list[str]:
        ours = await self._ours(
            "SELECT * FROM history WHERE knowledge_type <> 'AGENT_SKILLS' AND agent_id <> ''"
        )
        theirs = await self.platform.run("SELECT * FROM agent_knowledge_history")
        told = sorted(map(_record, ours), key=str)
        there = sorted(map(_record_there, theirs), key=str)
        odd = [one for one in told if one not in there] + [one for one in there if one not in told]
        return [f"{len(told)} records, there {len(there)}: {odd[:2]}"] if told != there else []

    async def _tables(self) -> list[str]:
        states = await self._ours(
            "SELECT c.target_id, c.after -> 'content' AS content, c.id FROM history h"
            " JOIN changes c ON c.id = h.change_id"
            " WHERE h.knowledge_type = 'DMN_RULE' AND h.status <> 'failed' ORDER BY h.seq"
        )
        made: dict[str, list[object]] = {}
        for row in states:
            made.setdefault(str(row["target_id"]), []).append(row["content"])
        theirs = await self.platform.run("SELECT * FROM proc_def ORDER BY bpmn")
        versions = await self.platform.run('SELECT * FROM proc_def_version ORDER BY "timeStamp"')
        there = []
        for table in theirs:
            own = [row for row in versions if row["proc_def_id"] == table["id"]]
            numbered = [row["arcv_id"] == f"{table['id']}_{row['version']}" for row in own]
            assert all(numbered)
            assert UUID(table["id"])
            assert table["definition"] is None
            there.append((table["bpmn"], table["isdeleted"], [row["snapshot"] for row in own]))
        ours = []
        for contents in made.values():
            kept = [content for content in contents if content is not None]
            ours.append((kept[-1], contents[-1] is None, kept))
        ours, there = sorted(ours, key=str), sorted(there, key=str)
        return [] if ours == there else [f"{len(ours)} tables, there {len(there)}"]


def _record(row: Mapping[str, object]) -> tuple[object, ...]:
    return (
        row["knowledge_type"], row["knowledge_id"], row["agent_id"], row["operation"],
        row["feedback_content"], row["previous_content"], row["new_content"], row["created_at"],
    )  # fmt: skip


def _record_there(row: Mapping[str, object]) -> tuple[object, ...]:
    kind = row["knowledge_type"]
    contents = [_plain(kind, row[f"{when}_content"]) for when in ("previous", "new")]
    return (
        kind, row["knowledge_id"], str(row["agent_id"]), row["operation"],
        row["feedback_content"], *contents, row["created_at"],
    )  # fmt: skip


def _plain(kind: object, content: object) -> object:
    """Return the text that a content is made from."""
    if content is None or kind == "DMN_RULE":
        return content
    return json.loads(str(content))["memory" if kind == "MEMORY" else "SKILL.md"]


@asynccontextmanager
async def writing_back(
    database: str, platform_database: str, home: Path, **given: object
) -> AsyncIterator[WritingBack]:
    """Open a program with two agents that the platform has too."""
    async with platform_tables(platform_database) as platform:
        await platform.run("INSERT INTO tenants (id) VALUES (%s)", TENANT)
        for agent_id in AGENTS:
            await platform.run(
                "INSERT INTO users (id, tenant_id, username) VALUES (%s, %s, %s)",
                agent_id, TENANT, "clerk",
            )  # fmt: skip
        settings = settings_of(
            database, home, **{"supabase_url": platform.url, "supabase_key": KEY, **given}
        )
        async with open_app(settings) as app, AsyncExitStack() as stack:
            for agent_id in AGENTS:
                agent = Agent(id=agent_id, tenant_id=TENANT, name="clerk")
                await app.stores.agents.save(agent)
            yield WritingBack(app, platform, Clock(), stack=stack)
