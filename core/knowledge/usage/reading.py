"""Pages of the effect of items, for whoever shows them."""

from __future__ import annotations

from datetime import datetime

from core.domain.models.effect import (
    EffectFilter,
    EffectOverview,
    EffectPage,
    ItemEffect,
    Judgement,
    Only,
)
from core.domain.paging import decode_parts, encode_parts, query_digest
from core.domain.ports import Effects

DAYS, MOST_DAYS = 30, 366
MOST_PROPOSALS = 200
_JUDGED = {Only.HELPS: Judgement.HELPS, Only.HARMS: Judgement.HARMS}


async def effect_page(
    effects: Effects, wanted: EffectFilter, *, limit: int, cursor: str | None
) -> EffectPage:
    """Return items by tenant, agent, kind and id. Raises InvalidInput on another list's cursor."""
    query = query_digest("effect", wanted)
    after = _place(decode_parts(cursor, query, 4)) if cursor else None
    judgement = _JUDGED.get(wanted.only) if wanted.only else None
    found: list[ItemEffect] = []
    while True:
        items = await effects.items(wanted, after=after, limit=limit + 1)
        found += [one for one in items if judgement in {None, one.trial.judgement}]
        if len(items) <= limit or len(found) > limit:
            break
        after = _key(items[-1])
    following = encode_parts(_key(found[limit - 1]), query) if len(found) > limit else None
    return EffectPage(items=tuple(found[:limit]), next=following)


async def effect_overview(
    effects: Effects, wanted: EffectFilter, *, now: datetime, days: int = DAYS
) -> EffectOverview:
    """Return counts, so many days up to now, and the proposals that wait."""
    return EffectOverview(
        tenant_id=wanted.tenant_id,
        counts=await effects.counts(wanted),
        days=tuple(await effects.days(wanted, until=now, days=days)),
        proposals=tuple(await effects.proposals(wanted, limit=MOST_PROPOSALS)),
    )


def _key(item: ItemEffect) -> tuple[str, str, str, str]:
    return item.tenant_id, item.agent_id, item.kind.value, item.item_id


def _place(parts: object) -> tuple[str, str, str, str]:
    assert isinstance(parts, list)
    tenant, agent, kind, item = parts
    return tenant, agent, kind, item
