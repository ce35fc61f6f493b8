"""What a model would be asked about where one agent knows the items of all stories of the sets.

Everything goes through the gate into a database of its own, and the look of the gate searches
there: so it also counts what the search does not find.
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
from core.knowledge.interference import doubt, find_reliance
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
    head = f"  {f'one agent, {known} items':<24}{'in the search':<28}among what is asked"
    rows = [
        f"  {name:<24}{interference.share(searched, of):<28}{interference.share(asked, of)}"
        for name, (searched, asked, of) in counts.items()
    ]
    return "\n".join([head, *rows])


async def _counted(
    home: Path, paths: Sequence[Path]
) -> tuple[Mapping[str, tuple[int, int, int]], int]:
    place = {"skill_worker_home": home, "database_url": None, "skill_api_base_url": None}
    async with open_over_tenants(load_settings({**place, "screen": "note"})) as app:
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        ids: dict[str, str] = {}
        for path in paths:
            await _learn(app, path, ids)
        counts = {}
        for path in paths:
            found = [await _looked(app, row, line, ids) for row, line in _pairs(path)]
            searched, asked = (sum(one[at] for one in found) for at in (0, 1))
            counts[path.stem] = searched, asked, len(found)
    return counts, len(ids)


def _pairs(path: Path) -> list[tuple[Row, interference.Line]]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    both = zip(rows, interference.lines(path), strict=True)
    return [(row, line) for row, line in both if line.is_harmful]


async def _learn(app: App, path: Path, ids: dict[str, str]) -> None:
    """Have the agent learn the other items of a set; `ids` has what it knows them by."""
    for text in path.read_text("utf-8").splitlines():
        for row in _others(json.loads(text)):
            known = _known_by(row)
            if known not in ids:
                n = len(ids)
                context = SubmitContext(key=f"k{n}", tenant_id="t", agent_id="a")
                receipt = await app.gate.submit(_request(row, {*ids.values()}, n), context)
                assert receipt.target_id is not None, receipt
                ids[known] = receipt.target_id


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


async def _looked(
    app: App, row: Row, line: interference.Line, ids: Mapping[str, str]
) -> tuple[bool, bool]:
    """Return whether what relies is found by the search, and whether it would be asked about."""
    look = Interference(app.stores.search, app.stores.skills, DEFAULT)
    wanted = next(ids[_known_by(one)] for one in _others(row) if one["id"] == line.relies)
    change = Change.model_construct(
        kind=Kind(line.before.kind), target_id=line.before.name, tenant_id="t", agent_id="a"
    )
    near = await look.nearest(change, line.before, line.after)
    reliances = find_reliance(line.before, line.after, near)
    asked = doubt(line.before, line.after, near, reliances, is_ranked=True).pairs
    return any(one.id == wanted for one in near), any(one.item.id == wanted for one in asked)
