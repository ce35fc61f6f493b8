"""Uses of items, feedback that ends at once, and what is proposed about an item in time."""

from __future__ import annotations

from datetime import datetime, timedelta

from core.app.program import App
from core.domain.hashing import text_hash
from core.domain.models import (
    FeedbackStatus,
    Kind,
    NewFeedback,
    Outcome,
)
from core.domain.models.effect import EffectFilter
from core.domain.models.uses import OutcomeReport, Use, UsedItem, Way
from core.knowledge.usage.config import EffectRules
from core.knowledge.usage.looking_back import LookingBack

LATER = timedelta(days=95)


def use(item_id: str, at: datetime, way: Way = Way.RECALLED, **given: object) -> Use:
    """Return a use of a memory by agent `a` of tenant `t`."""
    known: dict[str, object] = {"tenant_id": "t", "agent_id": "a", "kind": Kind.MEMORY}
    known |= {"version": 1, "digest": text_hash(item_id)}
    return Use.model_validate({**known, "at": at, "item_id": item_id, "way": way, **given})


def ended(at: datetime, *items: str, success: bool = True, **given: object) -> OutcomeReport:
    """Return how a task of agent `a` of tenant `t` ended in which items were used."""
    used = tuple(UsedItem(id=item) for item in items)
    known: dict[str, object] = {"tenant_id": "t", "agent_id": "a", "at": at, "used": used}
    return OutcomeReport.model_validate({**known, "success": success, **given})


async def complain(app: App, words: str, tenant_id: str = "t", agent_id: str = "a") -> str:
    """Let somebody say something that ends at once, and return its id."""
    piece = NewFeedback(tenant_id=tenant_id, agent_ids=(agent_id,), content=words, author="kim")
    ((feedback_id, _),) = await app.stores.inbox.add("test", [piece])
    claimed = await app.stores.inbox.claim(feedback_id)
    assert claimed is not None
    await app.stores.inbox.finish(claimed, Outcome(status=FeedbackStatus.COMPLETED))
    return feedback_id


def looking_back(app: App, now: datetime) -> LookingBack:
    """Return what looks back, as if it were later."""
    stores = app.stores
    return LookingBack(
        log=stores.look_back, search=stores.search, rules=EffectRules(), now=lambda: now
    )


async def proposed(
    app: App, item_id: str, now: datetime, *, tenant_id: str = "t", agent_id: str = "a"
) -> str:
    """Return the proposal to archive an item that its agent has not been given for 90 days."""
    whose = {"tenant_id": tenant_id, "agent_id": agent_id}
    app.uses.note([use("another", at, **whose) for at in (now, now + LATER)])
    await app.uses.flush()
    await looking_back(app, now + LATER).propose()
    found = await app.stores.effects.proposals(EffectFilter(tenant_id=tenant_id), limit=100)
    return next(one.id for one in found if one.item_id == item_id)
