"""Each field of a zip that lies, is cut off, or says what no reader should follow, is refused."""

from __future__ import annotations

import struct
import zlib

import pytest

from core.domain.errors import BundleInvalid
from core.domain.models import SKILL_MD
from core.skills.bundle import NoSkill, read_skill_file, zip_to_bundle
from tests.support.zips import DOCUMENT, Part, Raw, with_file

SKILL = Part(b"s/SKILL.md", DOCUMENT)
FULL = 0xFFFFFFFF
END, LOCATOR, CENTRAL, LOCAL = b"PK\5\6", b"PK\6\7", b"PK\1\2", b"PK\3\4"
DESCRIBED = {"flags": 1 << 11 | 1 << 3}


def patched(data: bytes, record: bytes, at: int, value: int, shape: str = "<H") -> bytes:
    """Return a zip with one field of the last record of a kind replaced."""
    place = data.rindex(record) + at
    packed = struct.pack(shape, value)
    return data[:place] + packed + data[place + len(packed) :]


def extra(number: int, data: bytes) -> bytes:
    return struct.pack("<2H", number, len(data)) + data


def second_name(raw: bytes, name: bytes, version: int = 1) -> bytes:
    return extra(0x7075, bytes([version]) + zlib.crc32(raw).to_bytes(4, "little") + name)


def descriptor(crc: int, packed: int, size: int, shape: str = "<3L") -> bytes:
    return struct.pack(shape, crc, packed, size)


CRC = zlib.crc32(b"data")
PLAIN, WIDE = Raw().bytes(), Raw(zip64=True).bytes()
DEFLATED = with_file(method=8)
MANY = Raw(
    [Part(b"s/SKILL.md", DOCUMENT), *(Part(b"s/d%d/" % n, attributes=16) for n in range(2001))]
)
WRONG = {
    "a locator at the very beginning": (
        LOCATOR + bytes(10) + struct.pack("<4s4H2LH", END, 0, 0, 0, 0, 0, 0, 0),
        "before its first entry",
    ),
    "on another disk": (patched(PLAIN, END, 4, 1), "one part of several"),
    "a directory on another disk": (patched(PLAIN, END, 6, 1), "one part of several"),
    "more entries elsewhere": (patched(PLAIN, END, 8, 0), "one part of several"),
    "an entry on another disk": (patched(PLAIN, CENTRAL, 34, 1), "one part of several"),
    "a zip64 end on another disk": (patched(WIDE, LOCATOR, 4, 1, "<L"), "one part of several"),
    "of two disks": (patched(WIDE, LOCATOR, 16, 2, "<L"), "one part of several"),
    "a zip64 end elsewhere": (patched(WIDE, LOCATOR, 8, 3, "<Q"), "not where it should be"),
    "a zip64 end far away": (patched(WIDE, LOCATOR, 8, 2**63, "<Q"), "not where it should be"),
    "a longer zip64 end": (patched(WIDE, b"PK\6\6", 4, 45, "<Q"), "does not end where it should"),
    "another count here": (patched(WIDE, END, 8, 7), "disagree"),
    "another count": (patched(WIDE, END, 10, 7), "disagree"),
    "another size": (patched(WIDE, END, 12, 7, "<L"), "disagree"),
    "another offset": (patched(WIDE, END, 16, 7, "<L"), "disagree"),
    "a larger directory": (patched(PLAIN, END, 12, 9, "<L"), "before its first entry, or behind"),
    "more entries than files may be": (MANY.bytes(), "has 2002 entries, more than 2000"),
    "no entry": (patched(PLAIN, CENTRAL, 0, 0), "holds what is no entry"),
    "a newer format": (patched(PLAIN, CENTRAL, 6, 64), "needs a newer version"),
    "an end behind the longest comment": (
        Raw(after=b"x" * 65_535).bytes(),
        "it has data behind its end",
    ),
    "other than a zip, with an end": (b"MZ" + Raw(after=b"x").bytes()[4:], "data behind its end"),
    "cut off in its end": (PLAIN[:-1], "is truncated"),
    "cut off in its comment": (Raw(comment=b"abc").bytes()[:-1], "is truncated"),
    "cut off before its end": (PLAIN[:60], "is truncated"),
    "two ends, of which one is in the comment": (Raw(comment=END).bytes(), "two ends"),
    "an extra field of three bytes": (with_file(extra=b"\1\0\0"), "malformed extra field"),
    "two zip64 fields": (with_file(extra=2 * extra(1, b"")), "two extra fields"),
    "two second names": (with_file(extra=2 * second_name(b"s/a", b"s/a")), "two extra fields"),
    "seven bytes of zip64": (with_file(size=FULL, extra=extra(1, bytes(7))), "not there"),
    "one zip64 value of two": (
        with_file(local_size=FULL, local_packed=FULL, local_extra=extra(1, bytes(8))),
        "not there",
    ),
    "a second name of nothing": (
        with_file(extra=second_name(b"s/a", b"")),
        "second name ''",
    ),
    "a second name of a later version": (
        with_file(extra=second_name(b"s/a", b"s/a", version=2)),
        "malformed extra field",
    ),
    "a second name for another": (with_file(extra=second_name(b"s/b", b"s/a")), "for another"),
    "a second name in no UTF-8": (with_file(extra=second_name(b"s/a", b"\xff")), "not UTF-8"),
    "no local header": (patched(PLAIN, LOCAL, 0, 0), "is not where the zip's directory says"),
    "a local header that is too long": (patched(PLAIN, LOCAL, 28, 999), "is cut off"),
    "more data than there is": (
        with_file(method=8, packed_as=b"\3\0" + b"x", local_packed=2),
        "packed size differs|behind",
    ),
    "data behind the deflated": (
        with_file(method=8, data=b"", packed_as=b"\3\0x"),
        "data behind its deflated data",
    ),
    "no deflated data": (with_file(method=8, packed_as=b"\xff\xff"), "not deflated as it claims"),
    "fewer bytes than it says": (
        with_file(method=8, data=b"data", size=5, local_size=5),
        "has 4 bytes, not 5",
    ),
    "secret by its last flag": (with_file(flags=1 << 11 | 1 << 13), "is encrypted"),
    "a flag of no meaning": (with_file(flags=1 << 11 | 1 << 4), "flags that are not known"),
    "a label of a disk": (with_file(attributes=0x08), "no regular file"),
    "a link of Windows": (with_file(attributes=0x400), "no regular file"),
    "a folder that is a file": (
        with_file(name=b"s/a/", data=b"", attributes=0o100644 << 16),
        "no regular file",
    ),
    "a file that is a folder": (with_file(attributes=0o40755 << 16), "no regular file"),
    "a size in a header with its descriptor": (
        with_file(**DESCRIBED, local_size=9, local_crc=0, local_packed=0, descriptor=b""),
        "size differs",
    ),
    "no size in a header without a descriptor": (with_file(local_size=0), "size differs"),
    "no checksum in a header without a descriptor": (with_file(local_crc=0), "checksum differs"),
    "a descriptor and more": (
        with_file(**DESCRIBED, descriptor=descriptor(CRC, 4, 4) + b"x"),
        "descriptor differs",
    ),
    "a wide descriptor and more than a record": (
        with_file(**DESCRIBED, descriptor=descriptor(CRC, 4, 4, "<L2Q") + bytes(40)),
        "descriptor differs",
    ),
}


@pytest.mark.parametrize(("data", "rule"), WRONG.values(), ids=WRONG)
def test_a_field_that_is_wrong_is_named(data: bytes, rule: str) -> None:
    with pytest.raises(BundleInvalid, match=rule):
        zip_to_bundle(data, "s", root=False)
    with pytest.raises(NoSkill):
        read_skill_file(data)


RIGHT = {
    "an end that states what the zip64 end does": Raw(zip64=True).bytes()[:-14]
    + struct.pack("<2H", 1, 1)
    + WIDE[-10:],
    "a zip64 end of no disks": patched(WIDE, LOCATOR, 16, 0, "<L"),
    "an entry on the disk of the field": patched(PLAIN, CENTRAL, 34, 0xFFFF),
    "the last version": patched(PLAIN, CENTRAL, 6, 63),
    "the longest comment": Raw(comment=b"x" * 65_535).bytes(),
    "an end in pieces in its comment": Raw(comment=END[:3]).bytes(),
    "other fields twice": with_file(extra=2 * extra(0x5455, b"\0")),
    "the size in the header too": with_file(**DESCRIBED, descriptor=descriptor(CRC, 4, 4)),
    "all of zip64 in the directory": patched(
        with_file(size=FULL, extra=extra(1, struct.pack("<2Q", 4, 4))), CENTRAL, 20, FULL, "<L"
    ),
    "flags of how it was packed": with_file(method=8, flags=1 << 11 | 1 << 1 | 1 << 2),
}


@pytest.mark.parametrize("data", RIGHT.values(), ids=RIGHT)
def test_a_field_that_may_be_so_is_read(data: bytes) -> None:
    assert zip_to_bundle(data, "s", root=False).files[SKILL_MD].data == DOCUMENT


def test_bits_of_a_mode_are_kept_warned_of_or_left() -> None:
    modes = {b"s/a": 0o755, b"s/b": 0o644, b"s/c": 0o4755, b"s/d": 0o1644, b"s/e": 0o655}
    parts = [Part(name, attributes=(0o100000 | mode) << 16) for name, mode in modes.items()]
    folder = Part(b"s/f/", attributes=0o41777 << 16)
    made = read_skill_file(Raw([SKILL, *parts, folder]).bytes())
    assert [path for path, file in made.bundle.files.items() if file.executable] == ["a", "c"]
    assert [(one.code, one.path) for one in made.problems] == [
        ("file-mode", "s/c"),
        ("file-mode", "s/d"),
    ]


def test_litter_is_left_aside_and_counted_by_the_part_that_makes_it_so() -> None:
    names = [b"__MACOSX/", b"__MACOSX/.DS_Store", b"s/.DS_Store", b"s/node_modules/.git/x", b"s/a"]
    made = read_skill_file(Raw([SKILL, *map(Part, names)]).bytes())
    assert sorted(made.bundle.files) == ["SKILL.md", "a"]
    (warning,) = made.problems
    assert warning.message.endswith(".DS_Store, __MACOSX (2), node_modules")


def test_a_flat_file_is_named_by_its_document_and_warned_of() -> None:
    flat = Raw([Part(b"SKILL.md", DOCUMENT), Part(b"a", b"x")]).bytes()
    made = read_skill_file(flat)
    assert (made.bundle.name, sorted(made.bundle.files)) == ("s", ["SKILL.md", "a"])
    assert [(one.code, one.severity) for one in made.problems] == [("archive-flat", "warning")]
    nameless = read_skill_file(Raw([Part(b"SKILL.md", b"no head\n")]).bytes())
    assert nameless.bundle.name == ""


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (Raw([Part(b"s/SKILL.md", b"\xff")]).bytes(), "document-encoding"),
        (with_file(attributes=0x400), "file-kind"),
        (Raw([Part(b"s/a")]).bytes(), "document-missing"),
        (PLAIN[:-1], "archive-truncated"),
        (Raw([]).bytes(), "archive"),
        (with_file(crc=1, local_crc=1), "archive"),
        (with_file(name=b"s/con"), "path-device"),
        (Raw([Part(b"../SKILL.md", DOCUMENT)]).bytes(), "archive"),
    ],
)
def test_the_rule_that_a_file_breaks_is_told(data: bytes, rule: str) -> None:
    with pytest.raises(NoSkill) as refused:
        read_skill_file(data)
    assert [one.code for one in refused.value.problems if one.severity == "error"] == [rule]


def test_what_a_skill_may_hold_at_most_is_counted_over_its_files() -> None:
    most = 24 * 2**20

    def claiming(size: int) -> Part:
        return Part(b"s/b", method=8, size=size, local_size=size)

    def refused(*parts: Part) -> str:
        with pytest.raises(BundleInvalid) as raised:
            zip_to_bundle(Raw([SKILL, *parts]).bytes(), "s")
        return raised.value.message

    assert "makes the skill too large" in refused(claiming(most + 1))
    assert "has 0 bytes, not" in refused(claiming(most))
    full = Part(b"s/a", bytes(most))
    assert "makes the skill too large" in refused(full, claiming(most - len(DOCUMENT) + 1))
    assert "has 0 bytes, not" in refused(full, claiming(most - len(DOCUMENT)))
