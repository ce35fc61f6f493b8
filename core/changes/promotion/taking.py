"""Carry out a promotion: what was shown, through the target's gate, and what has moved is left."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from core.changes.promotion.plan import Standing, Step, hash_of, request_of
from core.changes.promotion.promoter import DONE, PREFIX, Promoter
from core.domain.errors import SkillWorkerError
from core.domain.hashing import memory_name, text_hash
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    Kind,
    Operation,
    Origin,
    Receipt,
    ReceiptStatus,
    SubmitContext,
)
from core.knowledge.transfer.importer import OF_THE_LINE
from core.knowledge.transfer.lines import FEW, Texts
from core.knowledge.transfer.owners import Owner

_SET = 100
_OPEN = {ChangeStatus.APPLYING, ChangeStatus.HELD, ChangeStatus.STALE, ChangeStatus.REJECTED}
_WORDS = {
    ReceiptStatus.HELD: "held",
    ReceiptStatus.KNOWN: "known",
    ReceiptStatus.ATTACHED: "updated",
    ReceiptStatus.REFUSED: "refused",
    ReceiptStatus.FAILED: "failed",
}
_DID = {
    Operation.CREATE: "created",
    Operation.UPDATE: "updated",
    Operation.DELETE: "deleted",
}


class Outcome(NamedTuple):
    """What a step came to, and why; `change_id` names the change where there is one."""

    word: str
    why: str = ""
    change_id: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether it did not come to what was asked: it was refused, or what it met has moved."""
        return self.word in {"refused", "failed", "moved"}


Done = AsyncIterator[tuple[Step, Outcome]]


async def take_shown(promoter: Promoter, shown: Sequence[Step]) -> Done:
    """Carry out the steps that were shown; what has moved since is left and said so.

    Raises DependencyDown.
    """
    fresh = {(step.kind, step.id): step for step in await promoter.plan()}
    unmoved = []
    for step in shown:
        now = fresh.get((step.kind, step.id))
        if step.writes and now is not None and now.mark == step.mark:
            unmoved.append(now)
        elif step.writes:
            yield step, Outcome("moved", Message("promote.moved"))
    async for done in take(promoter, unmoved):
        yield done


async def take(promoter: Promoter, steps: Sequence[Step]) -> Done:
    """Carry out steps in order, new memories in sets. Raises DependencyDown."""
    taker = _Taker(promoter)
    for is_new, group in groupby(steps, key=_is_new_memory):
        found = [*group]
        size = _SET if is_new else 1
        for at in range(0, len(found), size):
            async for done in taker.take(found[at : at + size], is_new=is_new):
                yield done


def _is_new_memory(step: Step) -> bool:
    return step.kind is Kind.MEMORY and step.standing is Standing.NEW


@dataclass(frozen=True)
class _Taker:
    promoter: Promoter
    texts: Texts = field(default_factory=Texts)

    async def take(self, steps: Sequence[Step], *, is_new: bool) -> Done:
        """Submit steps; new memories are compared with what is known by then, and each other."""
        gate, changes = self.promoter.target.gate, self.promoter.target.changes
        keys = [self._key(step) for step in steps]
        used = await changes.find_all(keys)
        if is_new and (len(steps) >= FEW or self.texts.is_all):
            to = self.promoter.to
            await self.texts.read(self.promoter.target.knowledge, Owner(to.tenant_id, to.id))
        earlier = [await self._earlier(key, used) for key in keys]
        asked = [self._asked(step, *one) for step, one in zip(steps, earlier, strict=True)]
        receipts = await gate.submit_all(asked)
        for step, (_, before), receipt in zip(steps, earlier, receipts, strict=True):
            yield step, _outcome(receipt, before)

    async def _earlier(self, key: str, used: Mapping[str, Change]) -> tuple[str, Change | None]:
        """Return the key to use, and the change that is open or was rejected under it."""
        earlier = used.get(key)
        while earlier is not None and earlier.status in DONE:  # it stands no more
            key = f"{key}:{earlier.id}"
            earlier = await self.promoter.target.changes.find(key)
        return key, earlier

    def _asked(
        self, step: Step, key: str, earlier: Change | None
    ) -> tuple[ChangeRequest, SubmitContext]:
        reason = earlier.reason if earlier and earlier.status in _OPEN else self._reason(step)
        compared = None
        if _is_new_memory(step) and step.after is not None:
            compared = self.texts.beside(step.after.text)
            self.texts.add(step.id, memory_name(step.after.text), step.after.text)
        context = SubmitContext(
            key=key,
            tenant_id=self.promoter.to.tenant_id,
            agent_id=self.promoter.to.id,
            origin=Origin.IMPORT,
            compared=compared,
            expects=None if step.is_listed else hash_of(step.before),
        )
        return request_of(step, reason), context

    def _key(self, step: Step) -> str:
        """Return the idempotency key: what is promoted onto which state of what."""
        to = self.promoter.to
        onto = [hash_of(step.before), str(step.is_listed)]
        if step.published is not None:
            onto.append(step.published.published.digest)
        digest = text_hash(json.dumps([to.tenant_id, to.id, step.kind, step.id, *onto]))
        return f"{PREFIX}{step.source}:{digest[:32]}"

    def _reason(self, step: Step) -> str:
        place, agent = self.promoter.place, self.promoter.agent
        whose = {"place": place, "agent": agent.id, "tenant": agent.tenant_id}
        if step.is_deleted:
            return Message("promote.reason_gone", **whose)
        return Message("promote.reason", **whose, version=step.version)


def _outcome(receipt: Receipt | SkillWorkerError, earlier: Change | None) -> Outcome:
    """Return what a receipt says. Raises errors that are not of this step alone."""
    if isinstance(receipt, OF_THE_LINE):
        return Outcome("refused", receipt.advice)
    if isinstance(receipt, SkillWorkerError):
        raise receipt
    word = _WORDS.get(receipt.status)
    if getattr(receipt.message, "code", "") == "receipt.waits":  # of a dry run, too
        word = "held"
    if earlier is not None and earlier.status is ChangeStatus.REJECTED:
        word = "rejected"
    word = word or _DID[receipt.operation or Operation.UPDATE]
    why = receipt.message if word in {"held", "refused", "failed", "rejected"} else ""
    return Outcome(word, why, receipt.change_id, receipt.warnings)
