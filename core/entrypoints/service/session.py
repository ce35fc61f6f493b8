"""Whoever sits at the desk: the opened program, and on whose behalf it is asked."""

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
    """Anything that is one tenant's."""

    @property
    def tenant_id(self) -> str:
        """Whose it is."""


Found = TypeVar("Found", bound=OfTenant)


_NAMED = {
    "agent": Message("thing.agent", "agent"),
    "change": Message("thing.change", "change"),
    "feedback": Message("thing.feedback", "feedback"),
    "history record": Message("thing.record", "history record"),
}


@dataclass(frozen=True)
class Session:
    """One principal before the opened program. Every facet of the desk checks with it first."""

    app: App
    who: Principal

    @property
    def stores(self) -> Stores:
        """The stores of the opened program."""
        return self.app.stores

    def needs(self, role: Role) -> None:
        """Raise Forbidden where the principal lacks a role."""
        if role not in self.who.roles:
            raise Forbidden(
                Message(
                    "access.role_missing",
                    "{name!r} may not do this: it takes the role {role!r}",
                    name=self.who.name,
                    role=role.value,
                ),
                hint=Message(
                    "access.role_hint", "use a token that has it; see `skill-worker tokens list`"
                ),
            )

    def tenant(self, wanted: str | None) -> str | None:
        """Give the tenant that a list is of: the principal's own, else the wanted one or all.

        Raises NotFound on another's: what is of another tenant does not exist here.
        """
        if wanted is not None and not self.who.may_see(wanted):
            raise NotFound(Message("no.tenant", "there is no tenant {id!r}", id=wanted))
        return self.who.tenant_id if wanted is None else wanted

    def one_tenant(self, wanted: str | None) -> str:
        """Give the tenant of something new or of a search. Raises InvalidInput where none is."""
        tenant = self.tenant(wanted)
        if tenant is None:
            raise InvalidInput(
                Message("access.tenant_missing", "tenant_id is missing"),
                hint=Message("access.say_tenant", "say which tenant it is for"),
            )
        return tenant

    async def own(self, finding: Awaitable[Found], what: str, item_id: str) -> Found:
        """Give what is found where it is the principal's to see.

        Raises NotFound, in the same words for what is not there and for what is another tenant's.
        """
        try:
            found = await finding
        except NotFound:
            found = None
        if found is None or not self.who.may_see(found.tenant_id):
            named = _NAMED.get(what, what)
            raise NotFound(Message("no.thing", "there is no {what} {id!r}", what=named, id=item_id))
        return found
