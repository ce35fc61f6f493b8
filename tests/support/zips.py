"""Zips for tests, built field by field, so that each field can lie."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass, field

DOCUMENT = b"---\nname: s\ndescription: d\n---\nbody\n"


@dataclass
class Part:
    """One entry, as its local header and as the central directory state it (None: the same)."""

    name: bytes
    data: bytes = b""
    method: int = 0
    flags: int = 1 << 11
    attributes: int = (stat.S_IFREG | 0o644) << 16
    crc: int | None = None
    size: int | None = None
    local_name: bytes | None = None
    local_flags: int | None = None
    local_method: int | None = None
    local_crc: int | None = None
    local_size: int | None = None
    local_packed: int | None = None
    extra: bytes = b""
    local_extra: bytes = b""
    descriptor: bytes = b""
    gap: bytes = b""
    offset: int | None = None
    date: int = 0x21
    packed_as: bytes | None = None

    def packed(self) -> bytes:
        """Return the data as stored in the zip."""
        if self.packed_as is not None:
            return self.packed_as
        if self.method != zipfile.ZIP_DEFLATED:
            return self.data
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        return packer.compress(self.data) + packer.flush()


@dataclass
class Raw:
    """A zip; `before`, `between` and `after` are bytes that do not belong there."""

    parts: list[Part] = field(default_factory=lambda: [Part(b"s/SKILL.md", DOCUMENT)])
    before: bytes = b""
    between: bytes = b""
    after: bytes = b""
    comment: bytes = b""
    count: int | None = None
    zip64: bool = False

    def bytes(self) -> bytes:
        """Return the whole file."""
        out, directory = bytearray(self.before), b""
        for part in self.parts:
            offset = len(out) if part.offset is None else part.offset
            out += _local(part) + part.packed() + part.descriptor + part.gap
            directory += _central(part, offset)
        start = len(out)
        out += directory + self.between
        count = len(self.parts) if self.count is None else self.count
        if self.zip64:
            out += _end_64(count, len(directory), start, len(out))
            values = (0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)
        else:
            values = (count, count, len(directory), start)
        out += struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, *values, len(self.comment))
        return bytes(out) + self.comment + self.after


def with_file(**fields: object) -> bytes:
    """Return a skill zip with one more file, `s/a`, made of these fields."""
    part = Part(**{"name": b"s/a", "data": b"data", **fields})  # type: ignore[arg-type]
    return Raw([Part(b"s/SKILL.md", DOCUMENT), part]).bytes()


def written(**how: int) -> bytes:
    """Return a skill zip as zipfile writes it to a stream: with data descriptors."""

    class Stream(io.RawIOBase):
        def __init__(self) -> None:
            self.data = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, part: object) -> int:
            self.data += bytes(part)  # type: ignore[call-overload]
            return len(bytes(part))  # type: ignore[call-overload]

    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[arg-type]
        archive.writestr("s/SKILL.md", DOCUMENT)
        with archive.open("s/a", "w", force_zip64=bool(how.get("zip64"))) as entry:
            entry.write(b"data" * 1000)
    return bytes(stream.data)


def _local(part: Part) -> bytes:
    name = part.name if part.local_name is None else part.local_name
    crc = zlib.crc32(part.data) if part.local_crc is None else part.local_crc
    size = len(part.data) if part.local_size is None else part.local_size
    packed = len(part.packed()) if part.local_packed is None else part.local_packed
    flags = part.flags if part.local_flags is None else part.local_flags
    method = part.method if part.local_method is None else part.local_method
    values = (20, flags, method, 0, part.date, crc, packed, size, len(name), len(part.local_extra))
    return struct.pack("<4s5H3L2H", b"PK\3\4", *values) + name + part.local_extra


def _central(part: Part, offset: int) -> bytes:
    crc = zlib.crc32(part.data) if part.crc is None else part.crc
    size = len(part.data) if part.size is None else part.size
    head = (20, 3, 20, 0, part.flags, part.method, 0, part.date, crc, len(part.packed()), size)
    tail = (len(part.name), len(part.extra), 0, 0, 0, part.attributes, offset)
    return struct.pack("<4s4B4H3L5H2L", b"PK\1\2", *head, *tail) + part.name + part.extra


def _end_64(count: int, size: int, start: int, at: int) -> bytes:
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
    return record + struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
