"""Messages of the program in other languages than English, from gettext catalogues.

`<language>/LC_MESSAGES/messages.po` is what people write; the `messages.mo` beside it is made of
it when the wheel is built (`build_hook.py`), and looks a translation up by a message's code.
"""

from __future__ import annotations

import gettext
from functools import cache
from pathlib import Path

from core.domain.messages import written

DOMAIN = "messages"


def translated(language: str, text: str) -> str:
    """Return what the program says in a language; English where it has no translation.

    What is no message, be it that it was stored before there were any, stays as it is.
    """
    catalogue = _catalogue(language)

    def template_of(code: str) -> str | None:
        found = catalogue.gettext(code)
        return None if found == code else found

    return written(text, template_of)


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    folder = Path(__file__).parent
    return gettext.translation(DOMAIN, folder, languages=[language], fallback=True)
