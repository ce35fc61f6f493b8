"""A session: the opened program, and the principal in whose name it is asked."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from core.app.bootstrap.stores import Stores
from core.app.program import App
from core.domain.errors import Forbidden, InvalidInput, NotFound
from core.domain.messages import Message
from core.domain.models.access import Principal, Role


class OfTenant(Protocol):
    """Anything that belongs to one tenant."""

    @property
    def tenant_id(self) -> str:
        """The tenant it belongs to."""


Found = TypeVar("Found", bound=OfTenant)


_NAMED = {
    "agent": Message("thing.agent"),
    "change": Message("thing.change"),
    "feedback": Message("thing.feedback"),
    "history record": Message("thing.record"),
}


@dataclass(frozen=True)
class Session:
    """One principal using the opened program. Every service checks its rights here first."""

    app: App
    principal: Principal

    @property
    def stores(self) -> Stores:
        """The stores of the opened program."""
        return self.app.stores

    def require(self, role: Role) -> None:
        """Raise Forbidden if the principal lacks a role."""
        if role not in self.principal.roles:
            raise Forbidden(
                Message("access.role_missing", name=self.principal.name, role=role.value),
                hint=Message("access.role_hint"),
            )

    def tenant(self, wanted: str | None) -> str | None:
        """Return the tenant a list is restricted to: the wanted one, else the principal's or all.

        Raises NotFound on another's: what belongs to another tenant does not exist here.
        """
        if wanted is not None and not self.principal.may_see(wanted):
            raise NotFound(Message("no.tenant", id=wanted))
        return self.principal.tenant_id if wanted is None else wanted

    def one_tenant(self, wanted: str | None) -> str:
        """Return the tenant of a new item or of a search. Raises InvalidInput if there is none."""
        tenant = self.tenant(wanted)
        if tenant is None:
            raise InvalidInput(Message("access.tenant_missing"), hint=Message("access.say_tenant"))
        return tenant

    async def own(self, finding: Awaitable[Found], what: str, item_id: str) -> Found:
        """Return what is found if the principal may see it.

        Raises NotFound, in the same words for what does not exist and for what is another tenant's.
        """
        try:
            found = await finding
        except NotFound:
            found = None
        if found is None or not self.principal.may_see(found.tenant_id):
            named = _NAMED.get(what, what)
            raise NotFound(Message("no.thing", what=named, id=item_id))
        return found
