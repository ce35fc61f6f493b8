"""The gettext catalogues of messages: `messages.pot` in English, a folder for each other language.

English is read from the template itself, so that a checkout says what its code says. The others
are compiled to a `messages.mo` when the package is built and before tests of a checkout
(`build_hook.py`); where one is missing, or has no text for a code, English stands in.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

DOMAIN = "messages"
ENGLISH = "en"
FOLDER = Path(__file__).parent
# Our own template: each text is one line, by its code.
_ENTRY = re.compile(r'^msgctxt "(.+)"\nmsgid "(.*)"$', re.MULTILINE)
_ESCAPED = re.compile(r"\\(.)")


def template(language: str, code: str) -> str | None:
    """Return the text of a code in a language, with places for its parameters; None without one."""
    if language == ENGLISH:
        return english().get(code)
    found = _catalogue(language).gettext(code)
    return None if found == code else found


@cache
def english() -> Mapping[str, str]:
    """Return all English texts by their codes."""
    entries = _ENTRY.findall((FOLDER / f"{DOMAIN}.pot").read_text("utf-8"))
    return {code: _ESCAPED.sub(_meant, text) for code, text in entries}


def _meant(escaped: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(escaped[1], escaped[1])


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, FOLDER, languages=[language], fallback=True)
