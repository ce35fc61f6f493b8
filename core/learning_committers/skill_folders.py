"""Skill folders as states of a change, and what an answer of the author may do to one (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import ArtifactInvalid, Refused
from core.models import (
    SKILL_MD,
    Bundle,
    Kind,
    MergeMode,
    Operation,
    Prepared,
    RelatedSkill,
    SkillArtifact,
    SkillEdits,
    SkillRequest,
    Snapshot,
)
from core.skill_bundle import file_refs
from core.skill_document.assembly import assemble, creation_name_problems
from core.skill_document.edits import apply_edits
from core.skill_document.frontmatter import read_frontmatter
from core.skill_document.markdown import headings
from core.skill_quick_validate import check_bundle
from core.snapshots import state_hash

RELATED_HEAD_CHARS = 600


def folder_of(
    answer: SkillArtifact | SkillEdits, request: SkillRequest, base: Bundle | None
) -> Bundle:
    """Turn an answer of the author into the whole folder. Raises ArtifactInvalid."""
    if isinstance(answer, SkillArtifact):
        folder = assemble(answer, name=request.target_id, base=base)
        if base is not None and not _replaces(request):
            _keep_headings(base, folder)
        return folder
    if base is None:
        raise ArtifactInvalid(["edits need an existing skill; answer with a whole SkillArtifact"])
    return apply_edits(base, answer)


def refuse_bad_name(name: str) -> None:
    """Refuse a name that no new skill may have. Raises Refused."""
    problems = creation_name_problems(name)
    if problems:
        raise Refused("; ".join(problems), hint="give another skill_id, or leave it to the author")


def _replaces(request: SkillRequest) -> bool:
    """REPLACE may drop what was there, and so may an artifact that is passed in without a mode."""
    if request.merge_mode is None:
        return request.artifact is not None
    return request.merge_mode is MergeMode.REPLACE


def _keep_headings(base: Bundle, folder: Bundle) -> None:
    """Refuse a document that loses sections where it was asked to add or to refine."""
    kept = [heading.text for heading in headings(folder.document)]
    lost = [h.text for h in headings(base.document) if h.text not in kept]
    if lost:
        raise ArtifactInvalid(
            [f"these sections are gone: {', '.join(lost)}; answer with edits that keep the rest"]
        )


def state_of(bundle: Bundle) -> Snapshot:
    """The state of a folder, as a change keeps it."""
    return Snapshot(content=bundle.document, name=bundle.name, files=file_refs(bundle))


def prepared_change(operation: Operation, base: Bundle | None, bundle: Bundle | None) -> Prepared:
    """Make the change from one folder to another; None is absent."""
    named = bundle or base
    assert named is not None
    before = state_of(base) if base else None
    after = state_of(bundle) if bundle else None
    blobs = {}
    for folder, state in ((base, before), (bundle, after)):
        if folder is not None and state is not None and state.files is not None:
            blobs.update({ref.sha256: folder.files[p].data for p, ref in state.files.items()})
    return Prepared(
        kind=Kind.SKILL,
        target_id=named.name,
        target_name=named.name,
        operation=operation,
        before=before,
        after=after,
        base_hash=state_hash(before),
        blobs=blobs,
        warnings=tuple(_warnings(base, bundle)) if bundle else (),
    )


def _warnings(base: Bundle | None, bundle: Bundle) -> Iterator[str]:
    """What is allowed, but not good: a body that grew too long, an old name."""
    for problem in check_bundle(bundle, base, created=base is None):
        yield f"{problem.message} ({problem.hint})" if problem.hint else problem.message


def related_skill(bundle: Bundle) -> RelatedSkill:
    """What the author is shown of a skill beside the one it writes."""
    return RelatedSkill(
        name=bundle.name,
        description=read_frontmatter(bundle.document).description,
        paths=tuple(sorted(path for path in bundle.files if path != SKILL_MD)),
        head=bundle.document[:RELATED_HEAD_CHARS],
    )
