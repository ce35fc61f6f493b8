"""The boundaries of the program as Protocols, most of at most seven async methods.

Each real adapter, and each in-memory fake in `core.testing`, passes the same contract suite. They
raise only errors of `domain.errors`; ids are opaque text; times are aware datetimes in UTC.
"""

from collections.abc import Awaitable, Callable

from core.domain.ports.access import Answers, Tokens
from core.domain.ports.audit import Audit, Calls, Erasing
from core.domain.ports.cases import CaseAnswers, CaseFigures, CaseRunner, Cases, CaseUpkeep
from core.domain.ports.changes import (
    ChangeLog,
    Committer,
    Concluded,
    DuplicateWaiters,
    Gate,
    ReviewQueue,
    Reviews,
    ScreenRecords,
    Steps,
    TargetLocks,
    UnitOfWork,
)
from core.domain.ports.context import Meant, TaskMatches
from core.domain.ports.conversations import Conversations, NoConversations
from core.domain.ports.costs import Budgets, Spending
from core.domain.ports.deliveries import (
    BeforeApplied,
    DeliveryLog,
    Judged,
    Outbox,
    PlatformRow,
    PlatformRows,
    Routes,
    Target,
    Unsent,
    WriteBackRecords,
)
from core.domain.ports.files import Folder, Repository
from core.domain.ports.installed import Checkout, InstalledSkills, Publishers
from core.domain.ports.intake import (
    Agents,
    Backlog,
    Deliveries,
    FeedbackSource,
    Inbox,
    Intake,
    OpenSource,
)
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
from core.domain.ports.lessons import LessonLog, LessonsShown
from core.domain.ports.plugins import Asker, OpenHook, OpenScreen, OpenSkills, TextScreen
from core.domain.ports.pods import Pod, Pods, SkillDocuments
from core.domain.ports.runs import (
    CircuitBreaker,
    Journal,
    Observer,
    Replies,
    Retention,
    RunRecords,
    Runs,
    Threads,
)
from core.domain.ports.tracing import Tracer
from core.domain.ports.uses import Effects, LookBack, NoUses, UseLog, Uses
from core.domain.ports.vectors import Embeddings, Vectors
from core.domain.ports.watching import Bell, Feed, Figures

NewId = Callable[[], str]
Sleep = Callable[[float], Awaitable[None]]

__all__ = [
    "Agents",
    "Answers",
    "Asker",
    "Audit",
    "Backlog",
    "BeforeApplied",
    "Bell",
    "Budgets",
    "Calls",
    "CaseAnswers",
    "CaseFigures",
    "CaseRunner",
    "CaseUpkeep",
    "Cases",
    "ChangeLog",
    "Checkout",
    "CircuitBreaker",
    "Committer",
    "Concluded",
    "Conversations",
    "Deliveries",
    "DeliveryLog",
    "DuplicateWaiters",
    "Effects",
    "Embeddings",
    "Erasing",
    "Feed",
    "FeedbackSource",
    "Figures",
    "Folder",
    "Gate",
    "Inbox",
    "InstalledSkills",
    "Intake",
    "Journal",
    "Judged",
    "Knowledge",
    "KnowledgePages",
    "KnowledgePast",
    "LessonLog",
    "LessonsShown",
    "Lineage",
    "LookBack",
    "Meant",
    "NewId",
    "NoConversations",
    "NoUses",
    "Observer",
    "OpenHook",
    "OpenScreen",
    "OpenSkills",
    "OpenSource",
    "Outbox",
    "PlatformRow",
    "PlatformRows",
    "Pod",
    "Pods",
    "Publishers",
    "Ranking",
    "Reader",
    "Replies",
    "Repository",
    "Retention",
    "ReviewQueue",
    "Reviews",
    "Routes",
    "RunRecords",
    "Runs",
    "ScreenRecords",
    "Search",
    "SkillAuthor",
    "SkillDocuments",
    "SkillStore",
    "Sleep",
    "Spending",
    "Steps",
    "Target",
    "TargetLocks",
    "TaskMatches",
    "TextScreen",
    "Threads",
    "Tokens",
    "Tracer",
    "UnitOfWork",
    "Unsent",
    "UseLog",
    "Uses",
    "Vectors",
    "WriteBackRecords",
]
