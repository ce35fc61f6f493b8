"""Real zips and frontmatters, mutated; a target raises where a promise breaks."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
import zipfile
from collections.abc import Callable

import yaml

from core.domain.errors import BundleInvalid
from core.domain.models import SKILL_MD
from core.skills.bundle import MAX_BUNDLE_BYTES, check_bundle, zip_to_bundle
from core.skills.document.frontmatter import read_frontmatter, set_description
from tests.support.zips import DOCUMENT, Part, Raw, with_file, written

_NUMBERS = (0, 1, 8, 20, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)
_SIGNATURES = (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"PK\7\x08")
_ZIPS = (
    Raw().bytes(),
    Raw(zip64=True, comment=b"c").bytes(),
    with_file(method=8, data=b"data" * 99),
    Raw([Part(b"s/", attributes=0x10), Part(b"s/SKILL.md", DOCUMENT, 8), Part(b"s/b/c")]).bytes(),
    written(),
    written(zip64=True),
)
_HEADS = (
    "---\nname: a\ndescription: b\n---\nbody\n",
    "\ufeff---\r\nname: a\r\ndescription: >-\r\n  b\r\n  c\r\n---\r\n",
    "---\nname: 'a'\ndescription: \"b\\u00e9 \\\n  c\"\nmetadata: {x: [y, z]}\n---\n",
    "---\n# c\nname: a\ndescription: |\n  b\n\n  c\nallowed-tools:\n- Bash(git:*)\n---\n",
)
_WORDS = ("---\n", "\n", "\r", "  ", ": ", " #", "- ", "'", '"', "|", ">", "[", "{", "}", ",", "\\")


def fuzz_zip(chance: random.Random) -> bool:
    """A mutated zip is read as zipfile reads it, within bounds, or refused by our own error."""
    data = bytearray(chance.choice(_ZIPS))
    for _ in range(chance.randint(0, 6)):
        _mutate(data, chance)
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        bundle = zip_to_bundle(bytes(data), "s", root=chance.choice((None, False, True)))
    except BundleInvalid:
        return False
    finally:
        peak = tracemalloc.get_traced_memory()[1] - before
        assert peak < MAX_BUNDLE_BYTES + 4 * 2**20, peak
    assert check_bundle(bundle) == []
    assert all(not path.startswith("/") and ".." not in path.split("/") for path in bundle.files)
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        read = sorted(archive.read(n) for n in archive.namelist() if not n.endswith("/"))
    assert read == sorted(file.data for file in bundle.files.values())
    assert SKILL_MD in bundle.files
    return True


def fuzz_frontmatter(chance: random.Random) -> bool:
    """A mutated head reads as PyYAML reads it, takes a new description, or is refused by us."""
    text = list(chance.choice(_HEADS))
    for _ in range(chance.randint(0, 5)):
        at = chance.randrange(len(text) + 1)
        text[at : at + chance.randint(0, 2)] = list(chance.choice((*_WORDS, chr(_point(chance)))))
    document = "".join(text)
    try:
        front = read_frontmatter(document)
    except BundleInvalid:
        return False
    head = yaml.compose(_yaml_of(document), Loader=yaml.SafeLoader)
    values = {key.value: value.value for key, value in head.value}
    assert (front.name, front.description) == (values["name"], values["description"])
    assert front.keys == tuple(values)
    try:
        edited = set_description(document, "new: words # here")
    except BundleInvalid:
        return True
    after = read_frontmatter(edited)
    assert (after.description, after.keys) == ("new: words # here", front.keys)
    return True


TARGETS: dict[str, Callable[[random.Random], bool]] = {
    "zip": fuzz_zip,
    "frontmatter": fuzz_frontmatter,
}


def _mutate(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    how = chance.randrange(6)
    if how == 0 and at < len(data):
        data[at] = chance.randrange(256)
    elif how == 1:
        del data[at : at + chance.choice((1, 4, 30))]
    elif how == 2:
        data[at:at] = chance.randbytes(chance.choice((1, 2, 46)))
    elif how == 3:
        data[at : at + 4] = chance.choice(_SIGNATURES)
    elif how == 4:
        shape = chance.choice(("<H", "<L"))
        limit = 0xFFFF if shape == "<H" else 0xFFFFFFFF
        data[at : at + struct.calcsize(shape)] = struct.pack(shape, chance.choice(_NUMBERS) & limit)
    else:
        start, size = chance.randrange(len(data) + 1), chance.choice((4, 22, 46, 80))
        data[at:at] = data[start : start + size]


def _point(chance: random.Random) -> int:
    point = chance.choice((chance.randrange(128), chance.randrange(0x3000), 0xAC00, 0x1F600))
    return point if not 0xD800 <= point < 0xE000 else 0xAC00


def _yaml_of(document: str) -> str:
    lines = document.removeprefix("\ufeff").splitlines(keepends=True)
    fences = [at for at, line in enumerate(lines) if line.rstrip(" \t\r\n") == "---"]
    return "".join(lines[1 : fences[1]])
