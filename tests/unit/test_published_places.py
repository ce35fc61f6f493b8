"""Where a skill is installed from, as people write it; index files and lock files."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.domain.errors import InvalidInput, NotFound
from core.domain.messages import Message
from core.domain.models.installed import InstalledSkill, Published
from core.skills.published.index_file import Found, look_up, read_index
from core.skills.published.lock_file import read_lock, write_lock
from core.skills.published.places import (
    GitPlace,
    NamePlace,
    PathPlace,
    Place,
    UrlPlace,
    read_place,
)
from core.skills.published.wording import install_reason, place_of, upgrade_reason

HERE = Path("/work/here")
HEX = "0123456789abcdef" * 4

PLACES: dict[str, Place] = {
    "./pay": PathPlace(HERE / "pay"),
    "../pay": PathPlace(HERE.parent / "pay"),
    "/x/pay": PathPlace(Path("/x/pay")),
    "pay.skill": PathPlace(HERE / "pay.skill"),
    "pay": NamePlace("pay"),
    "pay@1.2.0-rc.1": NamePlace("pay", "1.2.0-rc.1"),
    "https://h/pay.skill": UrlPlace("https://h/pay.skill"),
    f"https://h/pay.skill#sha256={HEX.upper()}": UrlPlace("https://h/pay.skill", HEX),
    "http://127.0.0.1:8/pay.skill": UrlPlace("http://127.0.0.1:8/pay.skill"),
    "https://h/x.git": GitPlace("https://h/x.git"),
    "https://h/x.git@v1#subdirectory=a/b": GitPlace("https://h/x.git", "v1", "a/b"),
    "git+https://h/@team/x": GitPlace("https://h/@team/x"),
    "https://h/@team/x.git@v1": GitPlace("https://h/@team/x.git", "v1"),
    "git+https://h/x#subdirectory=c+%2B/d%20e": GitPlace("https://h/x", "", "c++/d e"),
    "git+https://h/x@feature/y": GitPlace("https://h/x", "feature/y"),
    "git+ssh://git@h/x.git@v1": GitPlace("ssh://git@h/x.git", "v1"),
    "git+file:///work/here/r": GitPlace("file:///work/here/r"),
    "git+file:///work/here": GitPlace("file:///work/here"),
    "git+file:///work/here/a%20b@v1": GitPlace("file:///work/here/a b", "v1"),
    "pay/x": PathPlace(HERE / "pay/x"),
    ".pay": PathPlace(HERE / ".pay"),
    "pay.zip": PathPlace(HERE / "pay.zip"),
    f"/{'a' * 1999}": PathPlace(Path("/" + "a" * 1999)),
    "pay@1": NamePlace("pay", "1"),
    "https://h/x.git/": UrlPlace("https://h/x.git/"),
    "https://h/x@v1": UrlPlace("https://h/x@v1"),
    "http://localhost:8/pay.skill": UrlPlace("http://localhost:8/pay.skill"),
    "http://[::1]:8/x.git": GitPlace("http://[::1]:8/x.git"),
    f"https://h/pay.skill#&sha256={HEX}&": UrlPlace("https://h/pay.skill", HEX),
    "https://h/pay.skill#sha256=": UrlPlace("https://h/pay.skill"),
    "git+https://h/x#subdirectory=/a/b/": GitPlace("https://h/x", "", "a/b"),
    f"git+https://h/x@{'v' * 255}": GitPlace("https://h/x", "v" * 255),
    "git+ssh://h/x": GitPlace("ssh://h/x"),
}
REFUSED = {
    "": "place.unreadable",
    "a\u200bb": "place.unreadable",
    "https://h/\x07.skill": "place.unreadable",
    "--upload-pack=x": "place.option",
    "ext::sh -c x": "place.runs",
    "git+ext::sh -c x": "place.runs",
    "git+https::ext::sh": "place.runs",
    "git@h:x.git": "place.like_scp",
    "file:///etc/passwd": "place.file",
    "git+file:///etc": "place.outside",
    "git+file:///work/here/../r": "place.outside",
    "git+file://h/work/here": "place.outside",
    "http://h/pay.skill": "place.plain_http",
    "git+http://h/x": "place.plain_http",
    "git+git://h/x": "place.scheme",
    "ssh://h/x": "place.scheme",
    "https://user:word@h/pay.skill": "place.password",
    "git+ssh://user:word@h/x": "place.password",
    "git+ssh://-oProxyCommand=x/x": "place.no_host",
    "git+ssh://-u@h/x": "place.no_host",
    "git+https://h/x@--upload-pack=x": "place.no_ref",
    "git+https://h/x@a:b": "place.no_ref",
    "git+https://h/x@+a": "place.no_ref",
    "git+https://h/x@": "place.no_ref",
    "git+https://h/x#subdirectory=../y": "place.no_folder",
    "git+https://h/x#egg=y": "place.fragment",
    "https://h/pay.skill#sha256=12": "place.no_pin",
    "https://h:99999/pay.skill": "place.no_address",
    "Not A Name": "place.no_name",
    "pay@latest": "place.no_version",
    "pay@": "place.no_version",
    " pay": "place.unreadable",
    "pay ": "place.unreadable",
    f"/{'a' * 2000}": "place.unreadable",
    "https:///pay.skill": "place.no_host",
    "https://-h/pay.skill": "place.no_host",
    "ftp://h/pay.skill": "place.scheme",
    "https://user@h/pay.skill": "place.password",
    "https://:word@h/pay.skill": "place.password",
    "http://user:word@localhost/x.git": "place.password",
    "git+ssh:///x": "place.no_host",
    "git+file:///work/here/%2e%2e/r": "place.outside",
    "https://h/pay.skill#sha256=0&egg=1": "place.fragment",
    f"git+https://h/x@{'v' * 256}": "place.no_ref",
    **{
        f"git+https://h/x@{ref}": "place.no_ref"
        for ref in ("-a", ".a", "/a", "a..b", "a//b", "a b", "a~b", "a^b", "a*b")
    },
    **{f"git+https://h/x@{ref}": "place.no_ref" for ref in ("a[b", "a\\b", "a.", "a/", "a.lock")},
}


@pytest.mark.parametrize("text", PLACES)
def test_a_place_is_read_and_written_back(text: str) -> None:
    place = read_place(text, HERE)
    assert place == PLACES[text]
    assert read_place(place.source, HERE) == place


@pytest.mark.parametrize("text", REFUSED)
def test_what_would_run_or_leak_something_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read_place(text, HERE)
    assert isinstance(error.value.message, Message)
    assert error.value.message.code == REFUSED[text]


def index(**skills: object) -> bytes:
    return json.dumps({"skills": skills}).encode()


def versions(*names: str) -> dict[str, object]:
    return {"versions": {name: {"url": f"pay-{name}.skill", "sha256": HEX} for name in names}}


def test_the_newest_release_is_found_beside_the_index() -> None:
    read = read_index(index(pay=versions("1.9", "1.10.0", "1.10.1-rc.2", "2.0-a")), "https://h/i/x")
    found = look_up(read, NamePlace("pay"), "https://h/i/x")
    assert found is not None
    assert (found.version, found.url) == ("1.10.0", "https://h/i/pay-1.10.0.skill")
    assert look_up(read, NamePlace("other"), "https://h/i/x") is None
    with pytest.raises(NotFound) as error:
        look_up(read, NamePlace("pay", "3"), "https://h/i/x")
    assert error.value.hint == "it has 1.9, 1.10.0, 1.10.1-rc.2, 2.0-a"


def test_versions_are_in_the_order_of_semantic_versions() -> None:
    ordered = [
        "1-a",
        "1-a.1",
        "1-a.2",
        "1-a.10",
        "1-a.b",
        "1-b",
        "1",
        "1.0.1",
        "1.2",
        "1.10",
        "2-1",
    ]
    read = read_index(index(pay=versions(*ordered[::-1])), "https://h/")
    with pytest.raises(NotFound) as error:
        look_up(read, NamePlace("pay", "9"), "https://h/")
    assert error.value.hint == f"it has {', '.join(ordered)}"
    assert "9" in error.value.message
    newest = look_up(read, NamePlace("pay"), "https://h/")
    assert newest is not None
    assert newest.version == "1.10"
    # what is behind the plus is no pre-release, and of two alike the first is taken
    for given, chosen in (
        (["1.0", "1.1+b-2"], "1.1+b-2"),
        (["1.0", "1"], "1.0"),
        (["1", "1.0"], "1"),
    ):
        found = look_up(
            read_index(index(pay=versions(*given)), "https://h/"), NamePlace("pay"), "https://h/"
        )
        assert found is not None
        assert found.version == chosen


def test_a_skill_without_versions_says_so() -> None:
    read = read_index(index(pay=versions()), "https://h/")
    with pytest.raises(NotFound) as error:
        look_up(read, NamePlace("pay"), "https://h/")
    assert (error.value.message.count("–"), error.value.hint) == (1, "it has –")


def test_an_index_says_all_that_a_lock_keeps() -> None:
    read = read_index(index(pay=versions("1.0")), "https://h/i/x")
    assert look_up(read, NamePlace("pay", "1.0"), "https://h/i/x") == Found(
        index="https://h/i/x", version="1.0", url="https://h/i/pay-1.0.skill", sha256=HEX
    )


def test_only_pre_releases_are_no_release() -> None:
    read = read_index(index(pay=versions("1.0-a")), "https://h/")
    with pytest.raises(NotFound):
        look_up(read, NamePlace("pay"), "https://h/")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"[" * 100_000,
        b'{"skills": {}, "skills": {}}',
        index(pay={"versions": {"1": {"url": "x"}}}),
        index(pay={"versions": {"1": {"url": "x", "sha256": "1" * 63}}}),
        index(pay={"versions": {"new": {"url": "x", "sha256": HEX}}}),
        index(pay={"versions": {"9" * 5_000: {"url": "x", "sha256": HEX}}}),
        b'{"format": 2, "skills": {}}',
    ],
)
def test_a_broken_index_is_named(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="https://h/i"):
        read_index(data, "https://h/i")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://h/x", "https://u:p@h/x"])
def test_an_index_leads_only_where_a_person_may(url: str) -> None:
    read = read_index(index(pay={"versions": {"1": {"url": url, "sha256": HEX}}}), "https://h/")
    with pytest.raises(InvalidInput):
        look_up(read, NamePlace("pay"), "https://h/")


def installed(name: str, source: str, **more: str) -> InstalledSkill:
    published = Published(source=source, name=name, digest=HEX, **more)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return InstalledSkill(
        tenant_id="t", name=name, published=published, change_id="c", is_held=False, at=at
    )


def test_a_lock_is_the_same_for_the_same_skills_and_read_back() -> None:
    pay = installed("pay", "/work/here/pay.skill", version="1.0")
    ask = installed("ask", "git+https://h/x@v1", commit="a" * 40)
    far = installed("far", "/elsewhere/far.skill")
    text = write_lock([pay, ask, far], HERE)
    assert text == write_lock([far, pay, ask], HERE)
    found = read_lock(text.encode(), Path("lock.json")).skills
    assert [one.name for one in found] == ["ask", "far", "pay"]
    assert found[0].commit == "a" * 40
    assert [one.source for one in found[1:]] == ["/elsewhere/far.skill", "./pay.skill"]


def test_a_lock_says_all_that_is_not_usual() -> None:
    one = installed("pay", "pay", version="1.0", index="https://h/i", url="https://h/p")
    text = write_lock([one], HERE)
    assert json.loads(text) == {
        "format": 1,
        "skills": [
            {
                "name": "pay",
                "source": "pay",
                "digest": HEX,
                "version": "1.0",
                "index": "https://h/i",
            }
        ],
    }
    assert text.endswith("}\n")
    korean = write_lock([installed("pay", "/work/here/환불.skill")], HERE)
    assert '"./환불.skill"' in korean
    beside = write_lock([installed("pay", "/work/herein/pay.skill")], HERE)
    assert '"/work/herein/pay.skill"' in beside


def test_a_reason_says_where_a_skill_is_from_and_what_was_there_before() -> None:
    def published(**more: str) -> Published:
        return installed("pay", "git+https://h/x", **more).published

    plain, commit = published(), published(commit="a" * 40)
    indexed = published(version="1.2", index="https://h/i", url="https://h/p", commit="b" * 40)
    assert place_of(plain) == "git+https://h/x"
    assert "a" * 40 in place_of(commit)
    assert all(part in place_of(indexed) for part in ("1.2", "https://h/i", "https://h/p"))
    assert "b" * 40 not in place_of(indexed)
    assert all(part in install_reason(commit) for part in (place_of(commit), HEX))
    before = [(indexed, "1.2"), (commit, "a" * 12), (plain, f"sha256:{HEX[:12]}")]
    for old, shown in before:
        reason = upgrade_reason(commit, old)
        assert reason.parameters["before"] == shown
        assert all(part in reason for part in (place_of(commit), HEX, shown))


@pytest.mark.parametrize(
    "data",
    [
        b"x",
        b"\xff",
        b'{"skills": [{"name": "a"}]}',
        b'{"skills": [{"name": "a", "source": "./a", "digest": "12"}]}',
        json.dumps({"skills": [{"name": "a", "source": "./a", "digest": HEX}] * 2}).encode(),
    ],
)
def test_a_broken_lock_is_named(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"lock\.json"):
        read_lock(data, Path("lock.json"))
