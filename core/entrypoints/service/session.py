"""A session: the opened program, and the principal in whose name it is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from core.app.bootstrap.stores import Stores
from core.app.program import App
from core.domain.errors import Forbidden, InvalidInput, NotFound, SkillWorkerError
from core.domain.messages import Message
from core.domain.models.access import Principal, Role
from core.domain.models.audit import Call, Via
from core.entrypoints.call_record import CallRecord

TENANT = "tenant"


class OfTenant(Protocol):
    """Anything that belongs to one tenant."""

    @property
    def tenant_id(self) -> str:
        """The tenant it belongs to."""


Found = TypeVar("Found", bound=OfTenant)


_NAMED = {
    "agent": Message("thing.agent"),
    "case": Message("thing.case"),
    "change": Message("thing.change"),
    "delivery": Message("thing.delivery"),
    "feedback": Message("thing.feedback"),
    "history record": Message("thing.record"),
    "proposal": Message("thing.proposal"),
}


@dataclass(frozen=True)
class Session:
    """One principal using the opened program. Every service checks its rights here first."""

    app: App
    principal: Principal
    # Of a call over HTTP its state: what it is about is put there for the record.
    about: dict[str, object] = field(default_factory=dict, compare=False)
    calls: CallRecord | None = None  # where actions are put on record, if they are no calls
    via: Via = Via.CONSOLE  # how they came in

    @property
    def stores(self) -> Stores:
        """The stores of the opened program."""
        return self.app.stores

    def require(self, role: Role, *, of_agents: bool = False) -> None:
        """Raise Forbidden if the principal lacks a role, or is an agent where none may ask."""
        if self.principal.agent_id is not None and not of_agents:
            raise Forbidden(
                Message("access.agent_only", name=self.principal.name),
                hint=Message("access.agent_hint"),
            )
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
        found = self.principal.tenant_id if wanted is None else wanted
        if found is not None:
            self.about[TENANT] = found
        return found

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
        self.about[TENANT] = found.tenant_id
        return found


class OfSession(Protocol):
    """A service."""

    @property
    def session(self) -> Session:
        """The session it serves."""


Service = TypeVar("Service", bound=OfSession)
P = ParamSpec("P")
R = TypeVar("R")


def acting(
    call: Callable[Concatenate[Service, P], Awaitable[R]],
) -> Callable[Concatenate[Service, P], Awaitable[R]]:
    """Mark a method that changes something: it is put on record where no call is, in the console.

    Its first argument, if that is a text, is the id of what it is about.
    """

    @wraps(call)
    async def recorded(service: Service, /, *args: P.args, **given: P.kwargs) -> R:
        if given.get("dry_run"):
            return await call(service, *args, **given)
        about = next((value for value in args[:1] if isinstance(value, str)), "")
        outcome = "failed"
        try:
            done = await call(service, *args, **given)
            outcome = "done"
        except SkillWorkerError as error:
            outcome = error.kind
            raise
        finally:
            _note(service.session, f"{type(service).__name__}.{call.__name__}", about, outcome)
        return done

    return recorded


def _note(session: Session, action: str, about: str, outcome: str) -> None:
    if session.calls is None:
        return
    who = session.principal
    tenant = who.tenant_id or session.about.get(TENANT) or ""
    call = Call(
        tenant_id=str(tenant),
        at=session.calls.now(),
        via=session.via,
        caller=who.name,
        token_id=who.token_id,
        route=action,
        ids={"id": about[:200]} if about else {},
        outcome=outcome,
    )
    session.calls.note(call)
