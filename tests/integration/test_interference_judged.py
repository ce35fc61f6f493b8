"""What others rely on as a model judges it, over the protocol of a provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue
from starlette.responses import Response

from core.app.program import open_app
from core.domain.messages import translated
from core.domain.models import (
    Change,
    MemoryRequest,
    Operation,
    Receipt,
    ReceiptStatus,
)
from core.domain.text import read_fenced_json
from tests.integration.test_interference import Learning, opened, skill
from tests.support.api import settings_of
from tests.support.openai_server import Json, call, message, openai_server

ABOUT = "여행 확정을 안내한다"
STEPS = ("예약자에게 확정 안내를 보낸다.", "담당 가이드를 배정한다.", "여행자보험에 가입한다.")
ADDED = "일행 모두의 휴대폰으로도 확정 안내를 바로 발송한다."
SECRET = "비밀로 잡은 여행은 떠나기 전날까지 같이 가시는 부모님 쪽에 확정 안내가 가면 안 된다."
OTHER = "담당 가이드를 배정하면 명찰을 파란색으로 찍는다."
WHY = "비밀 여행의 부모님에게도 안내가 가서 들통난다"


@dataclass
class Provider:
    """Finds nothing in a second look, and judges as it is told; `judged` is what it was shown."""

    answers: Sequence[Json] | str
    judged: list[JsonValue] = field(default_factory=list)
    looked: int = 0

    def __call__(self, asked: Json) -> Response:
        tools, messages = asked["tools"], asked["messages"]
        assert isinstance(tools, list)
        assert isinstance(messages, list)
        if tools[0]["function"]["name"] == "SecondOpinion":
            self.looked += 1
            return call("SecondOpinion", findings=[])(asked)
        self.judged.append(read_fenced_json(messages[-1]["content"]))
        if isinstance(self.answers, str):
            return message(self.answers)(asked)
        return call("Judgements", answers=[*self.answers])(asked)


async def learn_of_trips(learning: Learning) -> None:
    for words in (SECRET, OTHER):
        await learning.learn(MemoryRequest(operation=Operation.CREATE, content=words))
    await learning.learn(skill("confirm-trip", ABOUT, *STEPS))


@asynccontextmanager
async def judging(
    database: str, home: Path, provider: Provider, **settings: bool
) -> AsyncIterator[Learning]:
    """Open a worker whose model is the provider; what it knows was learnt without one."""
    async with opened(database, home, "{}") as learning:
        await learn_of_trips(learning)
    file = home / "skill-worker.yaml"
    async with openai_server([]) as server:
        server.always = provider
        given = settings_of(
            database, home, llm_model="m", llm_proxy_url=server.url, skill_worker_config=file
        )
        async with open_app(given, model=True, **settings) as app:
            judged = Learning(app)
            judged.count = learning.count
            yield judged


async def submitted(learning: Learning, *steps: str) -> tuple[Receipt, Change]:
    receipt = await learning.submit(skill("confirm-trip", ABOUT, *steps, known=True))
    return receipt, await learning.change(receipt)


def says(n: int, *, broken: bool = True) -> Json:
    if not broken:
        return {"n": n, "broken": False}
    return {"n": n, "broken": True, "changed": ADDED, "relies": SECRET, "why": WHY}


async def test_what_a_model_confirms_is_held_with_both_quotes_and_why(
    database: str, tmp_path: Path
) -> None:
    provider = Provider([says(1)])
    async with judging(database, tmp_path, provider) as learning:
        receipt, change = await submitted(learning, *STEPS, ADDED)
        assert receipt.status is ReceiptStatus.HELD
        (shown,) = provider.judged
        assert SECRET in str(shown)
        (found,) = change.findings
        assert found.code == "second_look.interference"
        assert all(words in change.held[0] for words in (ADDED, SECRET, WHY))
        assert "맞지 않습니다" in translated("ko", found.text)
        # It is shown the difference, and nothing else of the item; nothing is asked to apply it.
        assert all(step not in str(shown) for step in STEPS)
        await learning.app.gate.decisions.approve(change.id, by="kim", allow="they were told")
        assert len(provider.judged) == 1


async def test_what_a_model_denies_is_neither_held_nor_told(database: str, tmp_path: Path) -> None:
    """By rules a note tells that a step goes whose words a memory has."""
    provider = Provider([says(n, broken=False) for n in (1, 2)])
    async with judging(database, tmp_path, provider) as learning:
        receipt, change = await submitted(learning, STEPS[0], STEPS[2])
    assert receipt.status is ReceiptStatus.APPLIED
    assert change.findings == ()
    assert OTHER in str(provider.judged)


async def test_an_answer_that_is_none_holds_as_a_second_look_does(
    database: str, tmp_path: Path
) -> None:
    unusable = '{"answers": [{"n": "one"}]}'
    async with judging(database, tmp_path, Provider(unusable)) as learning:
        receipt, change = await submitted(learning, *STEPS, ADDED)
        assert receipt.status is ReceiptStatus.HELD
        assert [one.code for one in change.findings] == [
            "second_look.failed",
            "interference.step_added",
        ]


async def test_the_stand_in_is_never_asked(database: str, tmp_path: Path) -> None:
    """It could give no answer, which would hold the change."""
    provider = Provider([])
    async with judging(database, tmp_path, provider, offline=True) as learning:
        receipt, _ = await submitted(learning, *STEPS, ADDED)
    assert receipt.status is ReceiptStatus.APPLIED
    assert (provider.judged, provider.looked) == ([], 0)
