"""What UNRELATED excuses in a run: the items it was shown, none added later."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.domain.models import (
    ChangeRequest,
    Kind,
    Receipt,
    ReceiptStatus,
    SubmitContext,
    VerdictStatus,
)
from core.testing.gate import FakeGate
from core.testing.scripted_model import calls, says
from tests.support.gate import World, ask
from tests.support.react import AGENT, Bench

TEXT = "Fragile goods travel in boxes"
FIRST = "Fragile goods travel in double boxes"
LATER = "Fragile goods travel in padded boxes"
CREATE = {"operation": "CREATE", "content": TEXT, "reason": "new"}
UNRELATED = {**CREATE, "relationship": "UNRELATED", "reason": "these are other goods"}


class Meanwhile(FakeGate):
    """A gate over memory; another run of the agent commits after each submission."""

    def __init__(self, known: Sequence[str], later: Sequence[str]) -> None:
        super().__init__([])
        self.world = World()
        self.known, self.later = known, [*later]
        self.receipts: list[Receipt] = []

    async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
        for text in self.known:
            await self._commit(text)
        self.known = ()
        receipt = await self.world.gate.submit(request, context.model_copy(update={"fence": None}))
        self.receipts.append(receipt)
        if self.later:
            await self._commit(self.later.pop(0))
        return receipt

    async def contents(self) -> set[str]:
        items = await self.world.knowledge.list(
            tenant_id=AGENT.tenant_id, agent_id=None, kind=Kind.MEMORY
        )
        return {item.content for item in items}

    async def _commit(self, text: str) -> None:
        context = SubmitContext(key=text, tenant_id=AGENT.tenant_id, agent_id=AGENT.id)
        await self.world.gate.submit(ask(text, is_import=True), context)


async def test_what_another_run_commits_between_two_calls_is_shown_first() -> None:
    gate = Meanwhile([FIRST], [LATER])
    turns = [calls(("commit_to_memory", given)) for given in (CREATE, UNRELATED, UNRELATED)]
    verdict = await Bench([*turns, says("done")], gate=gate).run()
    assert verdict.status is VerdictStatus.COMPLETED
    shown = [[hit.excerpt for hit in receipt.hits] for receipt in gate.receipts]
    assert shown == [[FIRST], [LATER], []]
    assert await gate.contents() == {FIRST, LATER, TEXT}


@pytest.mark.parametrize("known", [[FIRST], [FIRST, LATER]])
async def test_what_a_run_was_not_shown_is_not_excused_unnamed(known: list[str]) -> None:
    gate = Meanwhile(known, [])
    turns = [calls(("commit_to_memory", given)) for given in (UNRELATED, UNRELATED)]
    await Bench([*turns, says("done")], gate=gate).run()
    refused, applied = gate.receipts
    assert refused.status is ReceiptStatus.REFUSED
    assert {hit.excerpt for hit in refused.hits} == {*known}
    assert applied.status is ReceiptStatus.APPLIED
    assert len(applied.warnings) == len(known)
