"""A session: the opened program, and the principal in whose name it is asked."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from core.app.bootstrap.stores import Stores
from core.app.program import App
from core.domain.errors import Forbidden, InvalidInput, NotFound
from core.domain.models.access import Principal, Role


class OfTenant(Protocol):
    """Anything that belongs to one tenant."""

    @property
    def tenant_id(self) -> str:
        """The tenant it belongs to."""


Found = TypeVar("Found", bound=OfTenant)


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
                f"{self.principal.name!r} may not do this: it takes the role {role.value!r}",
                hint="use a token that has it; see `skill-worker tokens list`",
            )

    def tenant(self, wanted: str | None) -> str | None:
        """Return the tenant a list is restricted to: the wanted one, else the principal's or all.

        Raises NotFound on another's: what belongs to another tenant does not exist here.
        """
        if wanted is not None and not self.principal.may_see(wanted):
            raise NotFound(f"there is no tenant {wanted!r}")
        return self.principal.tenant_id if wanted is None else wanted

    def one_tenant(self, wanted: str | None) -> str:
        """Return the tenant of a new item or of a search. Raises InvalidInput if there is none."""
        tenant = self.tenant(wanted)
        if tenant is None:
            raise InvalidInput("tenant_id is missing", hint="say which tenant it is for")
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
            raise NotFound(f"there is no {what} {item_id!r}")
        return found
