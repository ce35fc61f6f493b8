"""Contract of every skill store; a test class supplies the fixture `store`, which is empty."""

from __future__ import annotations

import asyncio

import pytest

from core.domain.errors import InvalidInput, Stale
from core.domain.models import SKILL_MD, Bundle, SkillFile, SkillSummary
from core.domain.ports import SkillStore
from core.skills.bundle import bundle_hash

T = "acme"
DOCUMENT = (
    "---\nname: refund\ndescription: 부분 환불을 맞춥니다\n---\n\n# refund\n\n주문을 찾습니다.\n"
)


def refund_skill(name: str = "refund") -> Bundle:
    """Return a skill with text, a script, a binary file and a Korean file name."""
    return Bundle(
        name=name,
        files={
            SKILL_MD: SkillFile(data=DOCUMENT.encode()),
            "scripts/sum.py": SkillFile(data=b"#!/usr/bin/env python3\n", executable=True),
            "assets/logo.png": SkillFile(data=b"\x89PNG\r\n\x00\xff\xfe"),
            "references/환불 규정.md": SkillFile(data="# 규정\r\n".encode()),
        },
    )


class SkillStoreContract:
    """Inherit in a test class that defines the fixture `store`."""

    async def test_a_skill_that_is_not_there_reads_as_none(self, store: SkillStore) -> None:
        assert await store.read("refund", T) is None

    async def test_an_uploaded_skill_reads_back_byte_for_byte(self, store: SkillStore) -> None:
        await store.upload(refund_skill(), T)
        assert await store.read("refund", T) == refund_skill()

    async def test_an_upload_never_overwrites(self, store: SkillStore) -> None:
        await store.upload(refund_skill(), T)
        other = Bundle(name="refund", files={SKILL_MD: SkillFile(data=b"---\nname: x\n---\n")})
        with pytest.raises(Stale):
            await store.upload(other, T)
        assert await store.read("refund", T) == refund_skill()

    async def test_tenants_do_not_see_each_other(self, store: SkillStore) -> None:
        await store.upload(refund_skill(), T)
        for other in ("", "default", "ACME", "acme/../beta", "에이크미"):
            assert await store.read("refund", other) is None
            assert await store.list(other) == ()
            await store.upload(refund_skill(), other)
            await store.delete("refund", other, base_hash=bundle_hash(refund_skill()))
        assert await store.read("refund", T) == refund_skill()

    async def test_put_file_gives_the_hash_of_what_is_stored(self, store: SkillStore) -> None:
        await store.upload(refund_skill(), T)
        base = bundle_hash(refund_skill())
        binary = SkillFile(data=b"\x00\xff", executable=True)
        base = await store.put_file("refund", "scripts/새 도구", binary, T, base_hash=base)
        text = SkillFile(data="바뀐 글\r\n".encode())
        base = await store.put_file("refund", SKILL_MD, text, T, base_hash=base)
        after = await store.read("refund", T)
        assert after is not None
        wanted = {**refund_skill().files, "scripts/새 도구": binary, SKILL_MD: text}
        assert after.files == wanted
        assert base == bundle_hash(after)

    async def test_put_file_sets_and_clears_the_executable_bit(self, store: SkillStore) -> None:
        await store.upload(refund_skill(), T)
        plain = SkillFile(data=b"#!/usr/bin/env python3\n", executable=False)
        base = bundle_hash(refund_skill())
        await store.put_file("refund", "scripts/sum.py", plain, T, base_hash=base)
        after = await store.read("refund", T)
        assert after is not None
        assert after.files["scripts/sum.py"] == plain

    async def test_writes_on_another_base_are_stale_and_change_nothing(
        self, store: SkillStore
    ) -> None:
        await store.upload(refund_skill(), T)
        stale, file = "0" * 64, SkillFile(data=b"lost")
        with pytest.raises(Stale):
            await store.put_file("refund", SKILL_MD, file, T, base_hash=stale)
        with pytest.raises(Stale):
            await store.delete_file("refund", "assets/logo.png", T, base_hash=stale)
        with pytest.raises(Stale):
            await store.delete("refund", T, base_hash=stale)
        assert await store.read("refund", T) == refund_skill()

    async def test_a_write_to_a_skill_that_is_gone_is_stale(self, store: SkillStore) -> None:
        base, file = bundle_hash(refund_skill()), SkillFile(data=b"x")
        with pytest.raises(Stale):
            await store.put_file("refund", "a.txt", file, T, base_hash=base)
        with pytest.raises(Stale):
            await store.delete_file("refund", "a.txt", T, base_hash=base)

    async def test_of_two_writers_on_one_base_one_is_stale(self, store: SkillStore) -> None:
        await store.upload(refund_skill(), T)
        base = bundle_hash(refund_skill())
        files = [SkillFile(data=b"one"), SkillFile(data=b"two")]
        results = await asyncio.gather(
            *(store.put_file("refund", "a.txt", file, T, base_hash=base) for file in files),
            return_exceptions=True,
        )
        assert sorted(type(result).__name__ for result in results) == ["Stale", "str"]

    async def test_delete_file_takes_one_file_away(self, store: SkillStore) -> None:
        await store.upload(refund_skill(), T)
        base = bundle_hash(refund_skill())
        after = await store.delete_file("refund", "assets/logo.png", T, base_hash=base)
        bundle = await store.read("refund", T)
        assert bundle is not None
        assert set(bundle.files) == set(refund_skill().files) - {"assets/logo.png"}
        assert after == bundle_hash(bundle)
        assert after == await store.delete_file("refund", "gone.txt", T, base_hash=after)

    async def test_skill_md_is_not_deleted_as_a_file(self, store: SkillStore) -> None:
        await store.upload(refund_skill(), T)
        base = bundle_hash(refund_skill())
        with pytest.raises(InvalidInput):
            await store.delete_file("refund", SKILL_MD, T, base_hash=base)

    @pytest.mark.parametrize(
        "path", ["../up", "/etc/x", "a/../../x", "a\\b", "skill.md", "a/SKILL.md", "a\0b"]
    )
    async def test_unsafe_paths_are_refused(self, store: SkillStore, path: str) -> None:
        await store.upload(refund_skill(), T)
        base, file = bundle_hash(refund_skill()), SkillFile(data=b"x")
        with pytest.raises(InvalidInput):
            await store.put_file("refund", path, file, T, base_hash=base)
        bad = Bundle(name="other", files={**refund_skill("other").files, path: file})
        with pytest.raises(InvalidInput):
            await store.upload(bad, T)
        assert [skill.name for skill in await store.list(T)] == ["refund"]

    async def test_a_deleted_skill_is_gone_and_deleting_again_is_fine(
        self, store: SkillStore
    ) -> None:
        await store.upload(refund_skill(), T)
        base = bundle_hash(refund_skill())
        await store.delete("refund", T, base_hash=base)
        assert await store.read("refund", T) is None
        await store.delete("refund", T, base_hash=base)
        await store.upload(refund_skill(), T)

    async def test_skills_are_listed_by_name(self, store: SkillStore) -> None:
        assert await store.list(T) == ()
        await store.upload(refund_skill("refund"), T)
        await store.upload(refund_skill("audit"), T)
        assert await store.list(T) == tuple(
            SkillSummary(name=name, description="부분 환불을 맞춥니다", file_count=4)
            for name in ("audit", "refund")
        )
