"""LangGraph's saver of ReAct runs, on the process's one pool."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import cache
from itertools import chain
from typing import LiteralString

from langchain_core.messages import AnyMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import TASKS
from psycopg import AsyncCursor
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import (
    Pool,
    Statement,
    connection,
    send,
    send_later,
    translated,
)
from core.agent.loop.deps import NO_THREAD
from core.domain.errors import RunFailed, SkillWorkerError
from core.domain.messages import Message

_FIRST_STEP = 0  # before the model's first answer: the input, and the step that hands it on
_INLINE = (str, int, float, bool, type(None))  # values that the checkpoint's row has itself


class RunSaver(AsyncPostgresSaver):
    """Stores a run's steps with few trips, and translates failures into the program's errors.

    An answer of the model that calls tools is stored before they are; any other step with the next
    trip of the piece, which comes before the model is called again or the verdict is stored. The
    writes of a step's only task are not stored: its checkpoint follows at once. Those of several
    tasks are, as each ends.

    The stock saver lets the decoder's own exception through (any type, depending on the damaged
    bytes), which a worker would take for a defect of its own instead of ending the run.
    """

    def __init__(self, pool: Pool, serde: SerializerProtocol | None = None) -> None:
        super().__init__(pool, serde=serde)
        self._pool = pool
        self._tasks = 0
        self._versions: ChannelVersions = {}  # those of channels that are not stored yet

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        """Borrow a connection as all of ours are borrowed, in the name of the acting tenant."""
        async with (
            self.lock,
            connection(self._pool) as conn,
            conn.pipeline() if pipeline else nullcontext(),
            conn.cursor(binary=True, row_factory=dict_row) as cursor,
        ):
            yield cursor

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the last checkpoint of a thread. Raises RunFailed if it cannot be read."""
        if config["configurable"].get(NO_THREAD):
            return None
        await send(self._pool)
        thread = str(config["configurable"]["thread_id"])
        try:
            with translated():
                found = await super().aget_tuple(config)
        except SkillWorkerError:
            raise
        except Exception as error:  # damaged bytes can make the decoder raise anything
            raise _unreadable(thread, f"{type(error).__name__}: {error}") from error
        if found is not None:
            values = found.checkpoint["channel_values"]
            _check_messages(thread, values.get("messages", []))
            self._tasks = len(values.get(TASKS, ()))
        return found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; its config is that of its successor's parent."""
        values, step = checkpoint["channel_values"], metadata.get("step", _FIRST_STEP + 1)
        self._tasks = len(values.get(TASKS, ()))
        self._versions |= new_versions
        if step >= _FIRST_STEP:
            statements = self._statements(config, checkpoint, metadata)
            self._versions = {}
            await (send if self._tasks else send_later)(self._pool, *statements)
        place = {**_place(config), "checkpoint_id": checkpoint["id"]}
        return {"configurable": place}

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, object]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what one of several tasks of a step came to."""
        if self._tasks > 1:
            with translated():
                await super().aput_writes(config, writes, task_id, task_path)

    def _statements(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> list[Statement]:
        """Return the statement that stores a checkpoint with what is new in it."""
        values = checkpoint["channel_values"]
        thread, namespace = _place(config).values()
        inline = {name: value for name, value in values.items() if isinstance(value, _INLINE)}
        stored = {
            name: version
            for name, version in self._versions.items()
            if name in values
            and name not in inline
            and checkpoint["channel_versions"].get(name) == version
        }
        parent = config["configurable"].get("checkpoint_id")
        row = (
            thread,
            namespace,
            checkpoint["id"],
            None if metadata.get("step") == _FIRST_STEP else parent,  # that one is not stored
            Jsonb({**checkpoint, "channel_values": inline}),
            Jsonb(get_serializable_checkpoint_metadata(config, metadata)),
        )
        blobs = self._dump_blobs(thread, namespace, values, stored)
        return [Statement(_upsert(len(blobs)), [*chain.from_iterable(blobs), *row])]


@cache
def _upsert(blobs: int) -> LiteralString:
    """Return the stock statements for a checkpoint and so many blobs as one."""
    stock = AsyncPostgresSaver.UPSERT_CHECKPOINT_BLOBS_SQL
    parts = ", ".join(f"blob{number} AS ({stock})" for number in range(blobs))
    return f"{f'WITH {parts}' if blobs else ''} {AsyncPostgresSaver.UPSERT_CHECKPOINTS_SQL}"


def _place(config: RunnableConfig) -> Mapping[str, str]:
    own = config["configurable"]
    return {"thread_id": own["thread_id"], "checkpoint_ns": own.get("checkpoint_ns", "")}


def _check_messages(thread: str, messages: object) -> None:
    """Refuse bytes that decode, but not into a list of messages."""
    if not isinstance(messages, list):
        raise _unreadable(thread, Message("saver.messages", type=type(messages).__name__))
    for message in messages:
        if not isinstance(message, BaseMessage):
            raise _unreadable(thread, Message("saver.message", type=type(message).__name__))


def _unreadable(thread: str, why: str) -> RunFailed:
    return RunFailed(
        Message("saver.unreadable", thread=thread, why=why),
        hint=Message("saver.hint"),
    )


def postgres_saver(pool: Pool) -> RunSaver:
    """Build a saver, one per run: a saver's lock lets one statement through at a time."""
    return RunSaver(pool)


async def recorded_messages(pool: Pool, thread: str) -> Sequence[AnyMessage] | None:
    """Return the messages of a thread, None if nothing is stored. Raises RunFailed."""
    config = RunnableConfig(configurable={"thread_id": thread, "checkpoint_ns": ""})
    found = await postgres_saver(pool).aget_tuple(config)
    if found is None:
        return None
    messages: list[AnyMessage] = found.checkpoint["channel_values"].get("messages", [])
    return messages
