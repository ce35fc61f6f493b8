"""The raw structure of a zip: where its records are, and that they do not contradict each other."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from core.domain.errors import BundleInvalid
from core.domain.messages import Message
from core.skills.validation.paths import MAX_FILES, shown

FULL_32 = 0xFFFFFFFF
ZIP64, UNICODE_PATH = 0x0001, 0x7075


def wrong(name: str, what: Message) -> BundleInvalid:
    """Return the error for the entry `name`; `what` goes on from its name."""
    return BundleInvalid(Message("zip.entry", name=shown(name), what=what))


def extra_fields(extra: bytes, name: str) -> dict[int, bytes]:
    """Return the extra fields of one record by number. Raises BundleInvalid."""
    fields: dict[int, bytes] = {}
    at = 0
    while at < len(extra):
        if at + 4 > len(extra):
            raise wrong(name, Message("zip.extra_field"))
        number, size = struct.unpack_from("<2H", extra, at)
        if at + 4 + size > len(extra):
            raise wrong(name, Message("zip.extra_field"))
        if number in fields and number in {ZIP64, UNICODE_PATH}:
            raise wrong(name, Message("zip.extra_fields"))
        fields[number] = extra[at + 4 : at + 4 + size]
        at += 4 + size
    return fields


def resolved(fields: dict[int, bytes], name: str, values: tuple[int, ...]) -> tuple[int, ...]:
    """Return sizes and offsets (bytes), taken from zip64 fields where needed. Raises BundleInvalid.

    The order is that of the field: size, packed size, offset.
    """
    left, found = fields.get(ZIP64, b""), []
    for value in values:
        if value == FULL_32:
            if len(left) < 8:
                raise wrong(name, Message("zip.no_zip64"))
            value, left = int.from_bytes(left[:8], "little"), left[8:]
        found.append(value)
    return tuple(found)


def unicode_path(fields: dict[int, bytes], raw_name: bytes, name: str) -> str | None:
    """Return the name in an Info-ZIP Unicode path field, or None if no valid one is present."""
    field = fields.get(UNICODE_PATH)
    if field is None:
        return None
    if len(field) < 5 or field[0] != 1:
        raise wrong(name, Message("zip.extra_field"))
    if int.from_bytes(field[1:5], "little") != zlib.crc32(raw_name):
        raise wrong(name, Message("zip.second_name_of_another"))
    try:
        return field[5:].decode("utf-8")
    except UnicodeDecodeError:
        raise wrong(name, Message("zip.second_name_not_utf8")) from None


MAX_ENTRIES = 2 * MAX_FILES  # folders may have entries of their own
FULL_16 = 0xFFFF

_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_CENTRAL = struct.Struct("<4s4B4H3L5H2L")
_MAX_COMMENT = 0xFFFF  # its length field has 16 bits
_MAX_VERSION = 63  # 6.3, the last version of the format


@dataclass(frozen=True)
class Entry:
    """The central directory's record of one entry; `raw_name` is undecoded."""

    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed_size: int
    size: int
    attributes: int
    offset: int
    extra: bytes

    @property
    def label(self) -> str:
        """The name, for messages."""
        return self.raw_name.decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class Directory:
    """The central directory: its entries, and the offset at which it begins."""

    entries: tuple[Entry, ...]
    offset: int


@dataclass(frozen=True)
class _End:
    disk: int
    directory_disk: int
    count_here: int
    count: int
    size: int
    offset: int


def read_directory(data: memoryview) -> Directory:
    """Read the central directory of the zip that fills all of `data`. Raises BundleInvalid."""
    at = _find_end(data)
    end = _Cursor(data, at).end(_END)
    stop = at
    locator = at - _LOCATOR_64.size
    if locator >= 0 and bytes(data[locator : locator + 4]) == b"PK\x06\x07":
        stop, end = _end_64(data, at, end)
    if (end.disk, end.directory_disk) != (0, 0) or end.count_here != end.count:
        raise BundleInvalid(Message("zip.part_of_several"))
    if end.count > MAX_ENTRIES:
        raise BundleInvalid(Message("zip.too_many", n=end.count, most=MAX_ENTRIES))
    if end.offset + end.size != stop:
        raise BundleInvalid(Message("zip.data_around"))
    return Directory(_entries(data, end, stop), end.offset)


def _find_end(data: memoryview) -> int:
    """Return the end record whose comment ends the data; there must be only one."""
    start = max(0, len(data) - _MAX_COMMENT - _END.size)
    tail = bytes(data[start:])
    found, at = [], tail.find(b"PK\x05\x06")
    while at >= 0:
        comment = int.from_bytes(tail[at + 20 : at + 22], "little")
        if at + _END.size + comment == len(tail):
            found.append(start + at)
        at = tail.find(b"PK\x05\x06", at + 1)
    if found and found[0] != start + tail.rfind(b"PK\x05\x06"):
        raise BundleInvalid(Message("zip.two_ends"))
    if not found:
        raise _unreadable(data, tail)
    return found[0]


def _unreadable(data: memoryview, tail: bytes) -> BundleInvalid:
    """Return why data has no end record: it is cut off, continued, or no zip."""
    at = tail.rfind(b"PK\x05\x06")
    rest = len(tail) - at - _END.size
    cut_off = rest < 0 or rest < int.from_bytes(tail[at + 20 : at + 22], "little")
    if bytes(data[:4]) == b"PK\x03\x04" and (at < 0 or cut_off):
        what = Message("zip.truncated")
        return BundleInvalid(
            Message("zip.unreadable", what=what), hint=Message("zip.hint_truncated")
        )
    what = Message("zip.data_behind") if at >= 0 else Message("zip.no_end")
    return BundleInvalid(Message("zip.unreadable", what=what))


def _end_64(data: memoryview, at: int, end: _End) -> tuple[int, _End]:
    """Return the zip64 end record, which must agree with the other wherever that states a value."""
    _, disk, offset, disks = _LOCATOR_64.unpack(data[at - _LOCATOR_64.size : at])
    if disk != 0 or disks > 1:
        raise BundleInvalid(Message("zip.part_of_several"))
    if bytes(data[offset : offset + 4]) != b"PK\x06\x06" or offset + _END_64.size > at:
        raise BundleInvalid(Message("zip.end64_misplaced"))
    _, size, _, _, *rest = _END_64.unpack(data[offset : offset + _END_64.size])
    if offset + 12 + size != at - _LOCATOR_64.size:
        raise BundleInvalid(Message("zip.end64_end"))
    wide = _End(*rest)
    narrow = (end.count_here, end.count, end.size, end.offset)
    full = (FULL_16, FULL_16, FULL_32, FULL_32)
    for stated, limit, real in zip(
        narrow, full, (wide.count_here, wide.count, wide.size, wide.offset), strict=True
    ):
        if stated not in {limit, real}:
            raise BundleInvalid(Message("zip.ends_disagree"))
    return offset, wide


def _entries(data: memoryview, end: _End, stop: int) -> tuple[Entry, ...]:
    cursor = _Cursor(data[:stop], end.offset)
    entries = tuple(cursor.entry() for _ in range(end.count))
    if cursor.at != stop:
        raise BundleInvalid(Message("zip.directory_more"))
    return entries


class _Cursor:
    """Reads records in sequence. Raises BundleInvalid if one is cut off."""

    def __init__(self, data: memoryview, at: int) -> None:
        self.data, self.at = data, at

    def take(self, size: int) -> memoryview:
        part = self.data[self.at : self.at + size]
        if len(part) != size:
            raise BundleInvalid(Message("zip.directory_cut_off"))
        self.at += size
        return part

    def end(self, record: struct.Struct) -> _End:
        _, *rest, _ = record.unpack(self.take(record.size))
        return _End(*rest)

    def entry(self) -> Entry:
        values = _CENTRAL.unpack(self.take(_CENTRAL.size))
        if values[0] != b"PK\x01\x02":
            raise BundleInvalid(Message("zip.no_entry"))
        _, _, _, version, _, flags, method, _, _, crc, packed, size, *rest = values
        name_size, extra_size, comment_size, disk, _, attributes, offset = rest
        name, extra = bytes(self.take(name_size)), bytes(self.take(extra_size))
        self.take(comment_size)
        label = name.decode("utf-8", "backslashreplace")
        fields = extra_fields(extra, label)
        size, packed, offset = resolved(fields, label, (size, packed, offset))
        if version > _MAX_VERSION:
            raise wrong(label, Message("zip.newer"))
        if disk not in {0, FULL_16}:
            raise BundleInvalid(Message("zip.part_of_several"))
        return Entry(name, flags, method, crc, packed, size, attributes, offset, extra)


MAX_RATIO = 200
_RATIO_FROM = 2**20
_STEP = 2**16


def is_bomb(size: int, compressed: int) -> bool:
    """Whether data has grown beyond the permitted ratio; small data may."""
    return size > _RATIO_FROM and size > MAX_RATIO * compressed


def inflate(name: str, packed: memoryview, limit: int) -> bytes:
    """Inflate deflated data, up to the `limit` it declares. Raises BundleInvalid."""
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
                raise wrong(name, Message("zip.cut_short"))
            size += len(chunk)
            chunks.append(chunk)
            _see_bounds(name, size, len(packed), limit)
    except zlib.error as error:
        raise wrong(name, Message("zip.not_deflated", why=error)) from error
    if inflater.unused_data or taken < len(packed):
        raise wrong(name, Message("zip.behind_deflated"))
    return b"".join(chunks)


def _see_bounds(name: str, size: int, packed: int, limit: int) -> None:
    if size > limit:
        raise wrong(name, Message("zip.over_claim", limit=limit))
    if is_bomb(size, packed):
        raise wrong(name, Message("zip.bomb", most=MAX_RATIO))
