"""Changes that take away what other items rely on, through the gate on the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.app.program import App, open_app
from core.decision_table import to_xml
from core.domain.messages import translated
from core.domain.models import (
    SKILL_MD,
    Agent,
    Change,
    ChangeRequest,
    DecisionRow,
    DecisionTable,
    InputColumn,
    Kind,
    MemoryRequest,
    MergeMode,
    Operation,
    OutputColumn,
    Receipt,
    ReceiptStatus,
    RuleRequest,
    ScreenSeverity,
    SkillFile,
    SkillRequest,
    SubmitContext,
)
from tests.support.api import settings_of

ORDER = (
    "남은 원단을 센다.",
    "답으로 온 입고 예정일을 시트 `입고일정`에 적는다.",
    "발주서를 철한다.",
)


class Learning:
    """What an agent learns, one change after another."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.count = 0

    async def submit(self, request: ChangeRequest) -> Receipt:
        self.count += 1
        context = SubmitContext(key=f"k{self.count}", tenant_id="t", agent_id="a")
        return await self.app.gate.submit(request, context)

    async def learn(self, request: ChangeRequest) -> str:
        receipt = await self.submit(request)
        assert receipt.status is ReceiptStatus.APPLIED, receipt
        assert receipt.target_id is not None
        return receipt.target_id

    async def change(self, receipt: Receipt) -> Change:
        assert receipt.change_id is not None
        return await self.app.stores.changes.get(receipt.change_id)


@pytest.fixture
async def learning(database: str, tmp_path: Path) -> AsyncIterator[Learning]:
    async with opened(database, tmp_path, "screen: {classes: {interference: hold}}") as learning:
        yield learning


@asynccontextmanager
async def opened(database: str, home: Path, config: str) -> AsyncIterator[Learning]:
    file = home / "skill-worker.yaml"
    file.write_text(config, "utf-8")
    async with open_app(settings_of(database, home, skill_worker_config=file)) as app:
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        yield Learning(app)


def skill(
    name: str, about: str, *steps: str, files: Mapping[str, str] | None = None, known: bool = False
) -> SkillRequest:
    numbered = "".join(f"{at}. {step}\n" for at, step in enumerate(steps, 1))
    head = f"---\nname: {name}\ndescription: {about}\n---\n\n# {about}\n\n"
    texts = {SKILL_MD: head + numbered, **(files or {})}
    return SkillRequest(
        operation=Operation.UPDATE if known else Operation.CREATE,
        target_id=name if known else None,
        folder={path: SkillFile(data=text.encode()) for path, text in texts.items()},
        merge_mode=MergeMode.REPLACE if known else None,
        is_import=not known,
    )


def table(*rows: tuple[str, str, str], of: str | None = None) -> RuleRequest:
    made = DecisionTable(
        name="배송 등급",
        inputs=(
            InputColumn(name="도착 희망", type="number"),
            InputColumn(name="부피", type="number"),
        ),
        outputs=(OutputColumn(name="등급"),),
        rows=tuple(
            DecisionRow(id=f"r{at}", inputs=row[:2], outputs=(f'"{row[2]}"',))
            for at, row in enumerate(rows)
        ),
    )
    return RuleRequest(
        operation=Operation.UPDATE if of else Operation.CREATE,
        target_id=of,
        document=to_xml(made, decision_id="d1"),
        merge_mode=MergeMode.REPLACE if of else None,
    )


async def test_a_dropped_step_that_a_script_reads_is_held_with_both_quotes(
    learning: Learning,
) -> None:
    script = {"scripts/due.py": "rows = read_sheet('입고일정')\n"}
    await learning.learn(
        skill("lead-time", "손님에게 납기를 알린다", "입고일을 찾는다.", files=script)
    )
    await learning.learn(skill("place-order", "원단을 발주한다", *ORDER))

    safe = skill("place-order", "원단을 발주한다", *ORDER[:2], known=True)
    await learning.learn(safe)

    held = await learning.submit(skill("place-order", "원단을 발주한다", ORDER[0], known=True))
    assert held.status is ReceiptStatus.HELD
    change = await learning.change(held)
    (found,) = change.findings
    assert found.code == "interference.step_removed"
    (why,) = change.held
    assert all(quote in why for quote in (ORDER[1], "read_sheet('입고일정')", "lead-time"))
    assert "그것을 전제로 합니다" in translated("ko", found.text)


async def test_an_outcome_renamed_under_a_memory_is_held_an_unused_one_is_not(
    learning: Learning,
) -> None:
    words = "배송 등급이 '특급'인 상자는 오전 조에 준다"
    await learning.learn(MemoryRequest(operation=Operation.CREATE, content=words))
    last = ("> 1", "-", "보통")
    rule = await learning.learn(table(("<= 1", "<= 40", "특급"), ("<= 1", "> 40", "화물"), last))
    unused = ("<= 1", "<= 40", "특급"), ("<= 1", "> 40", "대형"), last
    await learning.learn(table(*unused, of=rule))

    renamed = ("<= 1", "<= 40", "프리미엄"), ("<= 1", "> 40", "대형"), last
    change = await learning.change(await learning.submit(table(*renamed, of=rule)))
    (found,) = change.findings
    assert (change.kind, found.code) == (Kind.DMN_RULE, "interference.value_changed")
    assert words in found.text


async def test_an_import_is_not_looked_at(learning: Learning) -> None:
    await learning.learn(skill("lead-time", "납기", "시트 `입고일정`에서 입고 예정일을 찾는다."))
    await learning.learn(skill("place-order", "원단을 발주한다", *ORDER))
    cut = skill("place-order", "원단을 발주한다", ORDER[0], known=True)
    await learning.learn(cut.model_copy(update={"is_import": True}))


async def test_without_a_setting_it_is_told_and_holds_nothing(
    database: str, tmp_path: Path
) -> None:
    async with opened(database, tmp_path, "") as learning:
        await learning.learn(
            skill("lead-time", "납기", "시트 `입고일정`에서 입고 예정일을 찾는다.")
        )
        await learning.learn(skill("place-order", "원단을 발주한다", *ORDER))
        receipt = await learning.submit(skill("place-order", "발주", ORDER[0], known=True))
        assert receipt.status is ReceiptStatus.APPLIED
        change = await learning.change(receipt)
        assert [one.severity for one in change.findings] == [ScreenSeverity.NOTE]
