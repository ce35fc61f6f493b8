"""The site: every page goes through `Site.page`, which knows the visitor and reports failures."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from http import HTTPStatus
from importlib import resources
from inspect import isawaitable
from typing import Literal
from urllib.parse import parse_qs

import structlog
from markupsafe import Markup
from nicegui import Client, ui
from nicegui import app as nicegui_app
from nicegui import core as nicegui_core
from socketio.exceptions import (  # type: ignore[import-untyped]
    ConnectionRefusedError as SocketRefused,
)
from starlette.requests import Request
from starlette.responses import RedirectResponse

from core.domain.errors import DependencyDown, SkillWorkerError, Unauthorized
from core.domain.messages import Message
from core.domain.models.access import Principal
from core.entrypoints.api.guard import NONCE
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.sessions import PRINCIPAL
from core.entrypoints.console.language import Language
from core.entrypoints.console.parts.markup import address, el, join, link, show
from core.entrypoints.console.parts.problem import show_problem, show_unexpected
from core.entrypoints.console.visit import (
    LANGUAGE_COOKIE,
    THEME_COOKIE,
    Visit,
    language_of,
    theme_of,
    zone_of,
)
from core.entrypoints.service.agents import AgentsService
from core.entrypoints.service.session import Session

log = structlog.get_logger(__name__)
BASE = "/console"
_YEAR = 365 * 86_400
_PREFERENCES = {
    "language": (LANGUAGE_COOKIE, frozenset(Language)),
    "theme": (THEME_COOKIE, frozenset({"dark", "light"})),
}

Build = Callable[[Visit], Awaitable[None]]


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Site:
    """The pages over one opened program."""

    opened: Opened

    def page(self, path: str, name: str, build: Build) -> None:
        """Register a page: `build` draws what is inside the frame, and its errors are shown.

        `name` is the navigation entry that it belongs to, and the file of its words.
        """

        @ui.page(path, response_timeout=30)
        async def drawn(request: Request) -> None:
            visit = self._visit(request)
            if visit is None:
                _starting(request)
                return
            with draw(visit, name, dark=theme_of(request)):
                await fill(visit, partial(_build, build))

    def preferences(self) -> None:
        """Register the URL that sets language and theme, and redirects back."""

        @nicegui_app.get("/preferences")
        def prefer(request: Request, back: str = BASE) -> RedirectResponse:
            answer = RedirectResponse(_own(back), 303)
            for name, (cookie, allowed) in _PREFERENCES.items():
                value = request.query_params.get(name, "")
                if value in allowed:
                    answer.set_cookie(
                        cookie, value, max_age=_YEAR, path=BASE, httponly=True, samesite="lax"
                    )
            return answer

    def _visit(self, request: Request) -> Visit | None:
        """Return the visit; None while the program starts or stops. Raises Unauthorized."""
        principal = getattr(request.state, PRINCIPAL, None)
        if not isinstance(principal, Principal):
            raise Unauthorized(Message("console.no_session"))
        try:
            session = Session(self.opened(), principal, calls=self.opened.calls)
        except DependencyDown:
            return None
        return Visit(request, session, language_of(request), now, zone_of(request))


async def _build(build: Build, visit: Visit) -> None:
    visit.names.update(await AgentsService(visit.session).names())
    await build(visit)


async def fill(visit: Visit, build: Build) -> None:
    """Draw a page, or why that failed; the text of an unexpected error goes only to the log."""
    try:
        await build(visit)
    except SkillWorkerError as error:
        show_problem(visit, error)
    except Exception:
        log.exception("console.failed", path=visit.request.url.path)
        show_unexpected(visit)


Handler = Callable[..., Awaitable[object] | object]


def bind_events() -> None:
    """Let a connection act for pages that its own session opened, and for no others.

    A page acts for the principal it was drawn for, and is retained for a while after its connection
    is lost; by itself NiceGUI connects whoever names its id, and takes events for any page from
    any connection. A page of another session is answered as one that is not known any more: the
    browser reloads it. Only websockets are offered: the guard checks each of their messages, and
    polling would let one session send in the connection of another.
    """
    sio, config = nicegui_core.sio, nicegui_core.app.config
    config.socket_io_js_transports = ["websocket"]
    sio.eio.transports = ["websocket"]
    handlers: dict[str, Handler] = sio.handlers["/"]
    for name in ("event", "javascript_response", "ack", "log"):
        handlers[name] = _for_own_page(handlers[name])
    handlers["handshake"] = _own_handshake(handlers["handshake"])
    handlers["connect"] = _own_connect(handlers["connect"])


def _for_own_page(handle: Handler) -> Handler:
    def handled(sid: str, message: dict[str, object]) -> object:
        # The handshake puts a connection into the room of its page.
        own = nicegui_core.sio.rooms(sid)
        return handle(sid, message) if message.get("client_id") in own else None

    return handled


def _own_handshake(shake: Handler) -> Handler:
    async def shaken(sid: str, data: dict[str, object]) -> object:
        environ = nicegui_core.sio.get_environ(sid)
        if not _is_own(environ, str(data.get("client_id"))):
            return False
        return await _awaited(shake(sid, data))

    return shaken


def _own_connect(connect: Handler) -> Handler:
    async def connected(sid: str, environ: dict[str, object], auth: object = None) -> object:
        query = parse_qs(str(environ.get("QUERY_STRING", "")))
        asked = query.get("client_id", [""])[0]
        if query.get("implicit_handshake") == ["true"] and not _is_own(environ, asked):
            raise SocketRefused("Implicit handshake failed")
        return await _awaited(connect(sid, environ, auth))

    return connected


async def _awaited(done: Awaitable[object] | object) -> object:
    return await done if isawaitable(done) else done


def _is_own(environ: Mapping[str, object] | None, client_id: str) -> bool:
    """Whether a page was opened by the session of a connection."""
    client = Client.instances.get(client_id)
    # The handshake's ASGI scope, in which the guard put the caller of this connection.
    scope = (environ or {}).get("asgi.scope")
    state = scope.get("state", {}) if isinstance(scope, Mapping) else {}
    caller = state.get(PRINCIPAL)
    if client is None or not isinstance(caller, Principal):
        return False
    owner: Principal | None = getattr(client.request.state, PRINCIPAL, None)
    return owner == caller


def _own(back: str) -> str:
    """Return a path of the console, else its root: no redirect leaves it."""
    inside = back == BASE or back.startswith(f"{BASE}/")
    return back if inside and "\\" not in back and "//" not in back else BASE


def _starting(request: Request) -> None:
    from core.entrypoints.console.language import say

    language = language_of(request)
    ui.context.client.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    ui.label(say(language, "frame.starting")).classes("title")
    ui.label(say(language, "frame.starting_hint"))
    ui.timer(2.0, lambda: ui.navigate.reload(), once=True)


_PAGES = {
    "overview": "/console/",
    "feedback": "/console/feedback",
    "review": "/console/review",
    "knowledge": "/console/knowledge",
    "graph": "/console/graph",
    "effect": "/console/effect",
    "cases": "/console/cases",
    "deliveries": "/console/deliveries",
}


@contextmanager
def draw(visit: Visit, name: str, *, dark: bool | None) -> Iterator[None]:
    """Draw the frame of a page; what the block draws is its content."""
    _speak(visit.language)
    ui.page_title(f"{visit.say(f'frame.{name}')} · {visit.say('frame.title')}")
    ui.dark_mode(dark)
    ui.add_head_html(f"<style>{_file('style.css')}</style>")  # `add_css` would write a script
    words = [visit.say("frame.connection_lost"), visit.say("frame.reconnecting")]
    nonce = getattr(visit.request.state, NONCE, "")
    script = f"({_file('session.js')})({json.dumps(words)})"
    ui.add_body_html(f'<script nonce="{nonce}">{script}</script>')
    show(_bar(visit, name), tag="header")
    with ui.element("div").props(f'id="content" lang="{visit.language}" tabindex="-1"'):
        yield


_LOCALES: Mapping[Language, Literal["en-US", "ko-KR"]] = {
    Language.EN: "en-US",
    Language.KO: "ko-KR",
}


def _speak(language: Language) -> None:
    """Set the language of the document: NiceGUI knows one for each route, not for each visitor."""
    client = ui.context.client
    client.page = copy(client.page)
    client.page.language = _LOCALES[language]


def _bar(visit: Visit, name: str) -> Markup:
    entries = [
        link(visit.say(f"frame.{page}"), path, class_="here" if page == name else None)
        for page, path in _PAGES.items()
    ]
    principal = visit.session.principal
    tenant = principal.tenant_id or visit.say("frame.all_tenants")
    return el(
        "div",
        el("a", visit.say("frame.skip"), href="#content", class_="skip"),
        link(visit.say("frame.title"), "/console/", class_="brand"),
        el("nav", *entries, aria_label=visit.say("frame.pages")),
        el(
            "div",
            el(
                "span",
                tenant,
                title=visit.say("frame.signed_in", name=principal.name),
                class_="who",
            ),
            join(_switches(visit)),
            link(visit.say("frame.sign_out"), "/console/leave"),
            class_="tools",
        ),
        class_="bar",
        lang=visit.language,
    )


def _switches(visit: Visit) -> Iterator[Markup]:
    here = visit.request.url
    back = here.path + (f"?{here.query}" if here.query else "")
    other = Language.EN if visit.language is Language.KO else Language.KO
    to = address("/console/preferences", language=other, back=back)
    yield el("a", visit.say("frame.language"), href=to, title=visit.say("frame.language_hint"))
    for theme in ("dark", "light"):  # CSS hides the one in use
        to = address("/console/preferences", theme=theme, back=back)
        yield el("a", visit.say(f"frame.to_{theme}"), href=to, class_=f"to-{theme}")


@cache
def _file(name: str) -> str:
    return (resources.files("core.entrypoints.console") / name).read_text("utf-8")
