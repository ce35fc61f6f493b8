"""A published skill is fetched from where it is, and is what was pinned, or it is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core.changes.installing.fetching import ANYTHING, MOST, Fetching, Offer, Wanted
from core.domain.errors import InvalidInput, NotFound, SkillWorkerError
from core.domain.hashing import sha256
from core.domain.models import SKILL_MD, Bundle, SkillFile
from core.domain.ports.installed import Checkout
from core.skills.bundle import NoSkill, bundle_hash, bundle_to_zip
from core.skills.published.index_file import MAX_INDEX_BYTES
from core.skills.published.places import GitPlace, NamePlace, PathPlace, Place, UrlPlace

ONE, OTHER = "https://one.example/index.json", "https://two.example/index.json"
ZIP = "https://one.example/pay.skill"
COMMIT, MOVED = "ab" * 20, "cd" * 20


def document(name: str = "pay", version: str = "1.2.0") -> bytes:
    stated = f"metadata:\n  version: {version}\n" if version else ""
    return (
        f"---\nname: {name}\ndescription: How to {name} a bill.\n{stated}---\n\n"
        f"# {name}\n\n1. Look at it.\n"
    ).encode()


def bundle(name: str = "pay", **files: bytes) -> Bundle:
    named = {SKILL_MD: document(name), **files}
    return Bundle(name=name, files={p: SkillFile(data=data) for p, data in named.items()})


@dataclass
class Publishing:
    """Publishers over memory, who remember what they were asked for."""

    files: dict[str, bytes] = field(default_factory=dict)
    trees: dict[str, Mapping[str, SkillFile]] = field(default_factory=dict)
    commit: str = COMMIT
    asked: list[tuple[object, ...]] = field(default_factory=list)

    async def file(self, url: str, *, most: int, named_by: str = "") -> bytes:
        self.asked.append((url, most, named_by))
        if url not in self.files:
            raise NotFound(url)
        return self.files[url]

    async def tree(self, url: str, ref: str, folder: str) -> Checkout:
        self.asked.append((url, ref, folder))
        return Checkout(self.commit, self.trees[url])


def packed(skill: Bundle | None = None) -> bytes:
    return bundle_to_zip(skill or bundle(), root=False)


def index(url: str, *versions: str, digest: str = "", name: str = "pay") -> bytes:
    entry = {"url": url, "sha256": digest or sha256(packed())}
    skills = {name: {"versions": dict.fromkeys(versions, entry)}}
    return json.dumps({"skills": skills}).encode()


@pytest.fixture
def publishing() -> Publishing:
    world = Publishing(
        files={ZIP: packed(), ONE: index("pay.skill", "1.0.0", "1.1.0"), OTHER: index(ZIP)}
    )
    world.files[OTHER] = index(ZIP, "1.0.0", name="else")
    world.trees["https://git.example/x.git"] = bundle().files
    return world


async def fetched(
    publishing: Publishing, place: Place, wanted: Wanted = ANYTHING, *indexes: str
) -> Offer:
    return await Fetching(publishing, indexes or (ONE, OTHER)).fetch(place, wanted)


def code_of(error: SkillWorkerError) -> str:
    return str(getattr(error.message, "code", ""))


async def test_a_folder_is_offered_with_what_is_to_be_said_about_it(
    publishing: Publishing, tmp_path: Path
) -> None:
    folder = tmp_path / "pay"
    folder.mkdir()
    (folder / SKILL_MD).write_bytes(document())
    offer = await fetched(publishing, PathPlace(folder))
    assert (offer.bundle.name, offer.published.name) == ("pay", "pay")
    assert offer.published.source == str(folder)
    assert offer.published.digest == bundle_hash(bundle())
    assert (offer.published.version, offer.published.sha256) == ("1.2.0", "")
    assert not [one for one in offer.problems if one.severity == "error"]
    (folder / SKILL_MD).write_bytes(b"---\nname: pay\n---\n\nx\n")
    with pytest.raises(NoSkill):
        await fetched(publishing, PathPlace(folder))


async def test_a_file_on_this_machine_is_read_or_it_is_said_why_not(
    publishing: Publishing, tmp_path: Path
) -> None:
    path = tmp_path / "pay.skill"
    with pytest.raises(NotFound) as missing:
        await fetched(publishing, PathPlace(path))
    assert code_of(missing.value) == "cli.no_file"
    path.write_bytes(packed())
    offer = await fetched(publishing, PathPlace(path))
    assert (offer.bundle, offer.published.sha256) == (bundle(), sha256(packed()))
    path.write_bytes(packed(Bundle(name="pay", files={SKILL_MD: SkillFile(data=b"no head")})))
    with pytest.raises(NoSkill) as refused:
        await fetched(publishing, PathPlace(path))
    assert refused.value.message
    path.write_bytes(b"PK no zip")
    with pytest.raises(InvalidInput):
        await fetched(publishing, PathPlace(path))


async def test_an_address_is_fetched_once_and_pinned_by_its_digest(
    publishing: Publishing,
) -> None:
    offer = await fetched(publishing, UrlPlace(ZIP))
    assert publishing.asked == [(ZIP, MOST, "")]
    assert offer.published.source == ZIP
    assert offer.published.sha256 == sha256(packed())
    assert (offer.published.ref, offer.published.index) == ("", "")
    pinned = UrlPlace(ZIP, sha256(packed()))
    assert (await fetched(publishing, pinned)).published.source == pinned.source
    with pytest.raises(InvalidInput) as lies:
        await fetched(publishing, UrlPlace(ZIP, "0" * 64))
    assert code_of(lies.value) == "place.other_digest"
    assert sha256(packed()) in lies.value.message
    assert lies.value.hint


async def test_a_source_with_a_secret_is_asked_for_nothing(publishing: Publishing) -> None:
    place = UrlPlace("https://kim:ghp_abcdefghijklmnopqrstuvwxyz0123456789@one.example/pay.skill")
    with pytest.raises(InvalidInput) as raised:
        await fetched(publishing, place)
    assert code_of(raised.value) == "place.secret"
    assert publishing.asked == []


GIT = "https://git.example/x.git"


@pytest.mark.parametrize(
    ("place", "commit", "asked"),
    [
        (GitPlace(GIT), "", ""),
        (GitPlace(GIT, "main"), "", "main"),
        (GitPlace(GIT, "main", "skills/pay"), COMMIT, COMMIT),
        (GitPlace(GIT, COMMIT), "", COMMIT),
        # A name of forty letters that is no commit may be any branch.
        (GitPlace(GIT, "x" * 40), "", "x" * 40),
        (GitPlace(GIT, MOVED[:12]), "", MOVED[:12]),
    ],
)
async def test_a_repository_is_read_at_a_ref_or_the_commit_that_was_pinned(
    publishing: Publishing, place: GitPlace, commit: str, asked: str
) -> None:
    offer = await fetched(publishing, place, Wanted(commit=commit))
    assert publishing.asked == [(GIT, asked, place.folder)]
    found = offer.published
    assert (found.commit, found.ref, found.source) == (COMMIT, place.ref, place.source)
    assert (offer.bundle.name, found.version) == ("pay", "1.2.0")


@pytest.mark.parametrize(
    ("place", "commit"),
    [(GitPlace(GIT, MOVED), ""), (GitPlace(GIT, "main"), MOVED), (GitPlace(GIT, "e" * 64), "")],
)
async def test_another_commit_than_the_one_asked_for_is_refused(
    publishing: Publishing, place: GitPlace, commit: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        await fetched(publishing, place, Wanted(commit=commit))
    assert code_of(raised.value) == "place.other_digest"
    assert COMMIT in raised.value.message


async def test_a_folder_of_a_repository_is_named_as_its_skill(publishing: Publishing) -> None:
    same = await fetched(publishing, GitPlace(GIT, folder="skills/pay"))
    assert same.problems == []
    other = await fetched(publishing, GitPlace(GIT, folder="skills/other"))
    assert other.bundle.name == "pay"
    assert any("'other'" in problem.message for problem in other.problems)
    publishing.trees[GIT] = bundle("bill").files
    assert (await fetched(publishing, GitPlace(GIT))).bundle.name == "bill"
    publishing.trees[GIT] = {"README.md": SkillFile(data=b"x")}
    with pytest.raises(NoSkill):
        await fetched(publishing, GitPlace(GIT))


async def test_a_name_is_looked_up_and_its_file_fetched_as_the_index_says(
    publishing: Publishing,
) -> None:
    offer = await fetched(publishing, NamePlace("pay"))
    assert publishing.asked == [
        (ONE, MAX_INDEX_BYTES, ""),
        (OTHER, MAX_INDEX_BYTES, ""),
        (ZIP, MOST, ONE),
    ]
    found = offer.published
    assert (found.index, found.url, found.version) == (ONE, ZIP, "1.1.0")
    assert (found.source, found.sha256) == ("pay", sha256(packed()))
    older = await fetched(publishing, NamePlace("pay", "1.0.0"))
    assert (older.published.version, older.published.source) == ("1.0.0", "pay@1.0.0")
    pinned = await fetched(publishing, NamePlace("pay"), Wanted(version="1.0.0"))
    assert pinned.published.version == "1.0.0"
    publishing.asked.clear()
    await fetched(publishing, NamePlace("pay"), Wanted(index=ONE))
    assert [asked[0] for asked in publishing.asked] == [ONE, ZIP]


async def test_a_name_is_of_one_index_or_it_is_said_of_which(publishing: Publishing) -> None:
    with pytest.raises(NotFound) as lacks:
        await fetched(publishing, NamePlace("ship"))
    assert code_of(lacks.value) == "index.lacks"
    assert f"{ONE}, {OTHER}" in lacks.value.message
    publishing.files[OTHER] = index(ZIP, "1.0.0")
    with pytest.raises(InvalidInput) as several:
        await fetched(publishing, NamePlace("pay"))
    assert code_of(several.value) == "index.several"
    assert f"{ONE}, {OTHER}" in several.value.message
    chosen = await fetched(publishing, NamePlace("pay"), Wanted(index=OTHER))
    assert chosen.published.index == OTHER
    with pytest.raises(InvalidInput) as none:
        await Fetching(publishing).fetch(NamePlace("pay"))
    assert code_of(none.value) == "index.none"


async def test_an_index_that_names_another_file_or_skill_is_not_believed(
    publishing: Publishing,
) -> None:
    publishing.files[ONE] = index("pay.skill", "1.0.0", digest="0" * 64)
    with pytest.raises(InvalidInput) as lies:
        await fetched(publishing, NamePlace("pay"))
    assert code_of(lies.value) == "place.other_digest"
    publishing.files[ONE] = index("pay.skill", "1.0.0", name="bill")
    with pytest.raises(InvalidInput) as other:
        await fetched(publishing, NamePlace("bill"))
    assert code_of(other.value) == "index.other_name"
    publishing.files[ONE] = b"[]"
    with pytest.raises(InvalidInput) as wrong:
        await fetched(publishing, NamePlace("pay"))
    assert code_of(wrong.value) == "index.wrong"


@pytest.mark.parametrize(
    ("wanted", "is_it"),
    [
        (Wanted(digest=bundle_hash(bundle())), True),
        (Wanted(digest="0" * 64), False),
        # A pin is of the content, or of the file it came in.
        (Wanted(pin=bundle_hash(bundle())), True),
        (Wanted(pin=sha256(packed())), True),
        (Wanted(pin="0" * 64), False),
    ],
)
async def test_what_was_pinned_is_what_comes(
    publishing: Publishing, wanted: Wanted, is_it: bool
) -> None:
    if is_it:
        assert (await fetched(publishing, UrlPlace(ZIP), wanted)).bundle == bundle()
        return
    with pytest.raises(InvalidInput) as raised:
        await fetched(publishing, UrlPlace(ZIP), wanted)
    assert code_of(raised.value) == "place.other_digest"
    found = sha256(packed()) if wanted.pin else bundle_hash(bundle())
    assert found in raised.value.message


@pytest.mark.parametrize(
    ("stated", "version"), [("1.2.0", "1.2.0"), ("", ""), ("[1, 2]", ""), ("v" * 90, "v" * 80)]
)
async def test_a_version_is_what_a_skill_says_of_itself(
    publishing: Publishing, stated: str, version: str
) -> None:
    files = {SKILL_MD: SkillFile(data=document(version=stated))}
    publishing.trees[GIT] = files
    assert (await fetched(publishing, GitPlace(GIT))).published.version == version
