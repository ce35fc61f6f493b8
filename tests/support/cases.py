"""Cases as people add them, for tests."""

from __future__ import annotations

from core.app.program import App
from core.domain.models import Kind
from core.domain.models.cases import CaseBody


async def a_case(app: App, item_id: str, body: CaseBody | None = None, tenant_id: str = "t") -> str:
    """Add a case to a memory and return its id; without a body it asks that it says no `x`."""
    item = await app.stores.knowledge.get(Kind.MEMORY, tenant_id, item_id)
    asked = body or CaseBody.model_validate({"check": "unsaid", "text": "x"})
    return (await app.cases.add(item, asked, agent_id=None, by="kim")).case.id
