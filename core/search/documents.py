"""What the search index holds of one item."""

from __future__ import annotations

from core.models import Kind
from core.models.base import Model


class SearchDocument(Model):
    """One item as the index holds it; (tenant, kind, item) is its identity.

    `agent_id` None is shared by the whole tenant. `content` is plain text. `version` says what
    a skill looked like in the store's list when it was read; it is empty for all else.
    """

    tenant_id: str
    kind: Kind
    item_id: str
    agent_id: str | None
    name: str
    content: str
    version: str = ""

    @property
    def text(self) -> str:
        """What is indexed: the content, under the name where it does not hold it already."""
        return self.content if self.name in self.content else f"{self.name}\n{self.content}"
