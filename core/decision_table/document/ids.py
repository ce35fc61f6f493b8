"""Ids of rows: fit for XML, and no two alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

# NCName of Namespaces in XML 1.0: a Name without colons.
_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_REST = _START + "0-9.\u00b7\u0300-\u036f\u203f-\u2040-"
_NCNAME = re.compile(f"[{_START}][{_REST}]*")
_FOREIGN = re.compile(f"[^{_REST}]")


def is_xml_id(text: str) -> bool:
    """True where `text` can be an id in XML (an NCName)."""
    return bool(_NCNAME.fullmatch(text))


def xml_id(text: str) -> str:
    """Give `text` as an id in XML (an NCName): what does not fit becomes `_`."""
    tidy = _FOREIGN.sub("_", text)
    return tidy if is_xml_id(tidy) else f"_{tidy}"


def unused(wanted: str, taken: Collection[str]) -> str:
    """Give `wanted`, or with the first number from 2 that makes it differ from those taken."""
    candidate, number = wanted, 1
    while candidate in taken:
        number += 1
        candidate = f"{wanted}_{number}"
    return candidate


def fresh_id(new_row_id: Callable[[], str], taken: set[str]) -> str:
    """Give an id for a row that no other has, and add it to `taken`."""
    row_id = unused(xml_id(new_row_id()), taken)
    taken.add(row_id)
    return row_id
