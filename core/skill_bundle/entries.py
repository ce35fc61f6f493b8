"""The entries of a zip: each local record agrees with the directory, and they lie side by side."""

from __future__ import annotations

import stat
import struct
import zlib

from core.errors import BundleInvalid
from core.models import SkillFile
from core.skill_bundle.extra import extra_fields, resolved, unicode_path
from core.skill_bundle.inflate import inflate
from core.skill_bundle.layout import Directory, Entry
from core.skill_rules.problems import shown

STORED, DEFLATED = 0, 8

_LOCAL = struct.Struct("<4s5H3L2H")
_ENCRYPTED, _DESCRIBED, _UTF8 = 1 << 0, 1 << 3, 1 << 11
_SECRET = _ENCRYPTED | 1 << 6 | 1 << 13
_KNOWN_FLAGS = _SECRET | _DESCRIBED | _UTF8 | 1 << 1 | 1 << 2
_DOS_FOLDER, _DOS_LABEL, _DOS_LINK = 0x10, 0x08, 0x400


def see_kind(entry: Entry) -> None:
    """See that the entry is a plain file or folder that can be read. Raises BundleInvalid."""
    kind = stat.S_IFMT(entry.attributes >> 16)
    folder = is_folder(entry)
    rules = (
        (entry.flags & _SECRET != 0, "is encrypted"),
        (entry.flags & ~_KNOWN_FLAGS != 0, "has flags that are not known"),
        (entry.method not in {STORED, DEFLATED}, "is neither stored nor deflated"),
        (kind not in {0, stat.S_IFDIR if folder else stat.S_IFREG}, "is no regular file"),
        (entry.attributes & (_DOS_LABEL | _DOS_LINK) != 0, "is no regular file"),
        (not folder and entry.attributes & _DOS_FOLDER != 0, "is a folder named as a file"),
        (folder and entry.size != 0, "is a folder that holds data"),
        (entry.method == STORED and entry.size != entry.packed_size, "has two sizes"),
    )
    for broken, said in rules:
        if broken:
            raise BundleInvalid(f"{shown(entry.label)} {said}")


def is_folder(entry: Entry) -> bool:
    """Tell whether the entry is a folder: its name ends in a slash."""
    return entry.raw_name.endswith(b"/")


def name_of(entry: Entry) -> str:
    """Give the entry's name, which must read the same for everyone. Raises BundleInvalid."""
    try:
        name = entry.raw_name.decode("utf-8")
    except UnicodeDecodeError:
        raise BundleInvalid(f"the name {shown(entry.label)} is not UTF-8") from None
    second = unicode_path(extra_fields(entry.extra, entry.label), entry.raw_name, entry.label)
    if second not in {None, name}:
        raise BundleInvalid(f"{shown(name)} has a second name {shown(second or '')}")
    if not name.isascii() and not entry.flags & _UTF8 and second is None:
        raise BundleInvalid(f"the name {shown(name)} is not marked as UTF-8")
    return name


def locate(data: memoryview, directory: Directory) -> dict[Entry, memoryview]:
    """Give where each entry's packed data lies. Raises BundleInvalid.

    Every byte before the directory belongs to just one entry.
    """
    found, at = {}, 0
    ordered = sorted(directory.entries, key=lambda entry: entry.offset)
    ends = [*(entry.offset for entry in ordered[1:]), directory.offset]
    for entry, end in zip(ordered, ends, strict=True):
        if entry.offset != at:
            what = "overlaps another entry" if entry.offset < at else "has data before it"
            raise BundleInvalid(f"{shown(entry.label)} {what}")
        if end - at < _LOCAL.size:
            raise BundleInvalid(f"{shown(entry.label)} overlaps another entry")
        start = _see_local(data[at:end], entry) + at
        stop = start + entry.packed_size
        if stop > end:
            raise BundleInvalid(f"{shown(entry.label)} overlaps what follows it")
        _see_descriptor(data[stop:end], entry)
        found[entry], at = data[start:stop], end
    if at != directory.offset:
        raise BundleInvalid("the zip has data before its directory")
    return found


def read(entry: Entry, packed: memoryview, limit: int) -> SkillFile:
    """Read one file of at most `limit` bytes, its checksum verified. Raises BundleInvalid."""
    if entry.size > limit:
        raise BundleInvalid(f"{shown(entry.label)} makes the skill too large")
    stored = entry.method == STORED
    data = bytes(packed) if stored else inflate(entry.label, packed, entry.size)
    if len(data) != entry.size:
        raise BundleInvalid(f"{shown(entry.label)} has {len(data)} bytes, not {entry.size}")
    if zlib.crc32(data) != entry.crc:
        raise BundleInvalid(f"{shown(entry.label)} does not have the checksum that it claims")
    return SkillFile(data=data, executable=bool(entry.attributes >> 16 & stat.S_IXUSR))


def _see_local(record: memoryview, entry: Entry) -> int:
    """See that the local header agrees with the directory; give its length in bytes."""
    if len(record) < _LOCAL.size or bytes(record[:4]) != b"PK\x03\x04":
        raise BundleInvalid(f"{shown(entry.label)} is not where the zip's directory says")
    values = _LOCAL.unpack(record[: _LOCAL.size])
    _, _, flags, method, _, _, crc, packed, size, name_size, extra_size = values
    end = _LOCAL.size + int(name_size) + int(extra_size)
    if len(record) < end:
        raise BundleInvalid(f"{shown(entry.label)} is cut off")
    fields = extra_fields(bytes(record[_LOCAL.size + name_size : end]), entry.label)
    size, packed = resolved(fields, entry.label, (size, packed))
    name = bytes(record[_LOCAL.size : _LOCAL.size + name_size])
    second = unicode_path(fields, name, entry.label)
    if second not in {None, entry.label}:
        raise BundleInvalid(f"{shown(entry.label)} has a second name {shown(second or '')}")
    said = {"name": name, "flags": flags, "method": method}
    real = {"name": entry.raw_name, "flags": entry.flags, "method": entry.method}
    told = {"checksum": crc, "packed size": packed, "size": size}
    truth = {"checksum": entry.crc, "packed size": entry.packed_size, "size": entry.size}
    # With a descriptor behind the data the header may leave these open, as zeros.
    for key, value in told.items():
        if not (entry.flags & _DESCRIBED and value == 0):
            said[key], real[key] = value, truth[key]
    for key, value in said.items():
        if value != real[key]:
            raise BundleInvalid(f"{shown(entry.label)}: {key} differs from the zip's directory")
    return end


def _see_descriptor(rest: memoryview, entry: Entry) -> None:
    """See that behind the data there is its descriptor, or nothing."""
    values = (entry.crc, entry.packed_size, entry.size)
    allowed = {b""}
    if entry.flags & _DESCRIBED:
        wide = struct.pack("<LQQ", *values)
        narrow = struct.pack("<LLL", *values) if max(values) < 2**32 else wide
        allowed = {sign + body for sign in (b"", b"PK\x07\x08") for body in (narrow, wide)}
    if bytes(rest[:32]) not in allowed:
        what = "the data's descriptor differs" if entry.flags & _DESCRIBED else "there is more"
        raise BundleInvalid(f"{shown(entry.label)}: behind the data {what}")
