"""The saver that keeps ReAct runs, on the process's one pool; a run it cannot read is no puzzle."""

from __future__ import annotations

import psycopg
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from core.adapters.postgres.queries import Pool, translate
from core.domain.errors import RunFailed


class CarefulSaver(AsyncPostgresSaver):
    """LangGraph's saver, with its failures to read turned into the program's errors."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Give the last step of a thread. Raises RunFailed where it cannot be read."""
        thread = str(config["configurable"]["thread_id"])
        try:
            found = await super().aget_tuple(config)
        except psycopg.Error as error:
            raise translate(error) from error
        except Exception as error:  # whatever damaged bytes make a decoder raise
            raise _unreadable(thread, f"{type(error).__name__}: {error}") from error
        if found is not None:
            _check_messages(thread, found.checkpoint["channel_values"].get("messages", []))
        return found


def _check_messages(thread: str, messages: object) -> None:
    """Refuse bytes that could be decoded, but into no list of messages."""
    if not isinstance(messages, list):
        raise _unreadable(thread, f"its messages are of type {type(messages).__name__}")
    for message in messages:
        if not isinstance(message, BaseMessage):
            raise _unreadable(thread, f"one of its messages is of type {type(message).__name__}")


def _unreadable(thread: str, why: str) -> RunFailed:
    return RunFailed(
        f"the kept run {thread} cannot be read: {why}",
        hint="`skill-worker feedback retry ID` begins anew, with a new thread",
    )


def postgres_saver(pool: Pool) -> AsyncPostgresSaver:
    """Make a saver. Make one a run: a saver holds a lock that lets one statement at a time by."""
    return CarefulSaver(pool)
