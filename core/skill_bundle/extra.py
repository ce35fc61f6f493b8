"""The extra fields of a zip's entries: 64-bit sizes, and a second name that must be the first."""

from __future__ import annotations

import struct
import zlib

from core.errors import BundleInvalid
from core.skill_rules.problems import shown

FULL_32 = 0xFFFFFFFF
ZIP64, UNICODE_PATH = 0x0001, 0x7075


def extra_fields(extra: bytes, name: str) -> dict[int, bytes]:
    """Give the extra fields of one record by their number. Raises BundleInvalid."""
    fields: dict[int, bytes] = {}
    at = 0
    while at < len(extra):
        if at + 4 > len(extra):
            raise BundleInvalid(f"{shown(name)} has a malformed extra field")
        number, size = struct.unpack_from("<2H", extra, at)
        if at + 4 + size > len(extra):
            raise BundleInvalid(f"{shown(name)} has a malformed extra field")
        if number in fields and number in {ZIP64, UNICODE_PATH}:
            raise BundleInvalid(f"{shown(name)} has two extra fields for one thing")
        fields[number] = extra[at + 4 : at + 4 + size]
        at += 4 + size
    return fields


def resolved(fields: dict[int, bytes], name: str, values: tuple[int, ...]) -> tuple[int, ...]:
    """Give sizes and offsets (bytes), those that refer to zip64 from there. Raises BundleInvalid.

    The order is that of the field: size, packed size, offset.
    """
    left, found = fields.get(ZIP64, b""), []
    for value in values:
        if value == FULL_32:
            if len(left) < 8:
                raise BundleInvalid(f"{shown(name)} refers to zip64 sizes that are not there")
            value, left = int.from_bytes(left[:8], "little"), left[8:]
        found.append(value)
    return tuple(found)


def unicode_path(fields: dict[int, bytes], raw_name: bytes, name: str) -> str | None:
    """Give the name of an Info-ZIP Unicode path field, None where there is none in force."""
    field = fields.get(UNICODE_PATH)
    if field is None:
        return None
    if len(field) < 5 or field[0] != 1:
        raise BundleInvalid(f"{shown(name)} has a malformed extra field")
    if int.from_bytes(field[1:5], "little") != zlib.crc32(raw_name):
        raise BundleInvalid(f"{shown(name)} has a second name made for another")
    try:
        return field[5:].decode("utf-8")
    except UnicodeDecodeError:
        raise BundleInvalid(f"{shown(name)} has a second name that is not UTF-8") from None
