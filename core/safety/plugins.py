"""Screens of plug-ins, beside ours at each place: they can hold, note and mask, never release."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import structlog
from pydantic import BaseModel

from core.decision_table.document.markup import said_in
from core.domain.errors import ScreenDown
from core.domain.hashing import sha256
from core.domain.messages import Message
from core.domain.models import (
    Addition,
    Change,
    Finding,
    Found,
    Kind,
    MaskedFeedback,
    ScreenSeverity,
)
from core.domain.patterns import spans
from core.domain.text import one_line, shorten
from core.safety.config import ClassSetting, FindingClass, ScreenConfig
from core.safety.findings import finding, lines_around, severity_of
from core.safety.masking import Masked, MaskText, mask, masked_again, masked_model

log = structlog.get_logger(__name__)

FAILED = "failed"
MOST_FOUND = 200  # as much of each screen as of ours
_TEXT_CHARS = 300
Ask = Callable[[Sequence[Addition]], Awaitable[Sequence[Found]]]
_M = TypeVar("_M", bound=BaseModel)
_T = TypeVar("_T")
_Told = tuple[str, Sequence[Found] | Message]


def own_masks(config: ScreenConfig) -> Ask | None:
    """Return a screen of the patterns of `screen.extra` that mask; None where there are none."""
    masks = [extra for extra in config.extra if extra.masks]
    if not masks:
        return None

    def found_in(texts: Sequence[Addition]) -> Sequence[Found]:
        return [
            Found(
                code=extra.code,
                text=extra.name,
                severity=ScreenSeverity.MASK,
                place=text.place,
                start=start,
                end=end,
            )
            for text in texts
            for extra in masks
            for start, end in spans(extra.pattern, text.text)
            if start < end
        ]

    async def find(texts: Sequence[Addition]) -> Sequence[Found]:
        return await asyncio.to_thread(found_in, texts)

    return find


class PluginScreens:
    """The screens of plug-ins by name, each asked within the time of the configuration.

    `screens` opens them at first use, and raises ConfigurationError.
    """

    def __init__(
        self, screens: Callable[[], Awaitable[Mapping[str, Ask]]], config: ScreenConfig
    ) -> None:
        self._screens = screens
        self._config = config

    async def check(self) -> None:
        """Open all of them. Raises ConfigurationError."""
        await self._screens()

    async def __call__(
        self, change: Change, added: Mapping[str, tuple[str, str]]
    ) -> Sequence[Finding]:
        """Return what they find in what a change adds, by place: (text before, text after)."""
        return await self.find(
            [
                Addition(place=place, before=before, text=after, kind=change.kind)
                for place, (before, after) in added.items()
            ]
        )

    async def find(self, texts: Sequence[Addition]) -> tuple[Finding, ...]:
        """Return what they find in what is new of the texts; one that fails is such a finding."""
        from core.safety.screen import news  # its rules take long to load

        given = {text.place: _said(text) for text in texts if text.text.strip()}
        findings: list[Finding] = []
        for name, told in await self._ask(tuple(given.values())):
            if isinstance(told, Message):
                findings += self._failed(name, told, given.values())
                continue
            new = {place: news(text.before, text.text) for place, text in given.items()}
            findings += [
                made
                for one in told
                if new[one.place](one.start, one.end)
                if (made := self._finding(name, one, given[one.place].text)) is not None
            ]
        return tuple(findings)

    async def masked(self, piece: MaskedFeedback) -> MaskedFeedback:
        """Return a piece without what they say must not be stored.

        Raises ScreenDown if one of them fails: what it has not looked at is not stored.
        """
        masking = await self._masking(lambda mask: masked_again(piece, mask))
        for name, why in masking.failures.items():
            raise ScreenDown(
                Message("screen.plugin_down", name=name, why=why),
                hint=Message("screen.hint_plugin_down", name=name),
            )
        return masked_again(piece, masking)

    async def masked_request(self, request: _M) -> _M:
        """Return a request without what they say must not be stored; whoever fails holds later."""
        return masked_model(request, await self._masking(lambda mask: masked_model(request, mask)))

    async def _masking(self, walk: Callable[[MaskText], object]) -> _Masking:
        """Ask about all texts that a walk comes to; return what masks each of them."""
        noted = _Noted()
        walk(noted)
        masking = _Masking()
        for name, told in await self._ask(noted.texts):
            if isinstance(told, Message):
                masking.failures[name] = told
                continue
            for one in told:
                usual = severity_of(f"{name}.{one.code}", self._config, one.severity)
                if one.severity is ScreenSeverity.MASK and usual is not None:
                    masking.add(name, one, noted.said[one.place])
        return masking

    async def _ask(self, texts: Sequence[Addition]) -> list[_Told]:
        """Return what each found, or why it could not look. Raises ConfigurationError."""
        if not texts:
            return []
        screens = await self._screens()
        return await asyncio.gather(*(self._one(name, ask, texts) for name, ask in screens.items()))

    async def _one(self, name: str, ask: Ask, texts: Sequence[Addition]) -> _Told:
        try:
            async with asyncio.timeout(self._config.plugin_seconds):
                told = tuple(await ask(texts))
            most = None if name == FindingClass.EXTRA else MOST_FOUND  # patterns of one's own
            why = _checked(told, {text.place: text.text for text in texts}, most)
            if not isinstance(why, Message):
                return name, why
        except TimeoutError:
            why = Message("screen.too_slow")
        except Exception as error:  # noqa: BLE001 - a defect of others holds this, and stops nothing
            why = _raised(error)
        # Without its trace, whose last line may say what was looked at.
        log.error("screen.failed", screen=name, error=why)
        return name, why

    def _failed(self, name: str, why: str, texts: Iterable[Addition]) -> list[Finding]:
        setting = self._config.classes.get(f"{name}.{FAILED}")
        is_noted = setting is ClassSetting.NOTE
        unseen = "\0".join([f"{name}.{FAILED}", *(f"{one.place}\0{one.text}" for one in texts)])
        return [
            Finding(
                code=f"{name}.{FAILED}",
                text=Message("screen.plugin_failed", name=name, why=why),
                severity=ScreenSeverity.NOTE if is_noted else ScreenSeverity.HOLD,
                start=0,
                end=0,
                digest=sha256(unseen.encode("utf-8", "replace")),
            )
        ]

    def _finding(self, name: str, found: Found, text: str) -> Finding | None:
        """Return a finding of ours; what should be masked and stands there is held."""
        code = f"{name}.{found.code}"
        is_secret = found.severity is ScreenSeverity.MASK
        usual = ScreenSeverity.HOLD if is_secret else found.severity
        severity = severity_of(code, self._config, usual)
        if severity is None:
            return None
        quote = _placeholder(name, found) if is_secret else text[found.start : found.end]
        begin, until = lines_around(text, found.start, found.end)
        around = f"{text[begin : found.start]}{quote}{text[found.end : until]}"
        return finding(
            code,
            (found.start, found.end),
            severity,
            quote=mask(quote).text,
            context=mask(around).text,
            place=found.place,
            text=_words(name, found),
        )


class _Noted:
    """Notes each text that a walk comes to, once, under a place of its own."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}
        self._known: set[str] = set()

    @property
    def texts(self) -> Sequence[Addition]:
        return [Addition(place=place, text=text) for place, text in self.said.items()]

    def __call__(self, text: str, *, place: str) -> Masked:
        if text.strip() and text not in self._known:
            self._known.add(text)
            free = place if place not in self.said else f"{place}#{len(self.said)}"
            self.said[free] = text
        return Masked(text)


class _Masking:
    """Masks texts by what was found in them; `failures` says who could not look, and why."""

    def __init__(self) -> None:
        self.failures: dict[str, Message] = {}
        self._found: dict[str, list[tuple[str, Found]]] = {}

    def add(self, name: str, found: Found, text: str) -> None:
        self._found.setdefault(text, []).append((name, found))

    def __call__(self, text: str, *, place: str) -> Masked:
        parts, findings, at = [], [], 0
        for name, one in sorted(self._found.get(text, ()), key=lambda pair: pair[1].start):
            if one.start < at:  # what is masked already reaches into it
                at = max(at, one.end)
                continue
            quote = _placeholder(name, one)
            parts += [text[at : one.start], quote]
            at = one.end
            findings.append(
                finding(
                    f"{name}.{one.code}",
                    (one.start, one.end),
                    ScreenSeverity.MASK,
                    quote=quote,
                    context=quote,
                    place=place,
                    text=_words(name, one),
                )
            )
        return Masked("".join([*parts, text[at:]]), tuple(findings))


def _said(text: Addition) -> Addition:
    """Return a text as ours is looked at: of a decision table what people wrote."""
    if text.kind is not Kind.DMN_RULE:
        return text
    update = {"text": said_in(text.text), "before": said_in(text.before)}
    return text.model_copy(update=update)


def _checked(
    told: Sequence[Found], texts: Mapping[str, str], most: int | None
) -> Sequence[Found] | Message:
    """Return what a screen found; why it could not look, if it answers with something else."""
    if (most is None or len(told) <= most) and all(_is_there(one, texts) for one in told):
        return told
    return Message("screen.wrong_answer", most=MOST_FOUND)


def _is_there(one: object, texts: Mapping[str, str]) -> bool:
    if not isinstance(one, Found) or one.place not in texts:
        return False
    return one.start < one.end <= len(texts[one.place])


def _placeholder(name: str, found: Found) -> str:
    return f"[masked:{name}.{found.code}]"


def _words(name: str, found: Found) -> Message:
    what = shorten(one_line(mask(found.text).text), _TEXT_CHARS)
    return Message("screen.plugin_found", name=name, what=what)


def _raised(error: Exception) -> Message:
    """Return what was raised and where; what it says may quote the text."""
    frames = traceback.extract_tb(error.__traceback__)
    at = f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else ""
    return Message("screen.raised", type=type(error).__name__, function=at)
