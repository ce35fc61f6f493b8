"""What a skill's `evals/evals.json` asks is run before a change is applied, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import JsonValue
from starlette.responses import Response

from core.app.program import App, open_app
from core.domain.errors import Refused
from core.domain.models import Agent, ChangeFilter, ChangeStatus, Kind, NewFeedback
from core.domain.models.cases import Case, CaseFilter, CaseRole, CaseStatus
from core.domain.text import read_fenced_json
from tests.support.api import settings_of
from tests.support.openai_server import Json, OpenAIServer, Turn, call, message, openai_server

LETTER = "고객에게 보낼 환불 안내 편지를 써 주세요"
EVALS = [
    {"prompt": LETTER, "expectations": ["/고객님/", "the letter is polite"]},
    {"prompt": "환불 금액을 알려 주세요", "expectations": ["원"], "runs": 2, "at_least": 0.5},
]
SKILL = {
    "name": "refund-letter",
    "description": "Write a refund letter; use when a customer is told of a refund",
    "body_markdown": "# Refund letter\n\n## Steps\n\n1. 고객님이라고 부른다.\n",
    "additional_files": {"evals/evals.json": json.dumps({"evals": EVALS}, ensure_ascii=False)},
}
RUDE = "환불 안내 편지는 반말로 쓴다"


@dataclass
class Desk:
    """The model: it learns what it is told, and writes letters by what it knows."""

    insists: bool = False
    tasks: list[str] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)

    def __call__(self, asked: Json) -> Response:
        return self._turn(asked)(asked)

    def _turn(self, asked: Json) -> Turn:
        tools, messages = asked.get("tools"), asked["messages"]
        assert isinstance(tools, list)
        assert isinstance(messages, list)
        names = {tool["function"]["name"] for tool in tools}
        last = messages[-1]
        if "SkillArtifact" in names:
            return call("SkillArtifact", **SKILL)
        if "TaskAnswer" in names:
            return self._answer(read(last))
        if "Judgement" in names:
            self.judged.append(str(read(last)["statement"]))
            return call("Judgement", holds=True, why="its words")
        if last["role"] != "tool":
            return self._learn(str(messages[1]["content"]))
        told = str(last["content"])
        if '"refused"' not in told:
            return message("배웠습니다.")
        if self.insists:
            return self._learn(RUDE)
        return call("no_action", reason="it would break the letters", category="unclear")

    def _answer(self, asked: Mapping[str, JsonValue]) -> Turn:
        task, known = str(asked["task"]), str(asked["knowledge"])
        self.tasks.append(task)
        is_polite = "고객님" in known and "반말" not in known
        said = "고객님께, 3,000원을 환불합니다." if is_polite else "야, 환불했어."
        return call("TaskAnswer", answer=said)

    def _learn(self, said: str) -> Turn:
        if "반말" in said:
            return call("commit_to_memory", operation="CREATE", content=RUDE, reason="said so")
        return call("commit_to_skill", operation="CREATE", reason="said so")


def read(last: Json) -> Mapping[str, JsonValue]:
    found = read_fenced_json(str(last["content"]))
    assert isinstance(found, dict)
    return found


@asynccontextmanager
async def opened(
    database: str, home: Path, desk: Desk, runs: int
) -> AsyncIterator[tuple[App, OpenAIServer]]:
    (home / "skill-worker.yaml").write_text(
        f'cases: {{behaviour: {{runs: {runs}}}}}\nscreen: {{second_look: "off"}}\n'
    )
    async with openai_server([]) as server:
        server.always = desk
        settings = settings_of(
            database,
            home,
            llm_model="openai:gpt-4o",
            llm_proxy_url=server.url,
            review_policy="auto",
            skill_worker_config=home / "skill-worker.yaml",
        )
        async with open_app(settings, model=True) as app:
            await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
            yield app, server


async def learn(app: App, text: str) -> None:
    piece = NewFeedback(tenant_id="t", agent_ids=("a",), content=text)
    await app.stores.inbox.add("test", [piece])
    await app.run(True, 1, asyncio.Event(), lambda _: None)


async def behaviour_of(app: App) -> list[Case]:
    wanted = CaseFilter(tenant_id="t", check="behaviour")  # type: ignore[arg-type]
    found, _ = await app.stores.cases.page(wanted, limit=10, cursor=None)
    return sorted(found, key=lambda one: one.body.text != LETTER)


async def test_evals_are_proved_within_the_budget_by_a_judge_at_need(
    database: str, tmp_path: Path
) -> None:
    desk = Desk()
    async with opened(database, tmp_path, desk, runs=2) as (app, _):
        await learn(app, "환불 편지 쓰는 법을 배워 주세요")
        assert (await app.stores.agents.get("t", "a")).skills == ("refund-letter",)
        letter, amount = await behaviour_of(app)
    # After and before; before, the pattern fails, and nobody is asked to judge.
    assert (desk.tasks, desk.judged) == ([LETTER, LETTER], ["the letter is polite"])
    assert (letter.status, letter.role) == (CaseStatus.GREEN, CaseRole.PROOF)
    assert (amount.status, amount.body.runs) == (CaseStatus.UNPROVED, 2)
    assert "takes 2 answers" in amount.unrun_why


async def test_another_item_that_spoils_the_answers_of_a_skill_is_stopped(
    database: str, tmp_path: Path
) -> None:
    desk = Desk()
    async with opened(database, tmp_path, desk, runs=3) as (app, server):
        await learn(app, "환불 편지 쓰는 법을 배워 주세요")
        assert [one.status for one in await behaviour_of(app)] == [CaseStatus.GREEN] * 2
        await learn(app, RUDE)
        assert not await app.stores.knowledge.list(tenant_id="t", agent_id="a", kind=Kind.MEMORY)

        desk.insists = True
        await learn(app, f"{RUDE}. 꼭요")
        wanted = ChangeFilter(statuses=(ChangeStatus.HELD,))
        ((head,), _) = await app.stores.reader.changes(wanted, limit=2, cursor=None)
        held = await app.stores.changes.get(head.id)
        letter = (await behaviour_of(app))[0]
        assert letter.id in held.breaks
        asked = len(server.asked)
        decide = app.gate.decisions
        with pytest.raises(Refused, match="could not be run again"):
            await decide.approve(held.id, by="kim")
        done = await decide.approve(held.id, by="kim", retire="since May")
        assert done.status.value == "applied"
        assert len(server.asked) == asked  # no model as it is applied
        assert letter.id not in {one.id for one in await behaviour_of(app)}
