"""Items of two tenants, agents and kinds, with their uses and what people complained of."""

from __future__ import annotations

from itertools import product

from tests.support.seeding import AT, DAY, Row

KINDS = ("MEMORY", "DMN_RULE")
# Every item id, every agent and both kinds are there in each tenant.
WHOSE = [*product("tu", "ab", KINDS, "mn")]


def whose(tenant: str, agent: str, kind: str, item: str) -> dict[str, object]:
    return {"tenant_id": tenant, "agent_id": agent, "kind": kind, "item_id": item}


def known(tenant: str, agent: str, kind: str, item: str, **more: object) -> Row:
    names = {"name": f"{kind} {item}", "name_key": f"{kind} {item}", "same_key": f"{kind} {item}"}
    return "knowledge_versions", whose(tenant, agent, kind, item) | names | {
        "valid_from": AT
    } | more


def use(tenant: str, agent: str, kind: str, item: str, **more: object) -> Row:
    row = {"way": "shown", "day": AT.date(), "first_at": AT, "last_at": AT, "times": 1, **more}
    return "uses", whose(tenant, agent, kind, item) | row


def complaint(number: int, *of: str, **more: object) -> Row:
    row = {"feedback_id": f"f{number:02}", "said_at": AT + number * DAY, "came": "back", **more}
    return "complaints", whose(*of) | row
