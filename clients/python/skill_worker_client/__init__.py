"""What agents use of what skill-worker learnt: recall, decisions, skills, outcomes, feedback.

Begin with `SkillWorker`. `skill_worker_client.langchain` has what LangChain and LangGraph take.
"""

from skill_worker_client.client import SkillWorker
from skill_worker_client.errors import (
    CallFailed,
    CallRefused,
    NotAllowed,
    SkillWorkerError,
    Unknown,
    Unreachable,
)
from skill_worker_client.models import (
    Context,
    ContextItem,
    Decision,
    MatchedRow,
    Memories,
    Memory,
    MissingInput,
    OutcomeTaken,
    RefusedItem,
    SkillFile,
    SkillFileFacts,
    TakenFeedback,
    UsedItem,
)

__all__ = [
    "CallFailed",
    "CallRefused",
    "Context",
    "ContextItem",
    "Decision",
    "MatchedRow",
    "Memories",
    "Memory",
    "MissingInput",
    "NotAllowed",
    "OutcomeTaken",
    "RefusedItem",
    "SkillFile",
    "SkillFileFacts",
    "SkillWorker",
    "SkillWorkerError",
    "TakenFeedback",
    "Unknown",
    "Unreachable",
    "UsedItem",
]
