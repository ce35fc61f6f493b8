"""LangGraph's saver of ReAct runs, on the process's one pool."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from core.adapters.postgres.queries import Pool, translate, translated
from core.domain.errors import RunFailed
from core.domain.messages import Message


class CarefulSaver(AsyncPostgresSaver):
    """Translates failures to read or write a checkpoint into the program's errors.

    The stock saver lets the decoder's own exception through (any type, depending on the damaged
    bytes), which a worker would take for a defect of its own instead of ending the run.
    """

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the last checkpoint of a thread. Raises RunFailed if it cannot be read."""
        thread = str(config["configurable"]["thread_id"])
        try:
            found = await super().aget_tuple(config)
        except psycopg.Error as error:
            raise translate(error) from error
        except Exception as error:  # damaged bytes can make the decoder raise anything
            raise _unreadable(thread, f"{type(error).__name__}: {error}") from error
        if found is not None:
            _check_messages(thread, found.checkpoint["channel_values"].get("messages", []))
        return found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint. Raises DatabaseDown."""
        with translated():
            return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, object]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a step has written so far. Raises DatabaseDown."""
        with translated():
            await super().aput_writes(config, writes, task_id, task_path)


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


def postgres_saver(pool: Pool) -> AsyncPostgresSaver:
    """Build a saver, one per run: a saver's lock lets one statement through at a time."""
    return CarefulSaver(pool)
