"""What can go wrong with a call, by what the caller can do about it."""

from __future__ import annotations


class SkillWorkerError(Exception):
    """A call that did not succeed. `hint` says what to do, where the worker said so."""

    def __init__(self, message: str, *, status: int | None = None, hint: str = "") -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.status = status
        self.hint = hint


class Unreachable(SkillWorkerError):
    """The worker did not answer, also not when it was asked again."""


class CallFailed(SkillWorkerError):
    """The worker answered that it cannot do it now, or answered something that is not its own."""


class CallRefused(SkillWorkerError):
    """What was sent breaks a rule: sending it again changes nothing."""


class NotAllowed(CallRefused):
    """The token is not valid, or lacks the role for this."""


class Unknown(CallRefused):
    """There is no such thing, or it is another agent's."""
