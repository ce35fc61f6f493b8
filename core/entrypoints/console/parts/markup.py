"""The only way in which text becomes HTML: escaped, so that nothing in it is executed or hidden."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from urllib.parse import urlencode

from markupsafe import Markup, escape
from nicegui import ui

from core.domain.text import LEFTWARD, NUMBER, printable, visible_parts

Part = str | Markup | None

# Attributes that run a script or load from elsewhere must not be added.
_ATTRIBUTES = frozenset(
    {
        "aria-current", "aria-label", "class", "colspan", "data-label", "datetime", "dir", "for",
        "href", "id", "lang", "open", "role", "rowspan", "scope", "tabindex", "title",
    }
)  # fmt: skip


def el(tag: str, *parts: Part, **attributes: str | None) -> Markup:
    """Return an element of escaped parts; `class_` and `data_label` become hyphenated names.

    Raises ValueError on an attribute that is not known to be harmless.
    """
    given = {
        name.rstrip("_").replace("_", "-"): value
        for name, value in attributes.items()
        if value is not None
    }
    unknown = given.keys() - _ATTRIBUTES
    if unknown:
        raise ValueError(f"attributes {unknown} are not known to be harmless")
    see_own(given.get("href", "#"))
    written = "".join(f' {name}="{escape(printable(value))}"' for name, value in given.items())
    begin = Markup(f"<{tag}{written}>")  # noqa: S704 - escaped above
    return begin if tag == "col" else begin + join(parts) + Markup(f"</{tag}>")  # noqa: S704


def join(parts: Iterable[Part], between: str = "") -> Markup:
    """Join parts; text is escaped, with what is hidden in it made visible."""
    return escape(between).join(_shown(part) for part in parts if part is not None)


def _shown(part: str | Markup) -> Markup:
    if isinstance(part, Markup) or (part.isascii() and part.isprintable()):
        return escape(part)
    return Markup("").join(
        _box(text) if is_hidden else _isolated(text) for text, is_hidden in visible_parts(part)
    )


def _box(char: str) -> Markup:
    """Return a mark for a character that would not be seen; its title is its name."""
    title = escape(unicodedata.name(char, "CONTROL CHARACTER"))
    html = f'<span class="unseen" title="{title}">[U+{ord(char):04X}]</span>'
    return Markup(html)  # noqa: S704 - its name is escaped


def _isolated(text: str) -> Markup:
    """Return text in which letters written leftward reorder no numbers, and nothing around it."""
    if not LEFTWARD.search(text):
        return escape(text)
    parts = (
        Markup('<bdi dir="ltr">{}</bdi>').format(part) if at % 2 else escape(part)
        for at, part in enumerate(NUMBER.split(text))
    )
    return Markup("<bdi>{}</bdi>").format(Markup("").join(parts))


def link(text: Part, path: str, /, class_: str | None = None, **query: str | None) -> Markup:
    """Return a link to a path of this server."""
    return el("a", text, href=address(path, **query), class_=class_)


def address(path: str, /, **query: str | None) -> str:
    """Return a path of this server with a query; None and empty values are omitted."""
    see_own(path)
    given = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def see_own(reference: str) -> None:
    """Raise ValueError if a reference leads anywhere but to this server."""
    if not reference.startswith(("/", "#")) or reference.startswith(("//", "/\\")):
        raise ValueError(f"{reference!r} is no path of this server")


def show(markup: Markup, tag: str = "div") -> ui.html:
    """Put markup on the page; the browser sanitises it once more."""
    return ui.html(str(markup), tag=tag)
