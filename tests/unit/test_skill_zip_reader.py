"""The zip reader reads what any reader would, or names the broken rule and its position."""

from __future__ import annotations

import io
import random
import stat
import struct
import tracemalloc
import unicodedata
import zipfile
import zlib

import pytest

from core.domain.errors import BundleInvalid
from core.domain.models import SKILL_MD, Bundle, SkillFile
from core.skills.bundle import bundle_to_zip, read_zip, zip_to_bundle
from tests.support.zips import DOCUMENT, Part, Raw, with_file, written

SKILL = Part(b"s/SKILL.md", DOCUMENT)
FULL = 0xFFFFFFFF
BOMBS = ((25, 10), (25, 2**25), (23, 2**23))
NFD = unicodedata.normalize("NFD", "규정.md")


def extra(number: int, data: bytes) -> bytes:
    return struct.pack("<2H", number, len(data)) + data


def second_name(raw: bytes, name: str) -> bytes:
    return extra(0x7075, b"\1" + zlib.crc32(raw).to_bytes(4, "little") + name.encode())


def descriptor(data: bytes, sign: bytes = b"PK\7\x08", shape: str = "<3L") -> bytes:
    return sign + struct.pack(shape, zlib.crc32(data), len(data), len(data))


def cut_short() -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = packer.compress(b"data" * 9) + packer.flush()
    return with_file(method=8, data=b"data" * 9, packed_as=packed[:-2])


def commented() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name in ("s/SKILL.md", "s/a", "s/b"):
            entry = zipfile.ZipInfo(name)
            entry.comment = f"about {name}".encode()
            archive.writestr(entry, DOCUMENT if name.endswith("SKILL.md") else name)
    return written.getvalue()


OPEN = {"flags": 1 << 11 | 1 << 3, "local_crc": 0, "local_size": 0, "local_packed": 0}
LEGAL = {
    "plain": Raw().bytes(),
    "deflated": with_file(method=8),
    "zip64": Raw(zip64=True).bytes(),
    "comment": Raw(comment=b"made by hand").bytes(),
    "comments of entries": commented(),
    "folders": Raw([Part(b"s/", attributes=0x10), SKILL, Part(b"s/e/", attributes=0x10)]).bytes(),
    "empty file": with_file(data=b""),
    "empty deflated file": with_file(data=b"", method=8),
    "invalid date": with_file(date=0),
    "another invalid date": with_file(date=0xFFFF),
    "decomposed name": with_file(name=f"s/{NFD}".encode()),
    "no mode": with_file(attributes=0),
    "descriptor": with_file(**OPEN, descriptor=descriptor(b"data")),
    "descriptor without signature": with_file(**OPEN, descriptor=descriptor(b"data", b"")),
    "wide descriptor": with_file(**OPEN, descriptor=descriptor(b"data", shape="<LQQ")),
    "a stream of zipfile": written(),
    "a zip64 stream of zipfile": written(zip64=True),
    "zip64 local sizes": with_file(
        local_size=FULL, local_packed=FULL, local_extra=extra(1, struct.pack("<2Q", 4, 4))
    ),
    "zip64 size in the directory": with_file(size=FULL, extra=extra(1, struct.pack("<Q", 4))),
    "unix times": with_file(extra=extra(0x5455, b"\3" + bytes(8)), local_extra=extra(0x5455, b"")),
    "the same name twice over": with_file(
        name="s/가".encode(), flags=0, extra=second_name("s/가".encode(), "s/가")
    ),
}
LIES = {
    "name": (with_file(local_name=b"s/b"), "name differs"),
    "flags": (with_file(local_flags=0), "flags differs"),
    "method": (with_file(local_method=8), "method differs"),
    "checksum": (with_file(local_crc=1), "checksum differs"),
    "size": (with_file(local_size=9), "size differs"),
    "packed size": (with_file(local_packed=9), "packed size differs"),
    "checksum of both": (with_file(crc=1, local_crc=1), "checksum that it claims"),
    "larger than it says": (
        with_file(method=8, data=b"x" * 100, size=50, local_size=50),
        "more than the 50 bytes that it claims",
    ),
    "two sizes of a stored file": (with_file(size=9, local_size=9), "two sizes"),
    "descriptor": (with_file(**OPEN, descriptor=descriptor(b"atad")), "descriptor differs"),
    "deflated data that is cut short": (cut_short(), "ends before its deflated data"),
    "no descriptor": (with_file(**OPEN), "descriptor differs"),
    "a descriptor unasked": (with_file(descriptor=descriptor(b"data")), "there is more"),
    "before": (Raw(before=b"#!/bin/sh\n").bytes(), "data before"),
    "before, offsets unmoved": (b"MZ" + Raw().bytes(), "before its first entry"),
    "behind": (Raw(after=b"x").bytes(), "data behind its end"),
    "between entries": (Raw([Part(b"s/a", gap=b"hidden"), SKILL]).bytes(), "there is more"),
    "behind the directory": (Raw(between=b"hidden").bytes(), "behind its directory"),
    "overlap": (Raw([SKILL, Part(b"s/a", DOCUMENT, offset=0)]).bytes(), "overlap"),
    "an entry that is not there": (Raw([SKILL, Part(b"s/a", offset=5)]).bytes(), "overlaps"),
    "an unlisted entry": (Raw([SKILL, Part(b"s/a")], count=1).bytes(), "more than its entries"),
    "too many entries said": (Raw(count=9).bytes(), "cut off"),
    "two ends": (
        Raw(comment=struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0, 0, 0, 0, 0)).bytes(),
        "two ends",
    ),
    "an end in the comment": (Raw(comment=Raw().bytes()[:-1]).bytes(), "two ends"),
    "a second name": (
        with_file(extra=second_name(b"s/a", "s/b")),
        "second name 's/b'",
    ),
    "a second name in the local header": (
        with_file(local_extra=second_name(b"s/a", "s/b")),
        "second name",
    ),
    "a second name cut short": (with_file(extra=extra(0x7075, b"\1\0\0\0")), "extra field"),
    "zip64 without its field": (with_file(size=FULL), "not there"),
    "malformed extra": (with_file(extra=b"\1\0\xff\xff"), "malformed extra"),
    "two ends that disagree": (
        Raw(zip64=True).bytes()[:-14] + struct.pack("<2H2LH", 7, 7, FULL, FULL, 0),
        "disagree|parts",
    ),
}
REFUSED = {
    "encrypted": (with_file(flags=1 << 11 | 1), "encrypted"),
    "strongly encrypted": (with_file(flags=1 << 11 | 1 << 6), "encrypted"),
    "patched": (with_file(flags=1 << 11 | 1 << 5), "flags"),
    "bzip2": (with_file(method=12), "neither stored nor deflated"),
    "link": (with_file(attributes=(stat.S_IFLNK | 0o777) << 16), "no regular file"),
    "device": (with_file(attributes=(stat.S_IFCHR | 0o666) << 16), "no regular file"),
    "pipe": (with_file(attributes=(stat.S_IFIFO | 0o666) << 16), "no regular file"),
    "folder named as a file": (with_file(attributes=0x10), "folder named as a file"),
    "folder with data": (with_file(name=b"s/a/", attributes=0x10), "folder that holds data"),
    "not UTF-8": (with_file(name=b"s/\xb0\xa1", flags=0), "is not UTF-8"),
    "not marked as UTF-8": (with_file(name="s/가".encode(), flags=0), "not marked as UTF-8"),
    "NUL": (with_file(name=b"s/a\0.md"), "control"),
    "traversal": (with_file(name=b"s/../../etc/x"), "leaves its folder"),
    "traversal by a folder": (with_file(name=b"s/../", data=b"", attributes=0x10), "leaves"),
    "beside the folder": (with_file(name=b"t/a"), "outside the folder"),
    "absolute": (with_file(name=b"/etc/x"), "outside the folder"),
    "case": (with_file(name=b"s/skill.md"), "second SKILL.md"),
    "deep": (with_file(name=b"s/a/SKILL.md"), "second SKILL.md"),
    "file and folder": (
        Raw([SKILL, Part(b"s/a"), Part(b"s/a/b")]).bytes(),
        "a file and a folder",
    ),
    "file and empty folder": (
        Raw([SKILL, Part(b"s/a"), Part(b"s/a/", attributes=0x10)]).bytes(),
        "a file and a folder",
    ),
    "normal form": (
        Raw([SKILL, Part("s/가".encode()), Part(b"s/" + "가".encode())]).bytes(),
        "twice",
    ),
    "both normal forms": (
        Raw([SKILL, Part(f"s/{NFD}".encode()), Part("s/규정.md".encode())]).bytes(),
        "twice",
    ),
    "ratio": (with_file(method=8, data=bytes(2**22)), "inflates more than 200 times"),
    "no text": (Raw([Part(b"s/SKILL.md", b"\xff")]).bytes(), "not UTF-8 text"),
    "nothing": (Raw([]).bytes(), "no SKILL.md"),
    "HTML": (b"<!doctype html><p>502 Bad Gateway", "no end record"),
}


@pytest.mark.parametrize("data", LEGAL.values(), ids=LEGAL)
def test_a_legal_oddity_is_read_as_zipfile_reads_it(data: bytes) -> None:
    bundle = zip_to_bundle(data, "s", root=False)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        expected = {archive.read(name) for name in names}
    assert {file.data for file in bundle.files.values()} == expected
    assert len(bundle.files) == len(names)
    assert all(unicodedata.is_normalized("NFC", path) for path in bundle.files)


@pytest.mark.parametrize(("data", "rule"), LIES.values(), ids=LIES)
def test_a_zip_that_says_two_things_is_refused(data: bytes, rule: str) -> None:
    with pytest.raises(BundleInvalid, match=rule):
        zip_to_bundle(data, "s", root=False)


@pytest.mark.parametrize(("data", "rule"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_skill_is_refused(data: bytes, rule: str) -> None:
    with pytest.raises(BundleInvalid, match=rule):
        zip_to_bundle(data, "s", root=False)


def test_the_place_of_the_document_is_as_asked() -> None:
    bundle = Bundle(name="s", files={SKILL_MD: SkillFile(data=DOCUMENT)})
    folder, root = bundle_to_zip(bundle, root=False), bundle_to_zip(bundle, root=True)
    assert zip_to_bundle(folder, "s", root=False) == zip_to_bundle(root, "s", root=True) == bundle
    assert read_zip(folder) == bundle
    for data, wanted in ((folder, True), (root, False)):
        with pytest.raises(BundleInvalid, match=r"no SKILL\.md"):
            zip_to_bundle(data, "s", root=wanted)
    with pytest.raises(BundleInvalid, match=r"no SKILL\.md under t/"):
        zip_to_bundle(folder, "t", root=False)


def test_what_we_write_we_read_however_well_it_packs() -> None:
    files = {"zeros": bytes(3 * 2**20), "mixed": bytes(2**20) + random.Random(1).randbytes(2**14)}
    bundle = Bundle(
        name="s",
        files={
            SKILL_MD: SkillFile(data=DOCUMENT),
            **{k: SkillFile(data=v) for k, v in files.items()},
        },
    )
    assert zip_to_bundle(bundle_to_zip(bundle, root=True), "s") == bundle


@pytest.mark.parametrize("packs_well", [True, False])
def test_twenty_megabytes_take_at_most_twice_their_size(packs_well: bool) -> None:
    size, random_ = 20_000_000 // 500, random.Random(7)
    files = {
        f"assets/{number}.bin": SkillFile(
            data=random_.randbytes(size) if not packs_well else random_.randbytes(size // 4) * 4
        )
        for number in range(499)
    }
    bundle = Bundle(name="s", files={SKILL_MD: SkillFile(data=DOCUMENT), **files})
    data = bundle_to_zip(bundle, root=False)
    tracemalloc.start()
    try:
        after = zip_to_bundle(data, "s", root=False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert after == bundle
    assert peak < 1.1 * 20_000_000  # the zip itself, at most as large, is the caller's


def test_a_bomb_is_stopped_before_it_fills_the_memory() -> None:
    bombs = [with_file(method=8, data=bytes(2**n), size=s, local_size=s) for n, s in BOMBS]
    tracemalloc.start()
    try:
        for data in bombs:
            with pytest.raises(BundleInvalid, match=r"inflates|too large|more than"):
                zip_to_bundle(data, "s")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * 2**20
