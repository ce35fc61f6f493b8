"""All stores in memory, under one name to import."""

from core.testing.agents import MemoryAgents
from core.testing.inbox import MemoryInbox
from core.testing.journal import MemoryJournal
from core.testing.reads import MemoryReader
from core.testing.replies import MemoryReplies
from core.testing.runs import MemoryRuns

__all__ = [
    "MemoryAgents",
    "MemoryInbox",
    "MemoryJournal",
    "MemoryReader",
    "MemoryReplies",
    "MemoryRuns",
]
