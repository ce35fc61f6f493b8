"""Items and helpers for the contract of every search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain.errors import BundleInvalid
from core.domain.models import SKILL_MD, Bundle, Hit, Kind, Nearby, SkillFile
from core.domain.ports import Search
from core.knowledge.search.documents import SearchDocument
from core.testing.skill_store import MemorySkillStore

KNOWN = {
    "refund": "환불은 결제 후 7일 안에만 승인합니다",
    "approval": "주문 금액이 100만원을 넘으면 팀장 승인을 받아야 한다",
    "amounts": "김 부장님은 금액을 원 단위로, 소수점 없이 원합니다",
    "report": "월말 보고서는 마지막 영업일 오후 세 시까지 보냅니다",
    "mail": "Reply to customers within one business day and apologise for delays",
    "invoice": "Invoices over 1,000,000 KRW need the approvals of two managers",
    "timeout": "The paymentGateway retries http_timeout errors three times",
    "stock": "재고가 열 개 아래로 내려가면 구매팀에 알립니다",
}


class SearchIndex(Protocol):
    """Write access of tests to the index, committed at once."""

    async def put(self, document: SearchDocument) -> None:
        """Add a document."""

    async def drop(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        """Remove a document."""


def memory(
    item_id: str, content: str, *, tenant_id: str = "t", agent_id: str | None = "a"
) -> SearchDocument:
    """Return a memory as indexed."""
    return SearchDocument(
        tenant_id=tenant_id,
        kind=Kind.MEMORY,
        item_id=item_id,
        agent_id=agent_id,
        name=content[:20],
        content=content,
    )


def skill(name: str, body: str) -> Bundle:
    """Return a skill folder of a document and one reference."""
    document = f"---\nname: {name}\ndescription: {body}\n---\n\n# {name}\n\n{body}\n"
    return Bundle(
        name=name,
        files={
            SKILL_MD: SkillFile(data=document.encode()),
            "references/settlement.md": SkillFile(data=b"# Settlement\n"),
        },
    )


class PartlyUnreadable(MemorySkillStore):
    """A skill store that lists the skill `broken`, but cannot read it."""

    reads = 0

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        """Return a skill. Raises BundleInvalid for `broken`."""
        if name == "broken":
            self.reads += 1
            raise BundleInvalid("SKILL.md is missing")
        return await super().read(name, tenant_id)


async def found(
    search: Search, query: str, *, agent_id: str | None = "a", kind: Kind | None = None
) -> Sequence[Hit]:
    """Search tenant `t`."""
    return await search.search(query, tenant_id="t", agent_id=agent_id, kind=kind, limit=5)


async def near(search: Search, text: str, *, limit: int = 5) -> Nearby:
    """Return the memories of tenant `t` and agent `a` near a text."""
    return await search.near(text, tenant_id="t", agent_id="a", kind=Kind.MEMORY, limit=limit)
