"""The normal form of a text: what differs in form is the same, what changes meaning is kept."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Full-width ASCII (U+FF01 to U+FF5E), blanks that nobody sees, and one form each for signs.
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_UNSEEN = dict.fromkeys((0x00AD, 0x200B, 0x2060, 0xFEFF))
_SIGNS = str.maketrans("‘’‚′“”„«»「」『』−", '\'\'\'\'"""""""""-')
_FORMS = {**_WIDE, **_UNSEEN, **_SIGNS}
# Quotation marks hug words from outside; a mark after a digit may be inches, one in a word an
# apostrophe.
_QUOTED = re.compile(r"(?<!\w)([\"'])(\S(?:[^\"']*\S)?)\1(?![a-z0-9_])")
_CLOSING = re.compile(r"(?<=[^\W\d_]|[)\]%'\"])[.!。…~]+(?=\s|$)|(?<=\d)[.。](?=\s|$)")


@lru_cache(maxsize=512)
def normal_form(text: str) -> str:
    """Fold what does not change meaning: NFC, case, white space, closing marks, quotation marks.

    Numbers, signs, question marks and symbols inside words (`C++`, `-5`, `1.5`) are kept. A text
    of nothing but such marks is kept as it is.
    """
    plain = unicodedata.normalize("NFC", text).translate(_FORMS).casefold()
    plain = " ".join(unicodedata.normalize("NFC", plain).split())
    bare = " ".join(_CLOSING.sub("", _QUOTED.sub(r"\2", plain)).split())
    return bare or plain
