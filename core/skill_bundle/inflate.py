"""Read one file out of a zip within limits that count real bytes, whatever its headers claim."""

from __future__ import annotations

import zlib

from core.errors import BundleInvalid
from core.skill_rules.problems import shown

MAX_RATIO = 200
_RATIO_FROM = 2**20
_STEP = 2**16


def is_bomb(size: int, compressed: int) -> bool:
    """Tell whether data grew out of all proportion; small data may."""
    return size > _RATIO_FROM and size > MAX_RATIO * compressed


def inflate(name: str, packed: memoryview, limit: int) -> bytes:
    """Give what deflated data holds, at most the `limit` it claims. Raises BundleInvalid."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    chunks: list[bytes] = []
    size = taken = 0
    try:
        while not inflater.eof:
            pending = inflater.unconsumed_tail or packed[taken : taken + _STEP]
            if not inflater.unconsumed_tail:
                taken += len(pending)
            chunk = inflater.decompress(pending, _STEP)
            if not chunk and not pending:
                raise BundleInvalid(f"{shown(name)} ends before its deflated data does")
            size += len(chunk)
            chunks.append(chunk)
            _see_bounds(name, size, len(packed), limit)
    except zlib.error as error:
        raise BundleInvalid(f"{shown(name)} is not deflated as it claims: {error}") from error
    if inflater.unused_data or taken < len(packed):
        raise BundleInvalid(f"{shown(name)} has data behind its deflated data")
    return b"".join(chunks)


def _see_bounds(name: str, size: int, packed: int, limit: int) -> None:
    if size > limit:
        raise BundleInvalid(f"{shown(name)} has more than the {limit} bytes that it claims")
    if is_bomb(size, packed):
        raise BundleInvalid(f"{shown(name)} inflates more than {MAX_RATIO} times")
