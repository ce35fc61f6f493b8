"""The only way in which text becomes HTML: escaped. Nothing that users wrote is ever executed."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

from markupsafe import Markup, escape
from nicegui import ui

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
    written = "".join(f' {name}="{escape(value)}"' for name, value in given.items())
    begin = Markup(f"<{tag}{written}>")  # noqa: S704 - escaped above
    return begin if tag == "col" else begin + join(parts) + Markup(f"</{tag}>")  # noqa: S704


def join(parts: Iterable[Part], between: str = "") -> Markup:
    """Join parts, escaped unless they are markup."""
    return escape(between).join(escape(part) for part in parts if part is not None)


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
