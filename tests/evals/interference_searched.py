"""What a model would be asked about where agents know the items of the sets in a database.

Everything goes through the gate into a database of its own, and the look of the gate searches
there: so it also counts what the search does not find. Each story has an agent of its own, and
one more agent knows the items of all.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from core.app.observability import configure_logging
from core.app.program import App, open_over_tenants
from core.app.settings import load_settings
from core.changes.interference import Interference
from core.decision_table import to_xml
from core.domain.models import (
    SKILL_MD,
    Agent,
    Change,
    ChangeRequest,
    DecisionTable,
    Kind,
    MemoryRequest,
    Operation,
    RuleRequest,
    SkillFile,
    SkillRequest,
    SubmitContext,
)
from core.knowledge.interference import Answer, Doubt, doubt, find_reliance
from core.safety.config import DEFAULT
from tests.evals import interference

Row = Mapping[str, JsonValue]


def main(arguments: Sequence[str]) -> int:
    """Print the figures of the sets that the arguments name."""
    print(report(interference.sets(arguments)))
    return 0


def report(paths: Sequence[Path]) -> str:
    """Return how often what relies is found by the search, and among what would be asked."""
    configure_logging("error", "console")
    with tempfile.TemporaryDirectory(prefix="skill-worker-evals-") as home:
        counts, known = asyncio.run(_counted(Path(home), paths))
    head = (
        f"  {'':<18}{'an agent each':<28}{f'one agent, {known} items':<28}(of which in its search)"
    )
    rows = [
        f"  {name:<18}" + "".join(f"{interference.share(n, of):<28}" for n in (alone, asked, found))
        for name, (alone, asked, found, of) in counts.items()
    ]
    return "\n".join([head, *(row.rstrip() for row in rows)])


async def _counted(
    home: Path, paths: Sequence[Path]
) -> tuple[Mapping[str, tuple[int, int, int, int]], int]:
    place = {"skill_worker_home": home, "database_url": None, "skill_api_base_url": None}
    counts = {}
    async with open_over_tenants(load_settings({**place, "screen": "note"})) as app:
        everybody = _Agent(app, "all")
        for path in paths:
            for row, _ in _pairs(path):
                await everybody.learn(row)
        for path in paths:
            crowd = [await everybody.looks(row, line) for row, line in _pairs(path)]
            alone = [await _alone(app, row, line) for row, line in _pairs(path)]
            asked, found = (sum(one[at] for one in crowd) for at in (1, 0))
            counts[path.stem] = sum(is_asked for _, is_asked in alone), asked, found, len(crowd)
    return counts, len(everybody.ids)


async def _alone(app: App, row: Row, line: interference.Line) -> tuple[bool, bool]:
    agent = _Agent(app, line.id)
    await agent.learn(row)
    return await agent.looks(row, line)


async def _says_nothing(change: Change, doubt: Doubt) -> Sequence[Answer]:
    return ()


class _Agent:
    """An agent in a tenant of its own, with what it knows by the row of a set."""

    def __init__(self, app: App, tenant: str) -> None:
        self._app, self._tenant = app, tenant
        self.ids: dict[str, str] = {}

    async def learn(self, row: Row) -> None:
        """Learn the other items of a story."""
        await self._app.stores.agents.save(
            Agent(id=self._tenant, tenant_id=self._tenant, name=self._tenant)
        )
        for other in _others(row):
            known, n = _known_by(other), len(self.ids)
            if known not in self.ids:
                key = f"{self._tenant}:{n}"
                context = SubmitContext(key=key, tenant_id=self._tenant, agent_id=self._tenant)
                request = _request(other, {*self.ids.values()}, n)
                receipt = await self._app.gate.submit(request, context)
                assert receipt.target_id is not None, receipt
                self.ids[known] = receipt.target_id

    async def looks(self, row: Row, line: interference.Line) -> tuple[bool, bool]:
        """Return whether the search finds what relies, and whether it would be asked about."""
        look = Interference(
            self._app.stores.search, self._app.stores.skills, DEFAULT, _says_nothing
        )
        wanted = next(self.ids[_known_by(one)] for one in _others(row) if one["id"] == line.relies)
        change = Change.model_construct(
            kind=Kind(line.before.kind),
            target_id=line.before.name,
            tenant_id=self._tenant,
            agent_id=self._tenant,
        )
        near = await look.nearest(change, line.before, line.after)
        reliances = find_reliance(line.before, line.after, near)
        asked = doubt(line.before, line.after, near, reliances, is_ranked=True).pairs
        return any(one.id == wanted for one in near), any(one.item.id == wanted for one in asked)


def _pairs(path: Path) -> list[tuple[Row, interference.Line]]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    both = zip(rows, interference.lines(path), strict=True)
    return [(row, line) for row, line in both if line.is_harmful]


def _others(row: Row) -> Sequence[Row]:
    others = row["others"]
    assert isinstance(others, list)
    return [one for one in others if isinstance(one, dict)]


def _known_by(row: Row) -> str:
    return json.dumps(row, sort_keys=True)


def _request(row: Row, taken: set[str], n: int) -> ChangeRequest:
    if row["kind"] == "MEMORY":
        text = str(row["text"])
        return MemoryRequest(operation=Operation.CREATE, content=text, is_import=True)
    if row["kind"] == "DMN_RULE":
        document = to_xml(_in_feel(interference.read_rows(row)), decision_id=f"d{n}")
        return RuleRequest(operation=Operation.CREATE, document=document, is_import=True)
    name = f"{row['name']}-{n}" if row["name"] in taken else str(row["name"])
    files = row["files"]
    assert isinstance(files, dict)
    head = f"---\nname: {name}\ndescription: {row['description']}\n---\n\n"
    texts = {SKILL_MD: f"{head}{row['body']}", **files}
    folder = {path: SkillFile(data=str(text).encode()) for path, text in texts.items()}
    return SkillRequest(operation=Operation.CREATE, folder=folder, is_import=True)


def _in_feel(table: DecisionTable) -> DecisionTable:
    """Return a table whose cells are texts: those of the stories are prose."""
    rows = tuple(
        row.model_copy(
            update={
                "inputs": tuple(map(_quoted, row.inputs)),
                "outputs": tuple(map(_quoted, row.outputs)),
            }
        )
        for row in table.rows
    )
    inputs, outputs = (
        tuple(column.model_copy(update={"type": "string"}) for column in columns)
        for columns in (table.inputs, table.outputs)
    )
    return table.model_copy(update={"rows": rows, "inputs": inputs, "outputs": outputs})


def _quoted(cell: str) -> str:
    return cell if cell in {"-", ""} else json.dumps(cell.strip('"'), ensure_ascii=False)
