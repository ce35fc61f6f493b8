"""Items of the kinds that packages add, and what stands in for a kind whose package is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, JsonValue

from core.domain.errors import AlreadyExists, InvalidInput, Refused, SkillWorkerError
from core.domain.kinds import TextKind, content_of, content_of_text, written
from core.domain.messages import Message, joined
from core.domain.models import (
    Change,
    ChangeRequest,
    Kind,
    KindRequest,
    KnowledgeItem,
    MergeMode,
    Operation,
    Prepared,
    Receipt,
    Relationship,
    Snapshot,
    SubmitContext,
)
from core.domain.ports import Knowledge, UnitOfWork
from core.learning_committers.base import CommitDeps, ItemCommitter, snapshot


async def commit_to_kind(
    kind: Kind,
    agent_id: str,
    content: Mapping[str, JsonValue],
    operation: Operation = Operation.CREATE,
    item_id: str | None = None,
    merge_mode: MergeMode | None = None,
    relationship: Relationship | None = None,
    reason: str = "",
    *,
    deps: CommitDeps,
) -> Receipt:
    """Submit the creation, change or deletion of an item of a package's kind to the change gate."""
    request = KindRequest(
        target_kind=kind,
        operation=operation,
        target_id=None if operation is Operation.CREATE else item_id,
        content=content,
        merge_mode=merge_mode,
        relationship=relationship,
        reason=reason,
    )
    return await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": agent_id}))


class KindCommitter(ItemCommitter):
    """Prepare the items of one kind; what is already known becomes a change without effect.

    `package` is where the kind comes from: name and version of a distribution.
    """

    def __init__(self, kind: TextKind[Any], package: str, knowledge: Knowledge) -> None:
        super().__init__(Kind(kind.name), knowledge)
        self._own = kind
        self._package = package

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        assert isinstance(request, KindRequest)
        if request.operation is Operation.CREATE:
            return await self._create(request, context)
        item = await self._target(request, context)
        if request.operation is Operation.DELETE:
            return self._prepared(item, Operation.DELETE, None)
        after = self._state(self._updated(item, request))
        if after.content != item.content:
            await self._refuse_taken(after, context, but=item.id)
        return self._prepared(item, Operation.UPDATE, after)

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Prepared:
        """Refuse to restore what the package does not take any more, or whose name is taken."""
        if prepared.after is not None:
            after = self._state(content_of_text(self._own, prepared.after.content))
            await self._refuse_taken(after, context, but=prepared.target_id)
        return prepared

    async def record(self, change: Change, unit: UnitOfWork) -> None:
        """Write the item's next version, and which package it is of. Raises Stale."""
        await unit.note_package(self._kind, self._package)
        await unit.write_item(change)

    async def _create(self, request: KindRequest, context: SubmitContext) -> Prepared:
        after = self._state(self._given(request))
        same = await self._named(after.name, context)
        if same is not None and same.content == after.content:
            return self._prepared(same, Operation.UPDATE, snapshot(same))
        await self._refuse_taken(after, context, but="")
        prefix = self._kind.lower().replace("_", "-")
        return self._created(await self._new_id(request, context, prefix), after)

    def _given(self, request: KindRequest) -> BaseModel:
        with self._foreign():
            if request.text:
                return content_of_text(self._own, request.text)
            return content_of(self._own, request.content)

    @contextmanager
    def _foreign(self) -> Iterator[None]:
        """Name the package where its code breaks, whatever it raises. Raises Refused."""
        try:
            yield
        except SkillWorkerError:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            said = Message("kind.broke", kind=self._kind, package=self._package, why=why)
            raise Refused(said) from error

    def _updated(self, item: KnowledgeItem, request: KindRequest) -> BaseModel:
        """Return what an UPDATE makes of an item.

        One that the package cannot read any more can be replaced as a whole.
        """
        new = self._given(request)
        if request.text or request.merge_mode is MergeMode.REPLACE:
            return new
        with self._foreign():
            try:
                known = content_of_text(self._own, item.content)
            except InvalidInput as error:
                raise Refused(
                    Message("kind.known_unread", id=item.id, why=error.message),
                    hint=Message("kind.hint_replace"),
                ) from None
            made: BaseModel = self._own.merged(known, new)
            return made

    def _state(self, content: BaseModel) -> Snapshot:
        """Return the state of an item. Raises Refused for what the package does not let in."""
        with self._foreign():
            if problems := [*self._own.problems(content)]:
                raise Refused(joined(problems))
            name, text = written(self._own, content)
            return Snapshot(content=text, name=name)

    async def _named(self, name: str, context: SubmitContext) -> KnowledgeItem | None:
        return await self._knowledge.find_named(
            self._kind, context.tenant_id, context.agent_id, name
        )

    async def _refuse_taken(self, after: Snapshot, context: SubmitContext, *, but: str) -> None:
        taken = await self._named(after.name, context)
        if taken is not None and taken.id != but:
            raise AlreadyExists(
                Message("kind.named_so", kind=self._kind, id=taken.id, name=taken.name),
                item_id=taken.id,
                name=taken.name,
                content=taken.content,
                hint=Message("kind.hint_update", argument=self._kind.argument, id=taken.id),
                why=Message("near.same_key", name=taken.name),
            )


class MissingKind(ItemCommitter):
    """A kind whose package is not in use here: its items can be read, and not be changed."""

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        del request, context
        raise await self._refusal()

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Prepared:
        del prepared, context
        raise await self._refusal()

    async def apply(self, change: Change) -> None:
        """Raise Refused, which says what is missing."""
        del change
        raise await self._refusal()

    async def _refusal(self) -> Refused:
        package = (await self._knowledge.packages()).get(self._kind)
        if package is None:
            return Refused(
                Message("kind.unknown", kind=self._kind), hint=Message("kind.hint_unknown")
            )
        return Refused(
            Message("kind.missing", kind=self._kind, package=package),
            hint=Message("kind.hint_missing", package=package.split()[0]),
        )
