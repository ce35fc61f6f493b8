"""The error hierarchy: each error states once whether it may be retried.

::

    SkillWorkerError
     ├─ ConfigurationError       configuration  a setting is missing or wrong
     │   └─ NoSuchTable          configuration  the platform lacks a table, or a key column of it
     │       └─ NotWritten       configuration  the settings say not to write to that table
     ├─ InvalidInput             invalid        the input breaks a rule
     │   ├─ NoReference          invalid        a row names another one that is not there
     │   ├─ ArtifactInvalid      invalid        a skill as written by a model breaks rules
     │   ├─ BundleInvalid        invalid        a skill folder or zip breaks a rule
     │   └─ RuleInvalid          invalid        a decision table breaks a rule
     ├─ NotFound                 not_found      the thing asked for does not exist
     ├─ Unauthorized             unauthorized   a call comes without a token that is valid
     ├─ Forbidden                forbidden      the token lacks the role for it
     ├─ TooManyCalls             limit          a caller asks for more than the limits allow
     ├─ Refused                  refused        a well-formed change is not allowed as asked
     │   └─ AlreadyExists        refused        a CREATE under a name that is taken
     │       └─ NearDuplicate    refused        a CREATE beside an item that says nearly the same
     ├─ Stale                    stale          the target changed since the change was prepared
     │   ├─ Repeated             stale          a near-duplicate was written since then
     │   └─ Decided              decided        the change was decided already
     ├─ KeyReused                invalid        one idempotency key, two different requests
     ├─ RunFailed                run_failed     a ReAct run ended without an outcome
     │   ├─ NoCommit             no_commit      it never made a valid call, or none that counts
     │   └─ IterationsExhausted  iterations     it used up its model calls
     ├─ LeaseLost                lease_lost     another worker has taken over the work
     ├─ PrepareFailed            failed         a change has content, but could not be made ready
     ├─ PodCallFailed            pod            a tool of the sandbox answered with an error
     ├─ StepFailed               skill_creator  a step of building a skill in a pod failed for good
     └─ DependencyDown           dependency     an outside system does not answer      (retryable)
         ├─ DatabaseDown         database       PostgreSQL
         ├─ SkillApiDown         skill_api      the skill HTTP API
         ├─ McpDown              mcp            an MCP server
         ├─ SourceDown           source         a source of feedback
         ├─ ScreenDown           dependency     a screen of a plug-in could not look
         ├─ ModelDown            model          the language model
         │   └─ CircuitOpen      model          not called: the circuit breaker is open
         │       └─ BudgetUsedUp budget         the tenant has spent its daily budget
         └─ TargetBusy           busy           another change has locked the target

`kind` is the closed set of words that `--json` failures carry.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from core.domain.messages import Message, joined, term
from core.domain.text import masked


def with_advice(why: str, hint: str) -> str:
    """Return what is wrong, with what to do about it in brackets, if there is a hint."""
    return Message("error.advice", why=why, hint=hint) if hint else why


class SkillWorkerError(Exception):
    """Base of every error the program raises on purpose.

    `message` says what is wrong and where, `hint` how to fix it.
    """

    kind: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        # What outside systems say may quote the key or the address that they were called with.
        self.message = masked(message)
        self.hint = masked(hint)
        super().__init__(self.message)

    @property
    def advice(self) -> str:
        """What was wrong, with what to do about it in brackets."""
        return with_advice(self.message, self.hint)

    @property
    def sentences(self) -> str:
        """What was wrong, and what to do about it, as two sentences."""
        if not self.hint:
            return self.message
        return Message("error.sentences", why=self.message, hint=self.hint)

    @property
    def reason(self) -> Message:
        """Its kind with the advice: why work ended or waits."""
        return Message("error.reason", kind=term(self.kind), why=self.advice)


class ConfigurationError(SkillWorkerError):
    """A setting is missing or wrong."""

    kind = "configuration"


class NoSuchTable(ConfigurationError):
    """The platform lacks a table, or one of the columns that its rows are found by."""


class NotWritten(NoSuchTable):
    """The settings say that a table of the platform is not to be written to."""


class InvalidInput(SkillWorkerError):
    """The input breaks a rule that the message names."""

    kind = "invalid"


class NoReference(InvalidInput):
    """A row names another one that is not there."""


class ArtifactInvalid(InvalidInput):
    """A skill written by a model breaks rules; `problems` go back to the author."""

    def __init__(self, problems: list[str], *, hint: str = "") -> None:
        super().__init__(joined(problems), hint=hint)
        self.problems = problems


class BundleInvalid(InvalidInput):
    """A skill folder or zip breaks a rule."""


class RuleInvalid(InvalidInput):
    """A decision table breaks a rule."""


class NotFound(SkillWorkerError):
    """The requested thing does not exist."""

    kind = "not_found"


class Unauthorized(SkillWorkerError):
    """A call carries no valid token."""

    kind = "unauthorized"


class TooManyCalls(SkillWorkerError):
    """A caller asks for more than the limits allow; `retry_after` is in seconds."""

    kind = "limit"

    def __init__(self, message: str, *, hint: str = "", retry_after: float = 1.0) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class Forbidden(SkillWorkerError):
    """The caller's token lacks the required role."""

    kind = "forbidden"


class Refused(SkillWorkerError):
    """A well-formed change is not allowed as asked; the model may ask again, differently."""

    kind = "refused"


class AlreadyExists(Refused):
    """A CREATE under a name that is taken; the error names the item that has it.

    `why` says what the two have in common, `score` how similar they are, 0 to 1. `others` are
    further conflicting items, described the same way. `valid_until` is the end of a memory, `of`
    the other agent that it is of.
    """

    def __init__(
        self,
        message: str,
        *,
        item_id: str,
        name: str,
        content: str,
        hint: str,
        why: str = "same name",
        score: float = 1.0,
        of: str = "",
        others: tuple[AlreadyExists, ...] = (),
        valid_until: datetime | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.valid_until = valid_until
        self.others = others
        self.item_id = item_id
        self.name = name
        self.content = content
        self.why = why
        self.score = score
        self.of = of


class NearDuplicate(AlreadyExists):
    """A CREATE beside an item that says nearly the same; the error names that item."""


class Stale(SkillWorkerError):
    """The target changed since the change was prepared."""

    kind = "stale"


class Repeated(Stale):
    """Another item that says nearly the same was written since the change was prepared."""

    def __init__(self, message: str, *, item_id: str) -> None:
        super().__init__(message)
        self.item_id = item_id


class Unforeseen(Stale):
    """An agent lists the skill that a change deletes, and was not named when it was prepared."""


class Decided(Stale):
    """The change was decided already, or never waited for a decision."""

    kind = "decided"


class KeyReused(SkillWorkerError):
    """One idempotency key was used for two different requests."""

    kind = "invalid"


class RunFailed(SkillWorkerError):
    """A ReAct run ended without an outcome."""

    kind = "run_failed"


class NoCommit(RunFailed):
    """The model kept answering without a valid call, or made none that counts."""

    kind = "no_commit"


class IterationsExhausted(RunFailed):
    """The run used up its allowance of model calls."""

    kind = "iterations"


class LeaseLost(SkillWorkerError):
    """Another worker has taken over this work; stop without touching it."""

    kind = "lease_lost"


class PrepareFailed(SkillWorkerError):
    """A change has its content, but could not be made ready because of `cause`.

    `prepared` is that content (a `Prepared`), so that the attempt is recorded.
    """

    kind = "failed"

    def __init__(self, prepared: object, cause: SkillWorkerError) -> None:
        super().__init__(cause.message, hint=cause.hint)
        self.prepared = prepared
        self.cause = cause


class PodCallFailed(SkillWorkerError):
    """A tool of the computer-use server answered with an error."""

    kind = "pod"


class StepFailed(SkillWorkerError):
    """A step of building a skill in a pod failed permanently; the message starts with its name."""

    kind = "skill_creator"


class DependencyDown(SkillWorkerError):
    """An outside system does not answer; `retry_after` is in seconds, if it said."""

    kind = "dependency"
    retryable = True

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class DatabaseDown(DependencyDown):
    """PostgreSQL does not answer."""

    kind = "database"


class SkillApiDown(DependencyDown):
    """The skill HTTP API does not answer, or is unavailable."""

    kind = "skill_api"


class McpDown(DependencyDown):
    """An MCP server does not answer, or its session is gone."""

    kind = "mcp"


class SourceDown(DependencyDown):
    """A source of feedback does not answer, or is unavailable."""

    kind = "source"


class ScreenDown(DependencyDown):
    """A screen of a plug-in could not look at what comes in, which is not stored for now."""


class ModelDown(DependencyDown):
    """The language model does not answer, or is unavailable."""

    kind = "model"


class CircuitOpen(ModelDown):
    """The model was not called: its circuit is open or its queue is full. Counts as no attempt."""


class BudgetUsedUp(CircuitOpen):
    """The tenant has spent its daily budget, so the model was not called. Counts as no attempt."""

    kind = "budget"


class TargetBusy(DependencyDown):
    """Another change has locked the same target."""

    kind = "busy"
