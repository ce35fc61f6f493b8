"""Texts that calls bring: ids, names and reasons, in which something has to be seen."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

# A character that can be seen, in words on which all dialects of patterns agree: `\S` is not.
SEEN = r"[^\x00-\x20\x7f-\xa0\xad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]"
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=SEEN)]
Reason = Annotated[str, Field(min_length=1, max_length=2000, pattern=SEEN)]
