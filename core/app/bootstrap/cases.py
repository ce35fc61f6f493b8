"""What workers and people do with cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.changes.cases.by_people import CasesByPeople
from core.changes.cases.keeping import CaseKeeping
from core.domain.models.cases import CaseBody
from core.domain.ports import NewId
from core.safety.masking import masked_model

if TYPE_CHECKING:
    from core.app.bootstrap.stores import Stores


def case_keeping(stores: Stores) -> CaseKeeping:
    """Return what derives cases for what was brought in, and runs all once a day."""
    beside = stores.case_runner, stores.skills, stores.journal
    return CaseKeeping(stores.case_upkeep, stores.cases, *beside)


def cases_by_people(stores: Stores, new_id: NewId) -> CasesByPeople:
    """Return what people do with cases."""
    parts = stores.parts

    async def masked(body: CaseBody) -> CaseBody:
        if parts.settings.safety_keep_raw:
            return body
        made = masked_model(body)
        return await parts.screens.masked_request(made) if parts.screens else made

    return CasesByPeople(
        cases=stores.cases,
        runner=stores.case_runner,
        knowledge=stores.knowledge,
        agents=stores.agents,
        masked=masked,
        new_id=new_id,
    )
