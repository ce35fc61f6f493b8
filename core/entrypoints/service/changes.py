"""Changes: the queue of those that wait, what each would do, and deciding about them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from core.app.program import App
from core.domain.errors import SkillWorkerError
from core.domain.models import Change, ChangeFilter, Edited, Reach, Receipt
from core.domain.models.access import Role
from core.domain.models.base import Model, Page
from core.entrypoints.service.review_view.editing import editable_texts, with_texts
from core.entrypoints.service.review_view.heads import ChangeHead, head_of
from core.entrypoints.service.review_view.shown import Side
from core.entrypoints.service.review_view.states import read_file
from core.entrypoints.service.review_view.view import ReviewView, make_review_view
from core.entrypoints.service.session import Session, acting


class NextChange(Model):
    """The change to review first; None if nothing waits."""

    id: str | None


@dataclass(frozen=True)
class ChangesService:
    """Every method raises Forbidden without its role; another tenant's change is NotFound.

    Decisions are made in the principal's name. With `dry_run` nothing is written.
    """

    session: Session

    async def page(
        self, wanted: ChangeFilter, *, limit: int, cursor: str | None = None
    ) -> Page[ChangeHead]:
        """Return changes, newest first, without their contents."""
        self.session.require(Role.READ)
        scope = wanted.model_copy(update={"tenant_id": self.session.tenant(wanted.tenant_id)})
        items, following = await self.session.stores.reader.changes(
            scope, limit=limit, cursor=cursor
        )
        return Page(items=tuple(map(head_of, items)), next=following)

    async def get(self, change_id: str) -> Change:
        """Return one change whole. Raises NotFound."""
        self.session.require(Role.READ)
        change = await self._own(change_id)
        found = await self.session.app.gate.decisions.findings.of(change)
        return change.model_copy(update={"findings": found})

    async def next(self) -> NextChange:
        """Return the longest waiting change that nobody else is viewing; if all are, the oldest.

        It counts as being viewed from now on, so that concurrent callers each get another one.
        """
        self.session.require(Role.READ)
        app, principal = self.session.app, self.session.principal
        others = app.presence.by_others(principal.token_id)
        while ids := await app.stores.review_queue.oldest(
            tenant_id=principal.tenant_id, but=others
        ):
            free = self._free(ids)
            if free is not None:
                app.presence.note(principal.token_id, (free,))
                return NextChange(id=free)
            others = others | app.presence.by_others(principal.token_id)
        ids = await app.stores.review_queue.oldest(tenant_id=principal.tenant_id, but=())
        return NextChange(id=ids[0] if ids else None)

    async def review_view(self, change_id: str) -> ReviewView:
        """Return everything to consider before deciding. Raises NotFound.

        Where the target has moved, the change is first prepared again for who may decide.
        """
        self.session.require(Role.READ)
        app, principal = self.session.app, self.session.principal
        if Role.REVIEW in principal.roles:
            await self._kept_current(change_id)
        async with app.review_slots.reads.taken():
            opening = app.stores.review_queue.open(
                change_id,
                tenant_id=principal.tenant_id,
                but=app.presence.by_others(principal.token_id),
            )
            opened = await self.session.own(opening, "change", change_id)
            following = self._free(opened.queue_position.following)
            app.presence.note(principal.token_id, (change_id, *filter(None, (following,))))
            return await make_review_view(opened, following, app)

    async def _kept_current(self, change_id: str) -> None:
        """Prepare a change again whose target has moved; what prevents that is on the page."""
        decisions = self.session.app.gate.decisions
        change = await self._own(change_id)
        with suppress(SkillWorkerError):
            if await decisions.is_outdated(change):
                async with self.session.app.review_slots.decisions.taken():
                    await decisions.prepare_again(change_id, by=self.session.principal.name)

    async def file(self, change_id: str, path: str, side: Side) -> bytes:
        """Return one file of a change as it was before, or would be after it. Raises NotFound."""
        self.session.require(Role.READ)
        return await read_file(await self._own(change_id), path, side, self.session.stores.changes)

    @acting
    async def approve(
        self,
        change_id: str,
        *,
        seen: str,
        allow: str = "",
        retire: str = "",
        dry_run: bool = False,
    ) -> Receipt:
        """Apply a held change as it was seen; `allow` is why what was found in it is allowed.

        `retire` is why the cases that it breaks are given up. Raises Refused where either is not
        said and not settled before; Decided, Stale, DependencyDown.
        """
        async with self._deciding(change_id, dry_run=dry_run) as (app, known):
            return await app.gate.decisions.approve(
                change_id,
                by=self.session.principal.name,
                seen=seen,
                known=known,
                allow=allow,
                retire=retire,
            )

    @acting
    async def allow(
        self, change_id: str, *, reason: str, digests: Sequence[str] = (), dry_run: bool = False
    ) -> ChangeHead:
        """Allow findings of a change, by default all that hold it; it still waits."""
        async with self._deciding(change_id, dry_run=dry_run) as (app, _):
            fresh = await app.gate.decisions.findings.allow(
                change_id, digests, by=self.session.principal.name, reason=reason
            )
        return head_of(fresh)

    @acting
    async def reject(
        self, change_id: str, *, reason: str, seen: str, dry_run: bool = False
    ) -> ChangeHead:
        """End a held change; nothing is applied."""
        async with self._deciding(change_id, dry_run=dry_run) as (app, known):
            ended = await app.gate.decisions.reject(
                change_id, by=self.session.principal.name, reason=reason, seen=seen, known=known
            )
        return head_of(ended)

    @acting
    async def edit(
        self, change_id: str, edited: Edited, *, seen: str, dry_run: bool = False
    ) -> ChangeHead:
        """Replace the content of a held change; it waits again, with another hash."""
        return await self._replace(change_id, edited, seen=seen, dry_run=dry_run)

    async def _replace(
        self, change_id: str, edited: Edited, *, seen: str, dry_run: bool = False
    ) -> ChangeHead:
        async with self._deciding(change_id, dry_run=dry_run) as (app, _):
            fresh = await app.gate.decisions.edit(
                change_id, edited, by=self.session.principal.name, seen=seen
            )
        return head_of(fresh)

    async def texts(self, change_id: str) -> Mapping[str, str]:
        """Return the texts that a person may edit before they approve, by path."""
        self.session.require(Role.REVIEW)
        return await editable_texts(await self._own(change_id), self.session.stores.changes)

    @acting
    async def edit_texts(
        self, change_id: str, texts: Mapping[str, str], *, seen: str, reach: Reach | None = None
    ) -> ChangeHead:
        """Replace the texts of a held change with edited ones; its other files stay as they are.

        `reach` is how long and for whom a memory is to hold; without it that stays.
        """
        self.session.require(Role.REVIEW)
        change = await self._own(change_id)
        edited = await with_texts(change, texts, self.session.stores.changes, reach)
        return await self._replace(change_id, edited, seen=seen)

    @acting
    async def refresh(self, change_id: str, *, dry_run: bool = False) -> ChangeHead:
        """Prepare a change again, against the current state of its target; it waits again."""
        async with self._deciding(change_id, dry_run=dry_run) as (app, _):
            fresh = await app.gate.decisions.prepare_again(
                change_id, by=self.session.principal.name
            )
        return head_of(fresh)

    @acting
    async def keep_both(self, change_id: str, *, seen: str, dry_run: bool = False) -> Receipt:
        """Apply a change that contradicts something as an item of its own. Raises Refused."""
        async with self._deciding(change_id, dry_run=dry_run) as (app, _):
            return await app.gate.decisions.keep_both(
                change_id, by=self.session.principal.name, seen=seen
            )

    @acting
    async def revert(self, change_id: str, *, reason: str, dry_run: bool = False) -> Receipt:
        """Restore the target of an applied change to its previous state. Raises Refused."""
        async with self._deciding(change_id, dry_run=dry_run) as (app, _):
            return await app.revert(
                change_id, f"{reason}, asked for by {self.session.principal.name}"
            )

    @asynccontextmanager
    async def _deciding(
        self, change_id: str, *, dry_run: bool
    ) -> AsyncIterator[tuple[App, Change]]:
        """Acquire a slot to decide about a change; yields what carries it out, and the change."""
        self.session.require(Role.REVIEW)
        app = self.session.app
        async with app.review_slots.decisions.taken():
            change = await self._own(change_id)
            yield app.as_dry_run() if dry_run else app, change

    async def _own(self, change_id: str) -> Change:
        return await self.session.own(
            self.session.stores.changes.get(change_id), "change", change_id
        )

    def _free(self, change_ids: Sequence[str]) -> str | None:
        """Return the first that nobody else is viewing."""
        taken = self.session.app.presence.by_others(self.session.principal.token_id)
        return next((change_id for change_id in change_ids if change_id not in taken), None)
