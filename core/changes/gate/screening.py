"""What is looked for in what a change adds, who looks, and what comes of what they find."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from core.changes.policy.conditions import has_scripts
from core.domain.errors import NotFound
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeRequest,
    FileRef,
    Finding,
    Kind,
    MemoryRequest,
    RestoreRequest,
    ScreenSeverity,
    SkillRequest,
    folder_size,
)
from core.domain.models.findings import LOOK_FAILED
from core.domain.ports import (
    ChangeLog,
    ScreenRecords,
)
from core.domain.tasks import aside
from core.domain.text import decoded
from core.safety.config import DEFAULT, ScreenConfig
from core.safety.masking import mask, masked_model
from core.safety.trust import raise_severity, trust_in

_TOLD = 5  # findings that a change names as reasons


class Look(Protocol):
    """Looks at what a change adds, beside the screen: a model, or screens of plug-ins."""

    async def __call__(
        self, change: Change, added: Mapping[str, tuple[str, str]]
    ) -> Sequence[Finding]:
        """Return what it finds, by place: (text before, text after). A failure is a finding."""


class MaskMore(Protocol):
    """Takes more out of a request before anything of it is stored."""

    async def __call__(self, request: ChangeRequest, /) -> ChangeRequest:
        """Return the request without it; a failure is told when the change is looked at."""


@dataclass(frozen=True)
class Screen:
    """How what changes add is screened: the settings, what is on record, and who looks besides.

    Without `holds` findings are only told. With `keeps_raw` secrets stay where a person or a model
    writes them. `looks` and `mask_more` are those of plug-ins: the second takes out of a request
    what must not be stored. `asks_author`: the policy has a rule about authors of whom nothing was
    accepted.
    """

    records: ScreenRecords
    config: ScreenConfig = DEFAULT
    holds: bool = True
    keeps_raw: bool = False
    looks: Sequence[Look] = ()
    mask_more: MaskMore | None = None
    second_look: Look | None = None
    asks_author: bool = False

    @property
    def all_looks(self) -> Sequence[Look]:
        """Who looks at a change besides the rules."""
        return self.looks if self.second_look is None else (*self.looks, self.second_look)


def found_in(change: Change) -> tuple[Message, ...]:
    """Return why a change waits because of what was found in it, a reason for each place."""
    told: dict[Message, None] = {}
    for finding in change.findings:
        if finding.holds and finding.place:
            told[Message("screen.held_in", what=finding.text, place=finding.place)] = None
        elif finding.holds:
            told[Message("screen.held", what=finding.text)] = None
    reasons = tuple(told)
    if len(reasons) <= _TOLD:
        return reasons
    return (*reasons[:_TOLD], Message("screen.held_more", n=len(reasons) - _TOLD))


def codes_of(findings: Sequence[Finding]) -> dict[str, JsonValue]:
    """Return the codes of findings as data of an event, nothing where there are none."""
    codes: list[JsonValue] = [*dict.fromkeys(finding.code for finding in findings)]
    return {"findings": codes} if codes else {}


async def masked_request(request: ChangeRequest, screen: Screen | None) -> ChangeRequest:
    """Return a request without secrets; what restores a state that is on record stays as it is."""
    if screen is None or screen.keeps_raw or isinstance(request, RestoreRequest):
        return request
    plain = request if isinstance(request, MemoryRequest) and not request.cases else None
    size = folder_size(request.folder if isinstance(request, SkillRequest) else None)
    made = _masked(plain) if plain else await aside(size, masked_model, request)
    return made if screen.mask_more is None else await screen.mask_more(made)


def _masked(request: MemoryRequest) -> MemoryRequest:
    texts = ((name, getattr(request, name)) for name in ("content", "part", "user", "reason"))
    # A message of ours has no secret in it, and would lose its code.
    told = {name: mask(text) for name, text in texts if type(text) is str and text}
    made = {name: masked.text for name, masked in told.items() if masked.findings}
    return request.model_copy(update=made) if made else request


async def screened(
    change: Change, blobs: Mapping[str, bytes], screen: Screen | None, changes: ChangeLog
) -> Change:
    """Return a change with what is found in what it adds; `blobs` are of its files.

    Who said it and what is allowed is asked only where something is found, or the policy asks.
    """
    found = await _found(change, blobs, screen, changes) if screen else ()
    asker = change.asker if screen and screen.asks_author else None
    if screen is None or not (found or asker):
        return change.model_copy(update={"findings": ()}) if change.findings else change
    facts = await screen.records.facts(change.model_copy(update={"findings": found}))
    has_authority = change.kind is Kind.DMN_RULE or has_scripts(change)
    trust = trust_in(change, facts, screen.config, has_authority=has_authority)
    judged = raise_severity(found, trust)
    set_ = tuple(_as_set(one, facts.allowed, screen) for one in judged)
    made: dict[str, object] = {"findings": set_}
    if asker is not None:
        made["asker"] = asker.model_copy(update={"is_accepted": facts.is_accepted})
    return change.model_copy(update=made)


async def _found(
    change: Change, blobs: Mapping[str, bytes], screen: Screen, changes: ChangeLog
) -> tuple[Finding, ...]:
    """Return what rules and looks find in what is added; only a look releases what one found."""
    if change.after is None or change.kind is Kind.AGENT_SKILLS:
        return ()
    if change.kind is Kind.SKILL:
        found = await _found_in_skill(change, blobs, screen, changes)
    else:
        from core.safety.screen import screen as find  # its rules take long to load

        before, after = change.before.content if change.before else None, change.after.content
        found = find(before, after, kind=change.kind, config=screen.config)
        for look in screen.all_looks:
            found = (*found, *await look(change, {"": (before or "", after)}))
    is_looked = screen.second_look and all(one.code != LOOK_FAILED for one in found)
    if not is_looked and change.findings:
        known = {one.digest for one in found}
        old = [one for one in change.findings if one.is_looked and one.digest not in known]
        found = (*found, *filter(None, (one.still_in(change.after.content) for one in old)))
    return found


def _as_set(finding: Finding, allowed: Collection[str], screen: Screen) -> Finding:
    """Return a finding as the settings and what a person has allowed make of it."""
    if finding.severity is not ScreenSeverity.HOLD:
        return finding
    if not screen.holds:
        return finding.model_copy(update={"severity": ScreenSeverity.NOTE})
    return finding.model_copy(update={"is_allowed": finding.digest in allowed})


async def _found_in_skill(
    change: Change, blobs: Mapping[str, bytes], screen: Screen, changes: ChangeLog
) -> tuple[Finding, ...]:
    """Return what is found in the files of a skill that a change adds or alters."""
    from core.safety.screen import screen_skill as find_in_skill

    old, new = ((state and state.files) or {} for state in (change.before, change.after))
    altered = {path: ref for path, ref in new.items() if _hash(old.get(path)) != ref.sha256}
    replaced = {path: ref for path, ref in old.items() if _hash(new.get(path)) != ref.sha256}
    if not (altered or replaced):
        return ()
    after = await _contents(altered, blobs, changes)
    before = await _contents(replaced, blobs, changes)
    size = sum(ref.size for ref in altered.values())
    found = await aside(size, find_in_skill, before, after, config=screen.config)
    if not screen.all_looks:
        return found
    both = {**replaced, **altered}  # of a file that goes the new text is empty
    added = {p: (decoded(before.get(p, b"")), decoded(after.get(p, b""))) for p in both}
    for look in screen.all_looks:
        found = (*found, *await look(change, added))
    return found


def _hash(ref: FileRef | None) -> str | None:
    return ref.sha256 if ref else None


async def _contents(
    refs: Mapping[str, FileRef], blobs: Mapping[str, bytes], changes: ChangeLog
) -> dict[str, bytes]:
    """Return the bytes of files by path, without those that are not stored."""
    missing = [ref for ref in refs.values() if ref.sha256 not in blobs]
    stored: Mapping[str, bytes] = {}
    if missing:
        try:
            stored = await changes.blobs(missing)
        except NotFound:  # written by others past the gate: what it said counts as new
            stored = {}
    found = {path: blobs.get(ref.sha256, stored.get(ref.sha256)) for path, ref in refs.items()}
    return {path: data for path, data in found.items() if data is not None}
