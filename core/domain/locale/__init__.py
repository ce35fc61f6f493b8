"""The gettext catalogues of messages: `messages.pot` in English, a folder for each other language.

Both are compiled, when the package is built and before tests of a checkout (`build_hook.py`), to a
`messages.mo` that has the texts by their codes.
"""

from __future__ import annotations

import gettext
from functools import cache
from pathlib import Path

DOMAIN = "messages"
ENGLISH = "en"


def template(language: str, code: str) -> str | None:
    """Return the text of a code in a language, with places for its parameters; None without one."""
    found = _catalogue(language).gettext(code)
    return None if found == code else found


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, Path(__file__).parent, languages=[language], fallback=True)
