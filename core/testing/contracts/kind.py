"""Contract of every kind of knowledge; a test class supplies the kind and examples of it.

class TestMyKind(KindContract):
    @pytest.fixture
    def kind(self) -> TextKind[Any]: ...
    @pytest.fixture
    def examples(self) -> Examples: ...  # at least two, as the model would say them
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue

from core.agent.loop.tool_args import tool_of
from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import GateDeps
from core.changes.policy.review_policy import apply_all, deny_nothing
from core.domain.errors import InvalidInput
from core.domain.kinds import TextKind, check_kind, content_of, content_of_text, written
from core.domain.models import (
    Kind,
    KnowledgeItem,
    MergeMode,
    Operation,
    Receipt,
    ReceiptStatus,
    SubmitContext,
)
from core.learning_committers.base import CommitDeps
from core.learning_committers.kind_committer import KindCommitter, commit_to_kind
from core.react_tools import react_tool_schemas
from core.testing.changes import MemoryChangeLog
from core.testing.determinism import counting_ids
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews
from core.testing.steps import MemorySteps
from core.testing.stores import MemoryJournal

Example = dict[str, JsonValue]
Examples = Sequence[Example]
# What people write, and what a text format may take for something else.
ODD = ("금액은 원화로 👩‍💻 𠀀", "no", "- x: y", 'say "yes"\nor # no\n\n  two', "2024-01-01", "{a}")


class KindWorld:
    """A gate over memory that knows one kind, and an agent that learns it."""

    def __init__(self, kind: TextKind[Any]) -> None:
        self.kind = Kind(kind.name)
        self.knowledge = MemoryKnowledge()
        self._keys = iter(f"t:{n}:0" for n in range(1000))
        log = MemoryChangeLog(self.knowledge)
        deps = GateDeps(
            committers={self.kind: KindCommitter(kind, "a-package 1.0", self.knowledge)},
            changes=log,
            target_locks=log,
            reviews=MemoryReviews(log),
            steps=MemorySteps(log),
            duplicate_waiters=MemoryDuplicateWaiters(log),
            journal=MemoryJournal(),
            new_id=counting_ids("change"),
            sleep=asyncio.sleep,
            policy=apply_all,
            denies=deny_nothing,
        )
        self.gate = ChangeGate(deps)

    async def commit(
        self,
        said: Example,
        operation: Operation = Operation.CREATE,
        item_id: str | None = None,
        merge_mode: MergeMode | None = None,
    ) -> Receipt:
        """Submit what the model says."""
        context = SubmitContext(key=next(self._keys), tenant_id="acme", agent_id="clerk")
        deps = CommitDeps(gate=self.gate, context=context)
        return await commit_to_kind(
            self.kind, "clerk", said, operation, item_id, merge_mode, deps=deps
        )

    async def known(self) -> Sequence[KnowledgeItem]:
        """Return what is known now."""
        return await self.knowledge.list(tenant_id="acme", agent_id="clerk", kind=self.kind)


class KindContract:
    """Tests for any kind."""

    def test_a_kind_says_of_itself_what_the_worker_needs(self, kind: TextKind[Any]) -> None:
        assert check_kind(kind) is kind
        assert set(kind.titles) >= {"en", "ko"}
        tools = [schema["function"] for schema in react_tool_schemas((kind,))]
        (tool,) = [one for one in tools if isinstance(one, dict) and one["name"] == tool_of(kind)]
        assert tool["description"] == kind.about

    def test_what_is_written_reads_back_the_same(
        self, kind: TextKind[Any], examples: Examples
    ) -> None:
        assert len(examples) >= 2, "two examples at least: one is to be told from the other"
        odd = [one for said in examples for one in _odd(said)]
        for said in (*examples, *odd):
            try:
                content = content_of(kind, said)
            except InvalidInput:  # a kind may take fewer texts than these
                assert said not in examples
                continue
            _, text = written(kind, content)
            assert content_of_text(kind, text) == content
            assert written(kind, kind.read(text))[1] == text

    def test_all_of_an_item_stands_in_its_text(
        self, kind: TextKind[Any], examples: Examples
    ) -> None:
        for said in examples:
            content = content_of(kind, said)
            _, text = written(kind, content)
            for words in _words(content.model_dump(mode="json")):
                assert words in text, f"{words!r} would be stored where no reviewer sees it"

    def test_a_key_names_one_item_whatever_its_spaces(
        self, kind: TextKind[Any], examples: Examples
    ) -> None:
        names = [written(kind, content_of(kind, said))[0] for said in examples]
        assert len({name.casefold() for name in names}) == len(examples)
        assert all(name == " ".join(name.split()) for name in names)

    async def test_an_item_is_learnt_once_changed_and_taken_back(
        self, kind: TextKind[Any], examples: Examples
    ) -> None:
        world = KindWorld(kind)
        first, second = examples[:2]
        made = await world.commit(first)
        assert made.status is ReceiptStatus.APPLIED, made.message
        assert (await world.commit(first)).status is ReceiptStatus.KNOWN
        assert (await world.commit(second)).status is ReceiptStatus.APPLIED
        (now,) = [item for item in await world.known() if item.id == made.target_id]
        taken = await world.commit(second, Operation.UPDATE, now.id, MergeMode.REPLACE)
        assert taken.status is ReceiptStatus.REFUSED  # the second is an item of its own
        gone = await world.commit({}, Operation.DELETE, now.id)
        assert gone.status is ReceiptStatus.APPLIED
        assert [item.id for item in await world.known()] != [now.id]
        assert gone.change_id is not None
        back = await world.gate.revert(gone.change_id, "it was right")
        assert back.status is ReceiptStatus.APPLIED, back.message
        assert now.content in {item.content for item in await world.known()}

    async def test_an_update_with_itself_changes_nothing(
        self, kind: TextKind[Any], examples: Examples
    ) -> None:
        world = KindWorld(kind)
        made = await world.commit(examples[0])
        again = await world.commit(examples[0], Operation.UPDATE, made.target_id)
        assert again.status is ReceiptStatus.KNOWN, again.message


def _odd(said: Example) -> Sequence[Example]:
    """Return an example with each of its texts replaced by odd ones."""
    texts = [field for field, value in said.items() if isinstance(value, str)]
    return [{**said, field: text} for field in texts for text in ODD]


def _words(value: JsonValue) -> Sequence[str]:
    if isinstance(value, str):
        return value.split()
    inner = [*value.values()] if isinstance(value, dict) else value
    return [word for one in inner for word in _words(one)] if isinstance(inner, list) else []
