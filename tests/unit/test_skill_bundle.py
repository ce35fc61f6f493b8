"""Skill bundles: valid paths and contents, and zip round-trips."""

from __future__ import annotations

import contextlib
import io
import stat
import unicodedata
import zipfile

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.domain.errors import BundleInvalid
from core.domain.hashing import sha256, state_hash
from core.domain.models import SKILL_MD, Bundle, FileRef, SkillFile, Snapshot
from core.skills.bundle import (
    MAX_BUNDLE_BYTES,
    MAX_FILE_BYTES,
    MAX_FILES,
    bundle_hash,
    bundle_to_zip,
    check_bundle,
    check_path,
    zip_to_bundle,
)

DOCUMENT = SkillFile(data=b"---\nname: s\ndescription: d\n---\nbody\n")

UNSAFE = {
    "": "is empty",
    "/etc/x": "is absolute",
    "../x": "leaves its folder",
    "a/../../x": "leaves its folder",
    "./x": "leaves its folder",
    "．．/x": "leaves its folder",
    "‥/x": "leaves its folder",
    ".. /x": "leaves its folder",
    "%2e%2e/x": "escape",
    "a/%2E%2E%2fx": "escape",
    "..\\x": "backslash",
    "C:/x": "drive",
    "c:x": "drive",
    "a//b": "empty part",
    "a/": "empty part",
    "a\0b": "control",
    "a\nb": "control",
    "a\u202egpj.exe": "invisible",
    "a\u200bb": "invisible",
    "\ud800": "invisible",
    "a.": "dot or a blank",
    "dir /x": "dot or a blank",
    "a\uff0fb": "reads as a slash",
    ".git/config": ".git",
    "con": "device",
    "scripts/NUL.txt": "device",
    "what?.md": "characters",
    unicodedata.normalize("NFD", "가.md"): "NFC",
    "a" * 256: "255 bytes",
    "가" * 100: "255 bytes",
    "/".join("d" * 17): "folders deep",
    "/".join(["x" * 200] * 6): "1024 bytes",
}


def bundle(**files: bytes) -> Bundle:
    named = {path: SkillFile(data=data) for path, data in files.items()}
    return Bundle(name="s", files={SKILL_MD: DOCUMENT, **named})


def with_files(files: dict[str, bytes]) -> Bundle:
    return bundle(**files)


def zipped(
    *entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_STORED
) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(("path", "rule"), UNSAFE.items(), ids=lambda value: ascii(value)[:40])
def test_an_unsafe_path_is_refused_by_the_rule_it_breaks(path: str, rule: str) -> None:
    with pytest.raises(BundleInvalid, match=rule):
        check_path(path)


@pytest.mark.parametrize(
    "path",
    ["a", "references/환불 규정.md", ".hidden", "a..b/c...d", "x" * 255, "-flag", "scripts/x.py"],
)
def test_an_ordinary_path_passes(path: str) -> None:
    check_path(path)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"skill.md": b"x"}, "second SKILL.md"),
        ({"a/SKILL.md": b"x"}, "second SKILL.md"),
        ({"a/Guide.md": b"x", "a/guide.md": b"x"}, "differ only in case"),
        ({"A/x": b"x", "a/y": b"x"}, "differ only in case"),
        ({"straße": b"x", "STRASSE": b"x"}, "differ only in case"),
        ({"a": b"x", "a/b": b"x"}, "a file and a folder"),
        ({"../x": b"x"}, "leaves its folder"),
        ({"x": bytes(MAX_FILE_BYTES + 1)}, "bytes, more than"),
        ({f"f{n}": b"" for n in range(MAX_FILES)}, "files, more than"),
    ],
)
def test_a_folder_that_breaks_a_rule_is_told(files: dict[str, bytes], problem: str) -> None:
    assert check_bundle(with_files({"ok.md": b"fine"})) == []
    assert any(problem in said for said in check_bundle(with_files(files)))


def test_a_folder_needs_a_document_that_is_text() -> None:
    assert check_bundle(Bundle(name="s", files={})) == ["there is no SKILL.md at the root"]
    binary = Bundle(name="s", files={SKILL_MD: SkillFile(data=b"\xff")})
    assert check_bundle(binary) == ["SKILL.md is not UTF-8 text"]


def test_all_files_together_are_limited() -> None:
    part = bytes(MAX_BUNDLE_BYTES // 4 + 1)
    said = check_bundle(with_files({f"f{n}": part for n in range(4)}))
    assert len(said) == 1
    assert said[0].startswith("the files have")


def test_the_hash_follows_paths_content_and_mode_but_not_order() -> None:
    one = Bundle(name="s", files={SKILL_MD: DOCUMENT, "a": SkillFile(data=b"1")})
    turned = Bundle(name="s", files=dict(reversed(one.files.items())))
    assert bundle_hash(one) == bundle_hash(turned)
    others = [
        {**one.files, "a": SkillFile(data=b"2")},
        {**one.files, "a": SkillFile(data=b"1", executable=True)},
        {SKILL_MD: DOCUMENT, "b": SkillFile(data=b"1")},
    ]
    hashes = {bundle_hash(one), *(bundle_hash(Bundle(name="s", files=files)) for files in others)}
    assert len(hashes) == 4


def test_the_hash_is_that_of_the_stored_state() -> None:
    files = {SKILL_MD: FileRef(sha256=sha256(DOCUMENT.data), size=len(DOCUMENT.data))}
    state = Snapshot(content=DOCUMENT.data.decode(), name="s", files=files)
    assert bundle_hash(bundle()) == state_hash(state)


names = st.text("abc가나 ._-é", min_size=1, max_size=8).map(lambda text: f"x{text}x")
file_sets = st.dictionaries(
    st.lists(names, min_size=1, max_size=3).map(lambda parts: "d/" + "/".join(parts)),
    st.builds(SkillFile, data=st.binary(max_size=64), executable=st.booleans()),
    max_size=6,
)


@given(file_sets, st.booleans())
def test_a_bundle_survives_its_zip(files: dict[str, SkillFile], root: bool) -> None:
    before = Bundle(name="s", files={SKILL_MD: DOCUMENT, **files})
    assume(not check_bundle(before))
    data = bundle_to_zip(before, root=root)
    assert zip_to_bundle(data, "s") == before
    turned = Bundle(name="s", files=dict(reversed(before.files.items())))
    assert bundle_to_zip(turned, root=root) == data


def test_a_skill_zip_has_one_folder_and_an_upload_has_none() -> None:
    both = [bundle_to_zip(bundle(a=b"1"), root=root) for root in (True, False)]
    names = [zipfile.ZipFile(io.BytesIO(data)).namelist() for data in both]
    assert names == [["SKILL.md", "a"], ["s/SKILL.md", "s/a"]]


def test_binary_files_are_kept_as_they_are() -> None:
    blob = bytes(range(256)) * 40
    assert (
        zip_to_bundle(bundle_to_zip(bundle(blob=blob), root=True), "s").files["blob"].data == blob
    )


def test_folders_decomposed_names_and_deflated_entries_are_read() -> None:
    name = unicodedata.normalize("NFD", "참고.md")
    data = zipped(("s/", b""), ("s/SKILL.md", DOCUMENT.data), (f"s/{name}", b""), method=8)
    assert set(zip_to_bundle(data, "s").files) == {SKILL_MD, "참고.md"}


def _link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("link")
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "not a readable zip"),
        (b"<html>busy</html>", "not a readable zip"),
        (zipped(("SKILL.md", b"x"))[:-30], "not a readable zip"),
        (zipped(("a.md", b"x")), "has no SKILL.md"),
        (zipped(("other/SKILL.md", b"x")), "has no SKILL.md"),
        (zipped(("s/SKILL.md", b"x"), ("stray", b"x")), "outside the folder"),
        (zipped(("SKILL.md", b"x"), ("../x", b"x")), "leaves its folder"),
        (zipped(("SKILL.md", b"x"), ("skill.md", b"x")), "second SKILL.md"),
        (zipped(("SKILL.md", b"x"), (_link(), b"/etc/passwd")), "no regular file"),
        (zipped(("SKILL.md", b"x"), method=zipfile.ZIP_LZMA), "neither stored nor deflated"),
        (zipped(*((f"f{n}", b"") for n in range(2 * MAX_FILES + 1))), "entries"),
        (
            zipped(("SKILL.md", b"x"), ("bomb", bytes(MAX_FILE_BYTES + 1)), method=8),
            "makes the skill too large",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "zip",  # its bytes hold the time
)
def test_a_zip_that_breaks_a_rule_is_refused(data: bytes, rule: str) -> None:
    with pytest.raises(BundleInvalid, match=rule):
        zip_to_bundle(data, "s")


def test_a_zip_may_hold_as_much_as_a_skill_and_no_more() -> None:
    half, more = bytes(MAX_BUNDLE_BYTES // 2), bytes(MAX_BUNDLE_BYTES // 2 + 1 - 8)
    entries = [("SKILL.md", b"12345678"), ("a", half)]
    with pytest.raises(BundleInvalid, match="'b' makes the skill too large"):
        zip_to_bundle(zipped(*entries, ("b", more)), "s")
    assert len(zip_to_bundle(zipped(*entries, ("b", more[1:])), "s").files) == 3


def test_a_zip_with_one_name_twice_is_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        data = zipped(("SKILL.md", b"x"), ("SKILL.md", b"y"))
    with pytest.raises(BundleInvalid, match="twice"):
        zip_to_bundle(data, "s")


def test_a_nul_in_a_zip_name_does_not_shorten_it() -> None:
    data = zipped(("SKILL.md", b"x"), ("a.txtZevil", b"x")).replace(b"a.txtZevil", b"a.txt\0evil")
    with pytest.raises(BundleInvalid, match="control"):
        zip_to_bundle(data, "s")


def test_a_file_whose_checksum_is_wrong_is_refused() -> None:
    data = zipped(("SKILL.md", b"plain text")).replace(b"plain text", b"other text")
    with pytest.raises(BundleInvalid, match="checksum"):
        zip_to_bundle(data, "s")


@given(st.binary(max_size=200), st.integers(0, 400), st.binary(max_size=4))
def test_a_damaged_zip_raises_nothing_but_our_own_error(junk: bytes, at: int, patch: bytes) -> None:
    good = bundle_to_zip(bundle(a=junk), root=True)
    with contextlib.suppress(BundleInvalid):
        zip_to_bundle(good[:at] + patch + good[at + len(patch) :], "s")
