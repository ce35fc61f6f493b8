"""The errors of the program, in one tree, so that each is sorted once: retry it, or not.

::

    SkillWorkerError
     ├─ ConfigurationError       configuration  a setting is missing or wrong
     ├─ InvalidInput             invalid        what was given breaks a rule
     │   ├─ ArtifactInvalid      invalid        a skill as written by a model breaks rules
     │   ├─ BundleInvalid        invalid        a skill folder or zip breaks a rule
     │   └─ RuleInvalid          invalid        a decision table breaks a rule
     ├─ NotFound                 not_found      the thing asked for does not exist
     ├─ Unauthorized             unauthorized   a call comes without a token that is valid
     ├─ Forbidden                forbidden      the token lacks the role for it
     ├─ Refused                  refused        a well-formed change may not be made as asked
     │   └─ AlreadyExists        refused        a CREATE under a name that is taken
     │       └─ NearDuplicate    refused        a CREATE beside an item that says nearly the same
     ├─ Stale                    stale          the target moved since the change was prepared
     │   ├─ Repeated             stale          another item says nearly the same since then
     │   └─ Decided              decided        somebody has decided about the change already
     ├─ KeyReused                invalid        one idempotency key, two different requests
     ├─ RunFailed                run_failed     a ReAct run ended without an outcome
     │   ├─ NoCommit             no_commit      it kept answering in prose
     │   └─ IterationsExhausted  iterations     it used up its model calls
     ├─ LeaseLost                lease_lost     another worker has taken the work over
     ├─ PrepareFailed            failed         a change has content, but could not be made ready
     ├─ PodCallFailed            pod            a tool of the sandbox answered with an error
     ├─ StepFailed               skill_creator  a step of building a skill in a pod failed for good
     └─ DependencyDown           dependency     something outside does not answer      (retryable)
         ├─ DatabaseDown         database       PostgreSQL
         ├─ SkillApiDown         skill_api      the skill HTTP API
         ├─ McpDown              mcp            an MCP server
         ├─ SourceDown           source         a source of feedback
         ├─ ModelDown            model          the language model
         │   └─ ModelHeld        model          it is held back for all, so nobody asked it
         │       └─ BudgetUsedUp budget         the tenant has spent what it may in a day
         └─ TargetBusy           busy           another change holds the target

`kind` is the closed set of words that `--json` failures carry.
"""

from __future__ import annotations

from typing import ClassVar

from core.domain.messages import Message, joined, term


class SkillWorkerError(Exception):
    """Base of every error the program raises on purpose.

    `message` says what was wrong and where, `hint` what to do about it.
    """

    kind: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def advice(self) -> str:
        """What was wrong, with what to do about it in brackets."""
        if not self.hint:
            return self.message
        return Message("error.advice", "{why} ({hint})", why=self.message, hint=self.hint)

    @property
    def reason(self) -> Message:
        """Its kind with the advice: why work ended or waits."""
        return Message("error.reason", "{kind}: {why}", kind=term(self.kind), why=self.advice)


class ConfigurationError(SkillWorkerError):
    """A setting is missing or wrong."""

    kind = "configuration"


class InvalidInput(SkillWorkerError):
    """What was given breaks a rule that the message names."""

    kind = "invalid"


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
    """The thing asked for does not exist."""

    kind = "not_found"


class Unauthorized(SkillWorkerError):
    """A call comes without a token that is valid."""

    kind = "unauthorized"


class Forbidden(SkillWorkerError):
    """The token of a call lacks the role for it."""

    kind = "forbidden"


class Refused(SkillWorkerError):
    """A well-formed change may not be made as asked; the model may ask again, differently."""

    kind = "refused"


class AlreadyExists(Refused):
    """A CREATE under a name that is taken; the item that has it is told.

    `why` says what the two have in common, `score` how near they are, 0 to 1; `others` are
    further items that stand in the way, each told in the same way.
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
        others: tuple[AlreadyExists, ...] = (),
    ) -> None:
        super().__init__(message, hint=hint)
        self.others = others
        self.item_id = item_id
        self.name = name
        self.content = content
        self.why = why
        self.score = score


class NearDuplicate(AlreadyExists):
    """A CREATE beside an item that says nearly the same; the item is told."""


class Stale(SkillWorkerError):
    """The target moved on since the change was prepared."""

    kind = "stale"


class Repeated(Stale):
    """Another item was written since the change was prepared that says nearly the same."""

    def __init__(self, message: str, *, item_id: str) -> None:
        super().__init__(message)
        self.item_id = item_id


class Decided(Stale):
    """Somebody has decided about the change already, or it never waited for anybody."""

    kind = "decided"


class KeyReused(SkillWorkerError):
    """One idempotency key was used for two different requests."""

    kind = "invalid"


class RunFailed(SkillWorkerError):
    """A ReAct run ended without an outcome."""

    kind = "run_failed"


class NoCommit(RunFailed):
    """The model kept answering in prose after it was told to act."""

    kind = "no_commit"


class IterationsExhausted(RunFailed):
    """The run used up its model calls."""

    kind = "iterations"


class LeaseLost(SkillWorkerError):
    """Another worker has taken this work over; stop without touching it."""

    kind = "lease_lost"


class PrepareFailed(SkillWorkerError):
    """A change has its content, but could not be made ready because of `cause`.

    `prepared` is that content (a `Prepared`), so that the attempt goes on record.
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
    """A step of building a skill in a pod failed for good; the message begins with its name."""

    kind = "skill_creator"


class DependencyDown(SkillWorkerError):
    """Something outside does not answer; `retry_after` is in seconds where it said so."""

    kind = "dependency"
    retryable = True

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class DatabaseDown(DependencyDown):
    """PostgreSQL does not answer."""

    kind = "database"


class SkillApiDown(DependencyDown):
    """The skill HTTP API does not answer, or says that it cannot now."""

    kind = "skill_api"


class McpDown(DependencyDown):
    """An MCP server does not answer, or its session is gone."""

    kind = "mcp"


class SourceDown(DependencyDown):
    """A source of feedback does not answer, or says that it cannot now."""

    kind = "source"


class ModelDown(DependencyDown):
    """The language model does not answer, or says that it cannot now."""

    kind = "model"


class CircuitOpen(ModelDown):
    """The model was not asked: it is held back, or its line is full. This is no attempt."""


class BudgetUsedUp(CircuitOpen):
    """The tenant has spent what it may in a day, so nobody asked the model. This is no attempt."""

    kind = "budget"


class TargetBusy(DependencyDown):
    """Another change holds the same target."""

    kind = "busy"
