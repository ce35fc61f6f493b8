"""One visit of a page: who views what, and in which language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from urllib.parse import unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from starlette.requests import Request

from core.domain.errors import NotFound
from core.domain.messages import Message, translated
from core.entrypoints.console.language import Language, chosen, say
from core.entrypoints.service.session import Session

LANGUAGE_COOKIE = "console_language"
THEME_COOKIE = "console_theme"
ZONE_COOKIE = "console_zone"  # set by the browser, which alone knows it
_LONGEST_ZONE = 64
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


@dataclass(frozen=True)
class Visit:
    """`now` returns the time; `request` is that of the page, whose scope has the principal.

    `zone` is the reader's; `names` are those of agents, by tenant and id.
    """

    request: Request
    session: Session
    language: Language
    now: Callable[[], datetime]
    zone: tzinfo = UTC
    names: dict[tuple[str, str], str] = field(default_factory=dict)

    def agent(self, tenant_id: str, agent_id: str) -> str:
        """Return the name of an agent, its id if it has none."""
        return self.names.get((tenant_id, agent_id)) or agent_id

    def local(self, at: datetime) -> str:
        """Return a time in the reader's zone, with the name of that."""
        return f"{at.astimezone(self.zone):%Y-%m-%d %H:%M:%S %Z}"

    def say(self, key: str, **values: object) -> str:
        """Return the words for `page.key` in the visitor's language."""
        return say(self.language, key, **values)

    def translated(self, text: str) -> str:
        """Return a text of the program's in the visitor's language, as far as it is a message."""
        return translated(self.language, text)

    def marked(self, text: str) -> str | None:
        """Return `en` for a text of the program's that is shown in English on another page.

        Older releases stored none but the English.
        """
        is_english = self.translated(text) == text and text[:1].isascii()
        return Language.EN if is_english and self.language is not Language.EN else None

    def query(self, name: str) -> str | None:
        """Return a value of the page's query; None if it is missing or empty.

        Raises NotFound on a value that can name nothing.
        """
        value = self.request.query_params.get(name) or None
        if value is not None and "\0" in value:
            raise NotFound(Message("console.nul", name=name))
        return value

    def ago(self, at: datetime | None) -> str:
        """Return how long ago something was, in words."""
        if at is None:
            return self.say("frame.none")
        seconds = round((self.now() - at).total_seconds())
        return self._since(seconds, "ago") if seconds >= 0 else self._since(-seconds, "ahead")

    def lasting(self, seconds: float) -> str:
        """Return how long something has lasted, in words."""
        return self._since(round(seconds), "long")

    def _since(self, seconds: int, how: str) -> str:
        for unit, name in ((_DAY, "days"), (_HOUR, "hours"), (_MINUTE, "minutes"), (1, "seconds")):
            if seconds >= unit:
                return self.say(f"frame.{name}_{how}", n=seconds // unit)
        return self.say("frame.just_now")


def language_of(request: Request) -> Language:
    """Return the language that the visitor chose, or that the browser asks for."""
    return chosen(request.cookies.get(LANGUAGE_COOKIE), request.headers.get("accept-language"))


def zone_of(request: Request) -> tzinfo:
    """Return the time zone of the browser; UTC until it has told."""
    name = unquote(request.cookies.get(ZONE_COOKIE, ""))[:_LONGEST_ZONE]
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def theme_of(request: Request) -> bool | None:
    """True if dark was chosen, False if light, None to follow the browser."""
    return {"dark": True, "light": False}.get(request.cookies.get(THEME_COOKIE, ""))
