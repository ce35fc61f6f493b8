"""The borders of the program as Protocols of at most six async methods each.

Each real adapter and the in-memory fake in `core.testing` pass the same contract suite.
All raise only errors of `core.errors`; ids are opaque text; times are aware datetimes in UTC.
"""

from collections.abc import Awaitable, Callable

from core.ports.access import Answers, Tokens
from core.ports.changes import ChangeLog, Committer, Gate, Reviews, Settlement, Steps, Targets
from core.ports.intake import Agents, Backlog, Deliveries, FeedbackSource, Inbox, Intake
from core.ports.knowledge import (
    Knowledge,
    KnowledgePages,
    KnowledgePast,
    Reader,
    Search,
    SkillAuthor,
    SkillStore,
)
from core.ports.pods import Pod, Pods, SkillDocuments
from core.ports.runs import Journal, ModelLine, Observer, Replies, Retention, Runs
from core.ports.vectors import Embeddings, Vectors

NewId = Callable[[], str]
Sleep = Callable[[float], Awaitable[None]]

__all__ = [
    "Agents",
    "Answers",
from core.ports.lineage import Lineage
    "Backlog",
    "ChangeLog",
    "Committer",
    "Deliveries",
    "Embeddings",
    "FeedbackSource",
    "Gate",
    "Inbox",
    "Intake",
    "Journal",
    "Knowledge",
    "KnowledgePages",
    "KnowledgePast",
    "ModelLine",
    "NewId",
    "Observer",
    "Pod",
    "Pods",
    "Reader",
    "Replies",
    "Retention",
    "Reviews",
    "Runs",
    "Search",
    "Settlement",
    "Lineage",
    "SkillAuthor",
    "SkillDocuments",
    "SkillStore",
    "Sleep",
    "Steps",
    "Targets",
    "Tokens",
    "Vectors",
]
