"""Feedback: add it, see its state, retry it, cancel it, retract what it taught."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from core.changes.retraction.retract import Retraction
from core.domain.errors import InvalidInput, NotFound, Refused
from core.domain.input_formats.feedback import agent_problem, checked
from core.domain.messages import Message, joined
from core.domain.models import (
    Feedback,
    FeedbackFilter,
    FeedbackStatus,
    Finding,
    MaskedFeedback,
    NewFeedback,
    Page,
)
from core.domain.models.access import Role
from core.domain.models.base import Model
from core.entrypoints.service.session import Session, acting

MOST_AT_ONCE = 1_000
_TOLD = 20  # refusals reported of many
_FEW = 20  # agents up to this number are looked up one by one


class Taken(Model):
    """A piece that is now in the inbox. `new` is false if it already was.

    `masked` is what was taken out of it before it was stored, with its spans in what was sent.
    """

    id: str
    status: FeedbackStatus
    new: bool
    masked: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class FeedbackService:
    """Every method raises Forbidden without its role; another tenant's piece is NotFound."""

    session: Session

    @acting
    async def add(
        self, entries: Sequence[object], tenant_id: str | None, key: str | None = None
    ) -> Sequence[Taken]:
        """Add entries with the fields of `NewFeedback`, all of them or none.

        An entry without a tenant is for `tenant_id`, else for the principal's own. A source's id is
        unique within its tenant: the same id again is the same piece. With `key`, an entry without
        an id is also the same piece when it is sent again under that key, however the first call
        ended.

        An agent adds what is about itself alone.

        Raises InvalidInput; Refused if a known id has other content; NotFound if an agent does not
        exist, or is another tenant's.
        """
        self.session.require(Role.SUBMIT, of_agents=True)
        given = self._checked([self._with_tenant(entry, tenant_id) for entry in entries])
        roles = {"roles": tuple(sorted(self.session.principal.roles))}
        masked = [await self.session.stores.inbox.masked(piece) for piece in given]
        pieces = [piece.model_copy(update=roles) for piece in masked]
        if key is not None:
            pieces = [self._with_id(piece, f"{key} {index}") for index, piece in enumerate(pieces)]
        tenants = {piece.tenant_id for piece in pieces}
        if len(tenants) != 1:
            raise InvalidInput(
                Message("feedback.several_tenants"),
                hint=Message("feedback.one_by_one"),
            )
        (tenant,) = tenants
        await self._see_agents(pieces, tenant)
        try:
            stored = await self.session.stores.inbox.add(f"api/{tenant}", pieces)
        except InvalidInput as error:  # a known id with other content
            raise Refused(error.message, hint=error.hint) from error
        return [
            await self._taken(*one, piece.masked) for one, piece in zip(stored, pieces, strict=True)
        ]

    async def page(
        self, wanted: FeedbackFilter, *, limit: int, cursor: str | None = None
    ) -> Page[Feedback]:
        """Return feedback, newest first. Raises InvalidInput on another list's cursor."""
        self.session.require(Role.READ)
        scope = wanted.model_copy(update={"tenant_id": self.session.tenant(wanted.tenant_id)})
        items, following = await self.session.stores.reader.feedback(
            scope, limit=limit, cursor=cursor
        )
        return Page(items=tuple(items), next=following)

    async def get(self, feedback_id: str) -> Feedback:
        """Return one piece. Raises NotFound."""
        self.session.require(Role.READ)
        return await self._own(feedback_id)

    @acting
    async def retry(self, feedback_id: str) -> Feedback:
        """Queue an ended piece again. Raises NotFound, Refused."""
        self.session.require(Role.OPERATE)
        await self._own(feedback_id)
        return await self.session.stores.intake.revive(feedback_id)

    @acting
    async def cancel(self, feedback_id: str, reason: str) -> Feedback:
        """End a piece that waits or is being processed. Raises InvalidInput, NotFound, Refused."""
        self.session.require(Role.OPERATE)
        if not reason.strip():
            raise InvalidInput(Message("feedback.no_reason"), hint=Message("feedback.say_why"))
        await self._own(feedback_id)
        return await self.session.stores.intake.cancel(feedback_id, reason)

    @acting
    async def retract(self, feedback_id: str, *, dry_run: bool = False) -> Retraction:
        """Undo what a piece taught and retain what was learnt later, or return what prevents that.

        Raises NotFound, also if it taught nothing; Refused while it is being processed.
        """
        self.session.require(Role.REVIEW)
        piece = await self._own(feedback_id)
        app = self.session.app.as_dry_run() if dry_run else self.session.app
        try:
            return await app.retractor.retract(piece, by=self.session.principal.name)
        except InvalidInput as error:
            raise Refused(error.message, hint=error.hint) from error

    async def _own(self, feedback_id: str) -> Feedback:
        finding = self.session.stores.inbox.get(feedback_id)
        return await self.session.own(finding, "feedback", feedback_id)

    async def _taken(self, feedback_id: str, is_new: bool, masked: tuple[Finding, ...]) -> Taken:
        if is_new:
            queued = FeedbackStatus.QUEUED
            return Taken(id=feedback_id, status=queued, new=True, masked=masked)
        status = (await self.session.stores.inbox.get(feedback_id)).status
        return Taken(id=feedback_id, status=status, new=False, masked=masked)

    def _with_tenant(self, entry: object, tenant_id: str | None) -> object:
        if not isinstance(entry, dict):
            return entry
        tenant = self.session.one_tenant(entry.get("tenant_id") or tenant_id)
        return {**entry, "tenant_id": tenant}

    def _with_id(self, piece: MaskedFeedback, name: str) -> MaskedFeedback:
        """Return a piece with its source's id, or else one derived from the call's key."""
        if piece.id is not None:
            return piece
        digest = sha256(f"{self.session.principal.token_id} {name}".encode()).hexdigest()
        return piece.model_copy(update={"id": f"key-{digest[:32]}"})

    def _checked(self, entries: Sequence[object]) -> list[NewFeedback]:
        """Check all entries. Raises InvalidInput, which names each that is refused."""
        if not 0 < len(entries) <= MOST_AT_ONCE:
            raise InvalidInput(
                Message("feedback.too_many", n=len(entries)),
                hint=Message("feedback.how_many", n=MOST_AT_ONCE),
            )
        pieces: list[NewFeedback] = []
        problems: list[str] = []
        for index, entry in enumerate(entries):
            try:
                pieces.append(checked(entry, self.session.app.feedback_max_chars))
            except InvalidInput as error:
                problems.append(_named(index, error.message, entries))
        if problems:
            raise InvalidInput(_listing(problems), hint=_NOTHING if len(entries) > 1 else "")
        return pieces

    async def _see_agents(self, pieces: Sequence[NewFeedback], tenant_id: str) -> None:
        """Raise NotFound if an agent is unknown to the tenant."""
        known = {agent_id: {tenant_id} for agent_id in await self._known(pieces, tenant_id)}
        found = [(index, agent_problem(piece, known)) for index, piece in enumerate(pieces)]
        problems = [_named(index, problem, pieces) for index, problem in found if problem]
        if problems:
            raise NotFound(_listing(problems), hint=_NOTHING if len(pieces) > 1 else "")

    async def _known(self, pieces: Sequence[NewFeedback], tenant_id: str) -> Sequence[str]:
        """Return the ids of the tenant's agents that are named, among others if they are many."""
        named = {agent_id for piece in pieces for agent_id in piece.agent_ids}
        own = self.session.principal.agent_id
        if own is not None:
            return [own]
        if len(named) > _FEW:
            return [agent.id for agent in await self.session.stores.agents.list(tenant_id)]
        return [agent_id for agent_id in named if await self._is_known(tenant_id, agent_id)]

    async def _is_known(self, tenant_id: str, agent_id: str) -> bool:
        try:
            await self.session.stores.agents.get(tenant_id, agent_id)
        except NotFound:
            return False
        return True


_NOTHING = Message("service.nothing_taken")


def _named(index: int, problem: str, entries: Sequence[object]) -> str:
    return Message("service.item", index=index, why=problem) if len(entries) > 1 else problem


def _listing(problems: Sequence[str]) -> str:
    told = joined(problems[:_TOLD])
    if len(problems) <= _TOLD:
        return told
    more = Message("input.more", n=len(problems) - _TOLD)
    return joined([told, more], "")
