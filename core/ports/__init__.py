"""The borders of the program as Protocols of at most six async methods each.

Each real adapter and the in-memory fake in `core.testing` pass the same contract suite.
All raise only errors of `core.errors`; ids are opaque text; times are aware datetimes in UTC.
"""

from collections.abc import Awaitable, Callable

from core.ports.access import Answers, Tokens
from core.ports.changes import (
    ChangeLog,
    Committer,
    Echoes,
    Gate,
    Reviews,
    Settlement,
    Steps,
    Targets,
)
from core.ports.costs import Budgets, Spending
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
from core.ports.lineage import Lineage
from core.ports.pods import Pod, Pods, SkillDocuments
from core.ports.review_queue import ReviewQueue
from core.ports.runs import Journal, ModelLine, Observer, Replies, Retention, Runs
from core.ports.threads import Threads
from core.ports.vectors import Embeddings, Vectors
from core.ports.watching import Bell, Feed, Figures

NewId = Callable[[], str]
Sleep = Callable[[float], Awaitable[None]]

__all__ = [
    "Agents",
    "Answers",
    "Backlog",
    "Bell",
    "Budgets",
    "ChangeLog",
    "Committer",
    "Deliveries",
    "Echoes",
    "Embeddings",
    "Feed",
    "FeedbackSource",
    "Figures",
    "Gate",
    "Inbox",
    "Intake",
    "Journal",
    "Knowledge",
    "KnowledgePages",
    "KnowledgePast",
    "Lineage",
    "ModelLine",
    "NewId",
    "Observer",
    "Pod",
    "Pods",
    "Reader",
    "Replies",
    "Retention",
    "ReviewQueue",
    "Reviews",
    "Runs",
    "Search",
    "Settlement",
    "SkillAuthor",
    "SkillDocuments",
    "SkillStore",
    "Sleep",
    "Spending",
    "Steps",
    "Targets",
    "Threads",
    "Tokens",
    "Vectors",
]
