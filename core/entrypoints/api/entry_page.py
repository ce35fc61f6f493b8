"""The pages before the console: plain HTML without scripts, in Korean and English.

They need neither the opened program nor a session: whoever is not signed in reaches nothing of
NiceGUI, neither its scripts nor its websocket.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from string import Template
from urllib.parse import urlencode

import yaml
from pydantic import TypeAdapter
from starlette.responses import HTMLResponse
from starlette.types import Scope

from core.domain.text import printable

CONSOLE, ENTER, LEAVE = "/console", "/console/enter", "/console/leave"
SIGN_IN, SIGNED_IN = "/console/sign-in", "/console/signed-in"  # to the provider, and back
ENGLISH = "en"
_AGAIN = '<meta http-equiv="refresh" content="3">'
# The URL of a page can contain the key of a link, so nothing may be loaded from elsewhere. The
# referrer policy is not `no-referrer`: with that, browsers send the form with `Origin: null`.
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
}
_WORDS = TypeAdapter[dict[str, dict[str, str]]](dict[str, dict[str, str]])
_CODE = re.compile("`([^`]+)`")
_LONGEST_PAGE = 2_000


def enter_address(scope: Scope) -> str:
    """Return the address of the sign-in page, from which one comes back to what was asked for."""
    query = scope["query_string"].decode("latin-1")
    wanted = scope["path"] + (f"?{query}" if query else "")
    return f"{ENTER}?{urlencode({'next': wanted})}" if own_page(wanted) != f"{CONSOLE}/" else ENTER


def own_page(wanted: str) -> str:
    """Return a page of the console, its first one for anything else: no redirect leaves it."""
    ways = (ENTER, LEAVE, SIGN_IN, SIGNED_IN)
    is_own = wanted.startswith(f"{CONSOLE}/") and not wanted.startswith(ways)
    safe = is_own and "//" not in wanted and "\\" not in wanted and wanted.isprintable()
    return wanted if safe and len(wanted) <= _LONGEST_PAGE else f"{CONSOLE}/"


def enter(
    accepted: str, problem: str | None = None, wanted: str = "", label: str = ""
) -> HTMLResponse:
    """Return the form that asks for a token; `problem` says what was wrong with the last: 403.

    `wanted` is the page that was asked for, `label` the name of the identity provider, if any.
    """
    say = _speaker(accepted)
    to = escape(own_page(wanted), quote=True)
    told = f'<p class="bad" role="alert">{say(problem)}</p>' if problem else ""
    form = f"""{told}{_by_provider(say, label, wanted)}
<form method="post" action="{ENTER}">
<label for="token">{say("token")}</label>
<input id="token" name="token" type="password" required autocomplete="off" autocapitalize="off"
 spellcheck="false" autofocus>
<input type="hidden" name="next" value="{to}">
<button>{say("open")}</button>
</form>
<p class="hint">{say("enter_hint")}</p>
<p class="hint">{say("signed_in")} <a href="{to}">{say("to_console")}</a></p>"""
    return _page(accepted, "enter", form, 403 if problem else 200)


def press(accepted: str, key: str, wanted: str) -> HTMLResponse:
    """Return the button that redeems a link: what only looks at the address must not use it up."""
    say = _speaker(accepted)
    form = _button(say("open"), key, own_page(wanted))
    return _page(accepted, "press", f"<p>{say('press_text')}</p>{form}")


def choose(accepted: str, keys: Sequence[tuple[str | None, str]], wanted: str) -> HTMLResponse:
    """Return the choice between tenants, each with the key of a link."""
    say = _speaker(accepted)
    buttons = [
        _button(escape(printable(tenant)) if tenant else say("all_tenants"), key, own_page(wanted))
        for tenant, key in keys
    ]
    return _page(accepted, "choose", f"<p>{say('choose_text')}</p>{''.join(buttons)}")


def entered(accepted: str, wanted: str) -> HTMLResponse:
    """Return the page that goes on to what was asked for, by itself."""
    say, to = _speaker(accepted), escape(own_page(wanted), quote=True)
    text = f'<p><a href="{to}">{say("to_console")}</a></p>'
    go_on = f'<meta http-equiv="refresh" content="0;url={to}">'
    return _page(accepted, "entered", text, refresh=go_on)


def _button(label: str, key: str, wanted: str) -> str:
    """Return a form of one button; its label is HTML."""
    return f"""<form method="post" action="{ENTER}">
<input type="hidden" name="key" value="{escape(key, quote=True)}">
<input type="hidden" name="next" value="{escape(wanted, quote=True)}">
<button>{label}</button>
</form>"""


def _by_provider(say: _Speaker, label: str, wanted: str) -> str:
    """Return the link to the identity provider; it is no form, which would not lead elsewhere."""
    if not label:
        return ""
    to = escape(f"{SIGN_IN}?{urlencode({'next': own_page(wanted)})}", quote=True)
    words = say("by_provider").format(label=escape(printable(label)))
    return f'<p><a class="button" href="{to}">{words}</a></p>\n<p class="hint">{say("or")}</p>'


def leave(accepted: str) -> HTMLResponse:
    """Return the question whether to end the session: following a link alone must not end it."""
    say = _speaker(accepted)
    form = f"""<p>{say("leave_text")}</p>
<form method="post" action="{LEAVE}"><button>{say("leave")}</button></form>
<form method="post" action="{LEAVE}"><button class="quiet" name="everywhere" value="1">
{say("everywhere")}</button></form>
<p class="hint"><a href="{CONSOLE}/">{say("to_console")}</a></p>"""
    return _page(accepted, "leave", form)


def left(accepted: str, at_provider: str | None = None, label: str = "") -> HTMLResponse:
    """Return the page that says that the session has ended; the provider's may go on."""
    say = _speaker(accepted)
    text = f'<p>{say("left_text")}</p><p><a href="{ENTER}">{say("again")}</a></p>'
    if at_provider:
        words = say("at_provider").format(label=escape(printable(label)))
        text += f'<p><a href="{escape(at_provider, quote=True)}">{words}</a></p>'
    return _page(accepted, "left", text)


def starting(accepted: str) -> HTMLResponse:
    """Return the page that says that the program is starting: 503. It reloads by itself."""
    text = f"<p>{_speaker(accepted)('starting_text')}</p>"
    answer = _page(accepted, "starting", text, 503, refresh=_AGAIN)
    answer.headers["Retry-After"] = "3"
    return answer


def language_of(accepted: str) -> str:
    """Return `ko` if an Accept-Language header names it before English, else `en`."""
    named = [part.strip().lower()[:2] for part in accepted.split(",")]
    return next((name for name in named if name in {"ko", ENGLISH}), ENGLISH)


class _Speaker:
    def __init__(self, language: str) -> None:
        self._language = language

    def __call__(self, key: str) -> str:
        """Return the words for a key as HTML."""
        return _CODE.sub(r"<code>\1</code>", escape(_words()[key][self._language]))


def _speaker(accepted: str) -> _Speaker:
    return _Speaker(language_of(accepted))


def _page(
    accepted: str, title: str, body: str, status: int = 200, refresh: str = ""
) -> HTMLResponse:
    html = _template().substitute(
        language=language_of(accepted), title=_speaker(accepted)(title), body=body, refresh=refresh
    )
    return HTMLResponse(html, status, _HEADERS)


@cache
def _template() -> Template:
    return Template((resources.files("core.entrypoints.api") / "entry.html").read_text("utf-8"))


@cache
def _words() -> Mapping[str, Mapping[str, str]]:
    text = (resources.files("core.entrypoints.api") / "entry.yaml").read_text("utf-8")
    return _WORDS.validate_python(yaml.safe_load(text))
