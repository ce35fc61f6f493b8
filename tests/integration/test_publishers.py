"""What others publish, fetched from a real server and real repositories, and the hostile cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from core.adapters.publishers.web import MOST_REDIRECTS, WebPublishers
from core.domain.errors import DependencyDown, InvalidInput, NotFound, SkillWorkerError
from core.domain.messages import Message
from tests.support.publisher import Publisher, commit, git, publishing, skill_text

WEB = WebPublishers()


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[Publisher]:
    with publishing(tmp_path / "repositories") as found:
        yield found


def code_of(error: pytest.ExceptionInfo[SkillWorkerError]) -> str:
    assert isinstance(error.value.message, Message)
    return error.value.message.code


async def test_a_file_comes_as_it_is_also_after_a_redirect(publisher: Publisher) -> None:
    publisher.files["/a.skill"] = bytes(range(256))
    publisher.moved["/old"] = "/a.skill"
    for path in ("/a.skill", "/old"):
        assert await WEB.file(publisher.url + path, most=256) == bytes(range(256))


async def test_a_file_that_is_too_large_ends_where_the_bound_is(publisher: Publisher) -> None:
    publisher.files["/a.skill"] = bytes(257)
    with pytest.raises(InvalidInput) as error:
        await WEB.file(publisher.url + "/a.skill", most=256)
    assert code_of(error) == "publisher.too_large"


async def test_what_is_not_there_is_not_found(publisher: Publisher) -> None:
    with pytest.raises(NotFound):
        await WEB.file(publisher.url + "/none", most=9)


async def test_redirects_end(publisher: Publisher) -> None:
    publisher.moved["/round"] = "/round"
    with pytest.raises(InvalidInput) as error:
        await WEB.file(publisher.url + "/round", most=9)
    assert code_of(error) == "publisher.redirects"
    assert len(publisher.asked) == MOST_REDIRECTS + 1


async def test_what_is_compressed_on_the_way_is_not_unpacked(publisher: Publisher) -> None:
    publisher.files["/a.skill"] = b"x"
    publisher.headers["Content-Encoding"] = "gzip"
    with pytest.raises(InvalidInput) as error:
        await WEB.file(publisher.url + "/a.skill", most=9)
    assert code_of(error) == "publisher.encoded"


@pytest.mark.parametrize("way", ["file:///etc/passwd", "http://10.0.0.1/x", "ftp://h/x"])
async def test_a_redirect_leads_only_where_a_person_may(publisher: Publisher, way: str) -> None:
    publisher.moved["/a"] = way
    with pytest.raises(InvalidInput):
        await WEB.file(publisher.url + "/a", most=9)


async def test_a_public_index_leads_to_no_private_address(publisher: Publisher) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34"] if host == "index.example" else ["127.0.0.1"]

    publisher.files["/a.skill"] = b"x"
    web, file = WebPublishers(resolve), publisher.url + "/a.skill"
    with pytest.raises(InvalidInput) as error:
        await web.file(file, most=9, named_by="https://index.example/i.json")
    assert code_of(error) == "publisher.private"
    assert publisher.asked == []
    assert await web.file(file, most=9, named_by="https://inside.example/i.json") == b"x"
    assert await web.file(file, most=9) == b"x"


async def test_nobody_there_is_a_dependency_that_is_down(publisher: Publisher) -> None:
    with publishing(publisher.root) as gone:
        url = gone.url
    with pytest.raises(DependencyDown):
        await WEB.file(url + "/a.skill", most=9)


async def test_a_branch_a_tag_and_a_commit_are_read_from_git(publisher: Publisher) -> None:
    there = publisher.root / "skills"
    first = commit(
        there, {"pay/SKILL.md": skill_text("pay", "one"), "pay/scripts/x.sh": "#!/bin/sh\n"}
    )
    (there / "pay/scripts/x.sh").chmod(0o755)
    second = commit(there, {"pay/references/a.md": "# A\n"})
    git(there, "tag", "--annotate", "v1", "--message", "x", first)
    git(there, "branch", "feature/y", second)
    url = f"{publisher.url}/git/skills/.git"
    for ref, expected in [("", second), ("v1", first), ("feature/y", second), (first, first)]:
        found = await WEB.tree(url, ref, "pay")
        assert found.commit == expected
        assert found.files["SKILL.md"].data.decode() == skill_text("pay", "one")
        assert found.files["scripts/x.sh"].executable is (expected == second)
        assert ("references/a.md" in found.files) is (expected == second)


async def test_a_ref_or_folder_that_is_not_there_is_not_found(publisher: Publisher) -> None:
    commit(publisher.root / "skills", {"SKILL.md": skill_text("pay")})
    url = f"{publisher.url}/git/skills/.git"
    for ref, folder in (("v9", ""), ("", "none"), ("", "SKILL.md")):
        with pytest.raises(NotFound):
            await WEB.tree(url, ref, folder)
    with pytest.raises(DependencyDown):
        await WEB.tree(f"{publisher.url}/git/none", "", "")


async def test_a_repository_of_several_skills_names_them(publisher: Publisher) -> None:
    commit(publisher.root / "skills", {f"{n}/SKILL.md": skill_text(n) for n in ("a", "b")})
    with pytest.raises(InvalidInput) as error:
        await WEB.tree(f"{publisher.url}/git/skills/.git", "", "")
    assert error.value.hint.endswith("a, b")


async def test_a_link_a_submodule_and_a_pointer_are_refused(publisher: Publisher) -> None:
    there = publisher.root / "skills"
    commit(there, {"link/SKILL.md": skill_text("link"), "inner/SKILL.md": skill_text("inner")})
    (there / "link/etc").symlink_to("/etc")
    (there / "inner/.gitmodules").write_text("")
    head = git(there, "rev-parse", "HEAD")
    git(there, "update-index", "--add", "--cacheinfo", f"160000,{head},inner/more")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    git(there, "add", "link")
    git(there, "commit", "--quiet", "--message", "x")
    (there / "inner").rename(there / "gone")
    git(there, "checkout", "--quiet", "--force", "HEAD")
    commit(there, {"large/SKILL.md": skill_text("large"), "large/assets/a.bin": pointer})
    expected = {"link": "git.no_file", "inner": "git.no_file", "large": "git.large_file"}
    for folder, code in expected.items():
        with pytest.raises(InvalidInput) as error:
            await WEB.tree(f"{publisher.url}/git/skills/.git", "", folder)
        assert code_of(error) == code


async def test_nothing_in_a_repository_is_run(publisher: Publisher, tmp_path: Path) -> None:
    there = publisher.root / "skills"
    commit(there, {"SKILL.md": skill_text("pay"), ".gitattributes": "* filter=evil\n"})
    ran = tmp_path / "ran"
    for name in ("post-checkout", "post-merge", "reference-transaction"):
        hook = there / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
    git(there, "config", "filter.evil.smudge", f"touch {ran}")
    git(there, "config", "uploadpack.packObjectsHook", f"touch {ran}")
    for url in (f"{publisher.url}/git/skills/.git", f"file://{there}"):
        found = await WEB.tree(url, "", "")
        assert set(found.files) == {"SKILL.md", ".gitattributes"}
    assert not ran.exists()


async def test_git_that_redirects_or_is_no_git_is_told(publisher: Publisher) -> None:
    publisher.moved["/there/info/refs?service=git-upload-pack"] = "/git/skills/.git"
    with pytest.raises(DependencyDown) as error:
        await WEB.tree(f"{publisher.url}/there", "", "")
    assert code_of(error) == "git.failed"


@pytest.mark.parametrize("url", ["ext::sh -c touch% ", "ext://sh -c touch% ", "https::ext::sh -c "])
async def test_no_other_protocol_is_spoken(tmp_path: Path, url: str) -> None:
    ran = tmp_path / "ran"
    with pytest.raises(InvalidInput):
        await WEB.tree(f"{url}{ran}", "", "")
    assert not ran.exists()
