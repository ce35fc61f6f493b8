"""How each route of the API is called with another tenant's ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

PIECE = {"agent_ids": ["{agent}"], "content": "x"}
SEEN = {"seen": "0" * 64}
REASON = {"reason": "x"}
CASE = {"check": "unsaid", "text": "x"}


class Route(NamedTuple):
    """A call of a route with another tenant's ids: `{kind}` stands for an id."""

    path: str = ""
    body: object = None
    found: int = 404  # the answer to both a foreign id and one that does not exist


# Each of the routes; one may be called in several ways.
FOREIGN: Mapping[str, tuple[Route, ...]] = {
    "POST /v1/feedback": (
        Route(body=PIECE),
        Route(body={**PIECE, "agent_ids": ["c"], "tenant_id": "{tenant}"}),
    ),
    "POST /v1/feedback/batch": (
        Route(body={"items": [PIECE]}),
        Route(body={"items": [PIECE, {**PIECE, "agent_ids": ["c"]}]}),
        Route(body={"items": [{**PIECE, "tenant_id": "{tenant}"}]}),
    ),
    "GET /v1/feedback": (
        Route("?agent_id={agent}", found=200),
        Route("?text={mark}", found=200),
        Route("?tenant_id={tenant}"),
    ),
    "GET /v1/feedback/{feedback_id}": (Route(),),
    "GET /v1/feedback/{feedback_id}/run": (Route(),),
    "GET /v1/feedback/{feedback_id}/events": (Route(),),
    "POST /v1/feedback/{feedback_id}/retry": (Route(),),
    "POST /v1/feedback/{feedback_id}/cancel": (Route(body=REASON),),
    "POST /v1/feedback/{feedback_id}/retract": (Route(body={}), Route(body={"dry_run": True})),
    "GET /v1/changes": (
        Route("?agent_id={agent}", found=200),
        Route("?feedback_id={feedback_id}", found=200),
        Route("?target_id={item}", found=200),
        Route("?tenant_id={tenant}"),
    ),
    "GET /v1/changes/next": (Route(found=200),),
    "GET /v1/changes/{change_id}": (Route(),),
    "GET /v1/changes/{change_id}/review": (Route(),),
    "GET /v1/changes/{change_id}/files": (Route("?path=SKILL.md"),),
    "POST /v1/changes/{change_id}/approve": (
        Route(body=SEEN),
        Route(body={**SEEN, "dry_run": True}),
    ),
    "POST /v1/changes/{change_id}/allow": (Route(body=REASON),),
    "POST /v1/changes/{change_id}/reject": (Route(body={**SEEN, **REASON}),),
    "POST /v1/changes/{change_id}/edit": (Route(body={**SEEN, "content": "x"}),),
    "POST /v1/changes/{change_id}/refresh": (Route(body={}),),
    "POST /v1/changes/{change_id}/keep-both": (
        Route(body={"seen": "x"}),
        Route(body={"seen": "x", "dry_run": True}),
    ),
    "POST /v1/changes/{change_id}/revert": (Route(body={}), Route(body={"dry_run": True})),
    "GET /v1/knowledge": (Route("?agent_id={agent}"), Route("?tenant_id={tenant}")),
    "GET /v1/knowledge/item": (
        Route("?id={item}"),
        Route("?id={item}&version=1"),
        Route("?id={item}&at=2999-01-01T00:00:00Z"),
        Route("?id={item}&kind=MEMORY"),
        Route("?id={skill}"),
        Route("?id={skill}&kind=SKILL"),
        Route("?id=x&tenant_id={tenant}"),
    ),
    "GET /v1/knowledge/file": (
        Route("?id={skill}&path=SKILL.md"),
        Route("?id={skill}&path=SKILL.md&version=1"),
        Route("?id=x&path=SKILL.md&tenant_id={tenant}"),
    ),
    "GET /v1/knowledge/versions": (
        Route("?id={item}"),
        Route("?id={skill}"),
        Route("?id={gone}"),
        Route("?id=x&tenant_id={tenant}"),
    ),
    "GET /v1/knowledge/provenance": (
        Route("?id={item}"),
        Route("?id={skill}&path=SKILL.md"),
        Route("?id=x&tenant_id={tenant}"),
    ),
    "POST /v1/knowledge/restore": (
        Route(body={"id": "{item}", "version": 1}),
        Route(body={"id": "{gone}", "version": 1}),
        Route(body={"id": "{skill}", "version": 1, "dry_run": True}),
        Route(body={"id": "x", "version": 1, "tenant_id": "{tenant}"}),
    ),
    "GET /v1/search": (
        Route("?q={mark}", found=200),
        Route("?q=x&agent_id={agent}"),
        Route("?q=x&tenant_id={tenant}"),
    ),
    "POST /v1/memories/search": (
        Route(body={"query": "{mark}", "agent": "{agent}"}),
        Route(body={"query": "{mark}", "agent": "{agent}", "tenant_id": "{tenant}"}),
    ),
    "POST /v1/decisions/{name}/evaluate": (
        Route(body={"inputs": {}, "agent": "{agent}"}),
        Route(body={"inputs": {}, "agent": "c"}),
    ),
    "POST /v1/skills/load": (
        Route(body={"name": "{skill}", "agent": "{agent}"}),
        Route(body={"name": "{skill}", "agent": "c"}),
    ),
    "POST /v1/outcomes": (
        Route(body={"used": [{"id": "{item}"}], "success": True, "agent": "{agent}"}),
        Route(
            body={"used": [{"id": "{item}"}, {"id": "{gone}"}], "success": True, "agent": "c"},
            found=200,
        ),
    ),
    "POST /v1/context": (
        Route(body={"agent": "{agent}", "task": "{mark}"}),
        Route(body={"agent": "c", "task": "x", "tenant_id": "{tenant}"}),
    ),
    "GET /v1/graph": (
        Route(found=200),
        Route("?agent_id={agent}"),
        Route("?tenant_id={tenant}"),
    ),
    "GET /v1/history": (
        Route("?agent_id={agent}", found=200),
        Route("?feedback_id={feedback_id}", found=200),
        Route("?item_id={item}", found=200),
        Route("?tenant_id={tenant}"),
    ),
    "GET /v1/history/calls": (
        Route("?caller={mark}", found=200),
        Route("?tenant_id={tenant}"),
    ),
    "GET /v1/history/{record_id}": (Route(),),
    "GET /v1/agents": (Route(found=200), Route("?tenant_id={tenant}")),
    "GET /v1/agents/{agent_id}": (Route(), Route("?tenant_id={tenant}")),
    "GET /v1/agents/{agent_id}/skills": (Route(), Route("?tenant_id={tenant}")),
    "PUT /v1/agents/{agent_id}/skills": (
        Route(body={"skills": ["{skill}"]}),
        Route("?tenant_id={tenant}", body={"skills": [], "dry_run": True}),
    ),
    "GET /v1/agents/{agent_id}/skills/{name}": (Route(), Route("?tenant_id={tenant}")),
    "PUT /v1/agents/{agent_id}/skills/{name}": (Route(), Route("?tenant_id={tenant}")),
    "DELETE /v1/agents/{agent_id}/skills/{name}": (Route(), Route("?tenant_id={tenant}")),
    "DELETE /v1/skills/{name}": (Route(), Route("?tenant_id={tenant}")),
    "PUT /v1/agents/{agent_id}": (Route(body={"name": "x", "tenant_id": "{tenant}"}),),
    "GET /v1/intake": (Route(found=200),),
    "POST /v1/intake/pause": (Route(body={}, found=403),),
    "POST /v1/intake/resume": (Route(found=403),),
    "GET /v1/events": (Route("?tenant_id={tenant}"),),
    "GET /v1/deliveries": (
        Route("?feedback_id={feedback_id}&change_id={change_id}", found=200),
        Route("?tenant_id={tenant}"),
    ),
    "GET /v1/deliveries/{delivery_id}": (Route(),),
    "POST /v1/deliveries/{delivery_id}/replay": (Route(),),
    "GET /v1/effect": (Route("?agent_id={agent}"), Route("?tenant_id={tenant}")),
    "GET /v1/effect/overview": (Route("?agent_id={agent}"), Route("?tenant_id={tenant}")),
    "POST /v1/effect/proposals/{proposal_id}/accept": (Route(),),
    "POST /v1/effect/proposals/{proposal_id}/dismiss": (Route(),),
    "GET /v1/cases": (
        Route("?agent_id={agent}"),
        Route("?item_id={item}", found=200),
        Route("?change_id={change_id}", found=200),
        Route("?tenant_id={tenant}"),
    ),
    "GET /v1/cases/overview": (Route("?agent_id={agent}"), Route("?tenant_id={tenant}")),
    "GET /v1/cases/coverage": (Route("?id={item}"), Route("?id=x&tenant_id={tenant}")),
    "GET /v1/cases/{case_id}": (Route(),),
    "PUT /v1/cases/{case_id}": (Route(body={"case": CASE}),),
    "POST /v1/cases/{case_id}/disable": (Route(body=REASON),),
    "POST /v1/cases": (
        Route(body={"id": "{item}", "case": CASE}),
        Route(body={"id": "{item}", "tenant_id": "{tenant}", "case": CASE}),
    ),
    "POST /v1/cases/run": (
        Route(body={"ids": ["{case_id}"]}),
        Route(body={"agent_id": "{agent}"}),
        Route(body={"tenant_id": "{tenant}"}),
        Route(body={"item_id": "{item}"}, found=200),
    ),
    "GET /v1/overview": (Route(found=200), Route("?tenant_id={tenant}")),
    "GET /v1/me": (Route(found=200),),
    "GET /v1/sessions": (Route(found=200),),
    "DELETE /v1/sessions/{session_id}": (Route(),),
    "GET /v1/costs": (Route(found=200), Route("?tenant_id={tenant}")),
    "GET /v1/costs/budgets": (Route(found=200), Route("?tenant_id={tenant}")),
}
# Parameters that name something of a tenant.
NAMES = {"agent_id", "feedback_id", "id", "item_id", "target_id", "tenant_id"}
NOBODY_S = {
    "agent": "nobody-s",
    "feedback_id": "nobody-s",
    "case_id": "nobody-s",
    "change_id": "nobody-s",
    "record_id": "nobody-s",
    "session_id": "nobody-s",
    "delivery_id": "nobody-s",
    "proposal_id": "nobody-s",
    "agent_id": "nobody-s",
    "item": "nobody-s",
    "gone": "nobody-s",
    "skill": "nobody-s",
    "tenant": "nobody-s",
    "mark": "nobody",
}
