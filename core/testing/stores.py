"""All stores in memory, under one name to import."""

from core.testing.agents import MemoryAgents
from core.testing.deliveries import MemoryDeliveries
from core.testing.inbox import MemoryInbox
from core.testing.intake import MemoryIntake
from core.testing.journal import MemoryJournal
from core.testing.replies import MemoryReplies
from core.testing.runs import MemoryRuns

__all__ = [
    "MemoryAgents",
    "MemoryDeliveries",
    "MemoryInbox",
    "MemoryIntake",
    "MemoryJournal",
    "MemoryReplies",
    "MemoryRuns",
]
