"""Edits of a skill: what an edit does not name keeps its bytes (pure)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.errors import BundleInvalid
from core.models import SKILL_MD, Bundle, SkillEdit, SkillEdits, SkillFile
from core.safe_text import has_lone_surrogate
from core.skill_document.assembly import checked, text_file
from core.skill_document.frontmatter import set_description
from core.skill_document.sections import edit_text


def apply_edits(bundle: Bundle, edits: SkillEdits) -> Bundle:
    """Apply the edits in order, each on what the one before left.

    Raises ArtifactInvalid with the problems of all edits and of the skill they would make.
    """
    draft = _Draft(dict(bundle.files))
    for number, edit in enumerate(edits.edits, 1):
        try:
            draft.apply(edit)
        except BundleInvalid as error:
            draft.problems.append(f"edit {number} ({edit.op}): {error.message}")
    return checked(Bundle(name=bundle.name, files=draft.files), bundle, draft.problems)


@dataclass
class _Draft:
    files: dict[str, SkillFile]
    problems: list[str] = field(default_factory=list)

    def apply(self, edit: SkillEdit) -> None:
        path = unicodedata.normalize("NFC", edit.path) or SKILL_MD
        if has_lone_surrogate(path + edit.heading + edit.text):
            raise BundleInvalid("has half a character (a lone surrogate)")
        if edit.op == "delete_file":
            self._delete(path)
        elif edit.op == "put_file":
            self.files[path] = text_file(path, edit.text, self.files)
        elif edit.op == "set_description":
            self._rewrite(SKILL_MD, lambda text: set_description(text, edit.text.strip()))
        else:
            self._rewrite(path, lambda text: edit_text(text, edit))

    def _delete(self, path: str) -> None:
        if path.casefold() == SKILL_MD.casefold():
            raise BundleInvalid(f"{SKILL_MD} cannot be deleted; delete the skill instead")
        if path not in self.files:
            raise BundleInvalid(f"there is no file {path!r}; {_there_are(self.files)}")
        del self.files[path]

    def _rewrite(self, path: str, change: Callable[[str], str]) -> None:
        if path not in self.files:
            raise BundleInvalid(f"there is no file {path!r}; {_there_are(self.files)}")
        try:
            text = self.files[path].data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BundleInvalid(f"{path!r} is not UTF-8 text") from error
        self.files[path] = text_file(path, change(text), self.files)


def _there_are(files: Mapping[str, SkillFile]) -> str:
    return "the files are: " + ", ".join(sorted(files, key=_document_first))


def _document_first(path: str) -> tuple[bool, str]:
    return path != SKILL_MD, path
