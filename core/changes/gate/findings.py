"""What was found in a change, and a person who allows it: on record, with a reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pydantic import JsonValue

from core.changes.gate import records
from core.changes.gate.deps import GateDeps
from core.changes.gate.screening import codes_of
from core.domain.errors import InvalidInput, NotFound, Refused
from core.domain.messages import Message, joined
from core.domain.models import Change, Finding, ScreenSeverity
from core.safety.masking import mask


class Findings:
    """The findings of changes, with what people have allowed of them by now."""

    def __init__(self, deps: GateDeps) -> None:
        self._deps = deps

    async def of(self, change: Change) -> tuple[Finding, ...]:
        """Return what was found in a change, as it is allowed by now."""
        holding = [one.digest for one in change.findings if one.severity is ScreenSeverity.HOLD]
        if not holding or self._deps.screen is None:
            return change.findings
        known = await self._deps.screen.records.allowed(change.tenant_id, holding)
        return _with_allowed(change.findings, {one.digest for one in known})

    async def allow(
        self, change_id: str, digests: Collection[str] = (), *, by: str, reason: str
    ) -> Change:
        """Allow findings of a change, by default all that hold it; it still waits to be decided.

        The same text is not held again for its tenant. Raises InvalidInput without a reason, and
        NotFound if it has no such finding.
        """
        change = await self._deps.changes.get(change_id)
        found = [one for one in change.findings if one.digest in digests or not digests]
        holding = [one for one in found if one.severity is ScreenSeverity.HOLD]
        if not holding or set(digests).difference(one.digest for one in found):
            raise NotFound(
                Message("screen.no_finding", id=change_id),
                hint=Message("screen.see_change", id=change_id),
            )
        if not reason.strip():
            raise InvalidInput(Message("review.reason_needed"), hint=Message("screen.say_why"))
        if not self._deps.dry_run:
            await self._allow(change, holding, by, reason)
        allowed = _with_allowed(change.findings, {one.digest for one in holding})
        return change.model_copy(update={"findings": allowed})

    async def require(self, change: Change, *, by: str, reason: str) -> None:
        """See that all that holds a change is allowed; with a `reason` it is from now on.

        Raises Refused.
        """
        holding = [finding for finding in await self.of(change) if finding.holds]
        if not holding:
            return
        if not reason.strip():
            told = joined(dict.fromkeys(finding.text for finding in holding))
            raise Refused(
                Message("screen.not_allowed", id=change.id, n=len(holding), what=told),
                hint=Message("screen.allow", id=change.id),
            )
        if not self._deps.dry_run:
            await self._allow(change, holding, by, reason)

    def masked(self, text: str) -> str:
        """Return what a person wrote as it may be stored."""
        screen = self._deps.screen
        return text if screen is None or screen.keeps_raw else mask(text).text

    async def _allow(
        self, change: Change, findings: Sequence[Finding], by: str, reason: str
    ) -> None:
        screen = self._deps.screen
        assert screen is not None
        why = self.masked(reason.strip())
        told: dict[str, JsonValue] = {"by": by, **codes_of(findings)}
        event = records.event("finding.allowed", change, None, **told)
        await screen.records.allow(change, findings, by=by, reason=why, event=event)


def _with_allowed(findings: Sequence[Finding], digests: Collection[str]) -> tuple[Finding, ...]:
    return tuple(
        one.model_copy(update={"is_allowed": True}) if one.digest in digests else one
        for one in findings
    )
