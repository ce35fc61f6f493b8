"""Cases beside the work: what was brought in gets derived ones, and all are run once a day."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from core.changes.cases.proposed import asks, can_prove, derive, new_case
from core.changes.cases.running import gone
from core.changes.cases.wording import told_of
from core.domain.errors import SkillWorkerError
from core.domain.models import Change, ChangeStatus, Kind, Operation, Snapshot
from core.domain.models.cases import (
    BareItem,
    Case,
    CaseBody,
    CaseFilter,
    CaseOrigin,
    CaseRole,
    CaseStatus,
    Check,
)
from core.domain.ports import CaseRunner, Cases, CaseUpkeep, Journal, SkillStore

ITEMS = 50  # a round
_BATCH = 50
_DAY = 86_400.0
ROUND_SECONDS = 60.0


@dataclass
class CaseKeeping:
    """Derives cases for items without any, and runs all live ones once a day.

    It runs beside the work, in each worker: what two derive is stored once, and one runs them all.
    Items are read in the order in which they were written, so that each is looked at once; a worker
    that starts anew looks at those again for which nothing could be derived.
    """

    upkeep: CaseUpkeep
    cases: Cases
    runner: CaseRunner
    skills: SkillStore
    journal: Journal
    _after: int = field(default=0, init=False)

    async def work(self) -> None:
        """Derive cases for a round of items, and run all cases if that is due."""
        await self.derive()
        if await self.upkeep.is_due(_DAY):
            await self.run_all()

    async def derive(self, limit: int = ITEMS) -> int:
        """Derive cases for the next items without any; return how many items were looked at."""
        found = await self.upkeep.bare(self._after, limit)
        for item in found:
            self._after = item.revision
            if made := await self._derived(item):
                await self.journal.emit(
                    told_of("case.derived", made[0], cases=[case.id for case in made])
                )
        return len(found)

    async def run_all(self) -> int:
        """Run all live cases that need no model, note how they end; return how many ran."""
        cursor, ran = None, 0
        while True:
            page, cursor = await self.cases.page(CaseFilter(), limit=_BATCH, cursor=cursor)
            wanted = [case for case in page if _runs(case)]
            results = await self.runner.now(wanted) if wanted else ()
            await self.cases.note(results)
            for one in results:
                if one.passed is False and one.case.status is CaseStatus.GREEN:
                    await self.journal.emit(told_of("case.failed", one.case, case=one.case.id))
            ran += len(results)
            if cursor is None:
                return ran

    async def _derived(self, item: BareItem) -> Sequence[Case]:
        """Store the derived cases of an item that hold, and return them."""
        made = cases_for(item, await self._text(item))
        results = await self.runner.now(made) if made else ()
        kept = [
            one.case.model_copy(update={"status": CaseStatus.GREEN})
            for one in results
            if one.passed
        ]
        await self.upkeep.keep(kept)
        return kept

    async def _text(self, item: BareItem) -> str:
        if item.kind is not Kind.SKILL:
            return item.content
        with suppress(SkillWorkerError, UnicodeDecodeError):  # it has none until it is changed
            bundle = await self.skills.read(item.item_id, item.tenant_id)
            return bundle.document if bundle is not None else ""
        return ""


def cases_for(item: BareItem, text: str) -> Sequence[Case]:
    """Return what code derives from an item as it stands, as if it were new."""
    if not text.strip() or item.agent_id is None:
        return ()
    change = _as_new(item, text)
    return [_case(item, change, body) for body in derive(change)]


def _as_new(item: BareItem, text: str) -> Change:
    return Change(
        id="",
        key="",
        digest="",
        tenant_id=item.tenant_id,
        agent_id=item.agent_id or "",
        kind=item.kind,
        target_id=item.item_id,
        target_name=item.name,
        operation=Operation.CREATE,
        before=None,
        after=Snapshot(content=text, name=item.name),
        base_hash="",
        status=ChangeStatus.APPLIED,
        feedback_id=item.feedback_id,
    )


def _case(item: BareItem, change: Change, body: CaseBody) -> Case:
    seed = "\0".join((item.tenant_id, item.kind, item.item_id, asks(body)))
    case = new_case(change, seed, body, CaseOrigin.DERIVED)
    proves = gone(case).passed is False and can_prove(case, change)
    role = CaseRole.PROOF if proves else CaseRole.REGRESSION
    return case.model_copy(update={"role": role, "change_id": item.change_id})


def _runs(case: Case) -> bool:
    return case.is_on and case.body.check is not Check.BEHAVIOUR
