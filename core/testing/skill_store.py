"""The `SkillStore` port in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain.errors import BundleInvalid, InvalidInput, Stale
from core.domain.models import SKILL_MD, Bundle, SkillFile, SkillSummary
from core.skills.bundle import bundle_hash, sound
from core.skills.document.frontmatter import read_frontmatter


class MemorySkillStore:
    """Skills in a dict; tests may fill and inspect `skills`."""

    def __init__(self) -> None:
        self.skills: dict[tuple[str, str], Bundle] = {}

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        return self.skills.get((tenant_id, name))

    async def upload(self, bundle: Bundle, tenant_id: str) -> None:
        if (tenant_id, bundle.name) in self.skills:
            raise Stale(f"skill {bundle.name!r} exists already")
        self._store(bundle, tenant_id)

    async def put_file(
        self, name: str, path: str, file: SkillFile, tenant_id: str, *, base_hash: str
    ) -> str:
        before = self._current(name, tenant_id, base_hash)
        return self._store(_with_files(before, {**before.files, path: file}), tenant_id)

    async def delete_file(self, name: str, path: str, tenant_id: str, *, base_hash: str) -> str:
        if path == SKILL_MD:
            raise InvalidInput(f"{SKILL_MD} cannot be deleted; delete the skill instead")
        before = self._current(name, tenant_id, base_hash)
        files = {other: file for other, file in before.files.items() if other != path}
        return self._store(_with_files(before, files), tenant_id)

    async def delete(self, name: str, tenant_id: str, *, base_hash: str) -> None:
        if (tenant_id, name) in self.skills:
            self._current(name, tenant_id, base_hash)
            del self.skills[tenant_id, name]

    async def list(self, tenant_id: str) -> Sequence[SkillSummary]:
        return tuple(
            SkillSummary(name=name, description=_description(bundle), file_count=len(bundle.files))
            for (owner, name), bundle in sorted(self.skills.items())
            if owner == tenant_id
        )

    def _current(self, name: str, tenant_id: str, base_hash: str) -> Bundle:
        bundle = self.skills.get((tenant_id, name))
        if bundle is None or bundle_hash(bundle) != base_hash:
            raise Stale(f"skill {name!r} moved on")
        return bundle

    def _store(self, bundle: Bundle, tenant_id: str) -> str:
        self.skills[tenant_id, bundle.name] = sound(bundle)
        return bundle_hash(bundle)


def _with_files(bundle: Bundle, files: Mapping[str, SkillFile]) -> Bundle:
    return Bundle(name=bundle.name, files=files)


def _description(bundle: Bundle) -> str:
    try:
        return read_frontmatter(bundle.document).description
    except BundleInvalid:
        return ""
