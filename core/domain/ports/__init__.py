"""The boundaries of the program as Protocols of at most seven async methods each.

Each real adapter, and each in-memory fake in `core.testing`, passes the same contract suite. They
raise only errors of `domain.errors`; ids are opaque text; times are aware datetimes in UTC.
"""

from collections.abc import Awaitable, Callable

from core.domain.ports.access import Answers, Tokens
from core.domain.ports.changes import (
    ChangeLog,
    Committer,
    Concluded,
    DuplicateWaiters,
    Gate,
    ReviewQueue,
    Reviews,
    Steps,
    TargetLocks,
    UnitOfWork,
)
from core.domain.ports.conversations import Conversations, NoConversations
from core.domain.ports.costs import Budgets, Spending
from core.domain.ports.intake import Agents, Backlog, Deliveries, FeedbackSource, Inbox, Intake
from core.domain.ports.knowledge import (
    Knowledge,
    KnowledgePages,
    KnowledgePast,
    Lineage,
    Ranking,
    Reader,
    Search,
    SkillAuthor,
    SkillStore,
)
from core.domain.ports.pods import Pod, Pods, SkillDocuments
from core.domain.ports.runs import (
    CircuitBreaker,
    Journal,
    Observer,
    Replies,
    Retention,
    Runs,
    Threads,
)
from core.domain.ports.vectors import Embeddings, Vectors
from core.domain.ports.watching import Bell, Feed, Figures

NewId = Callable[[], str]
Sleep = Callable[[float], Awaitable[None]]

__all__ = [
    "Agents",
    "Answers",
    "Backlog",
    "Bell",
    "Budgets",
    "ChangeLog",
    "CircuitBreaker",
    "Committer",
    "Concluded",
    "Conversations",
    "Deliveries",
    "DuplicateWaiters",
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
    "NewId",
    "NoConversations",
    "Observer",
    "Pod",
    "Pods",
    "Ranking",
    "Reader",
    "Replies",
    "Retention",
    "ReviewQueue",
    "Reviews",
    "Runs",
    "Search",
    "SkillAuthor",
    "SkillDocuments",
    "SkillStore",
    "Sleep",
    "Spending",
    "Steps",
    "TargetLocks",
    "Threads",
    "Tokens",
    "UnitOfWork",
    "Vectors",
]
