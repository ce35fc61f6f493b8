"""Skill folders as states of a change, and the checks on an author's answer (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.domain.errors import ArtifactInvalid, BundleInvalid, Refused
from core.domain.hashing import state_hash
from core.domain.messages import Message, joined
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Kind,
    MergeMode,
    Operation,
    Prepared,
    SkillArtifact,
    SkillEdits,
    SkillFile,
    SkillRequest,
    Snapshot,
)
from core.learning_committers.skill_ties import reference_problems
from core.skill_quick_validate import check_bundle, errors_of
from core.skills.bundle import file_refs
from core.skills.document.assembly import assemble, creation_name_problems
from core.skills.document.edits import apply_edits
from core.skills.document.frontmatter import read_frontmatter
from core.skills.document.shrink import losses, refusals


def folder_of(
    answer: SkillArtifact | SkillEdits,
    request: SkillRequest,
    base: Bundle | None,
    shrink_percent: float,
) -> Bundle:
    """Return the whole folder from an artifact or edits.

    Raises ArtifactInvalid, with the problems of the answer, else with what it would drop from
    `base` and the references it would leave dangling.
    """
    if isinstance(answer, SkillArtifact):
        folder = assemble(answer, name=request.target_id, base=base)
    elif base is None:
        raise ArtifactInvalid(["edits need an existing skill; answer with a whole SkillArtifact"])
    else:
        folder = apply_edits(base, answer)
    problems = reference_problems(base, folder)
    mode = guarded_mode(request)
    if base is not None and mode is not None:
        problems = [*refusals(base, folder, mode, shrink_percent), *problems]
    if problems:
        raise ArtifactInvalid(problems)
    return folder


def given_folder(request: SkillRequest, base: Bundle | None) -> Bundle:
    """Return the folder of the request unchanged. Raises BundleInvalid.

    It must be a valid skill; the stricter rules for skills the author writes do not apply.
    """
    assert request.folder is not None
    if request.artifact is not None:
        raise BundleInvalid(
            Message(
                "skill.folder_and_artifact", "a folder and an artifact were given; give one of them"
            )
        )
    files = dict(request.folder)
    name = request.target_id or _name_in(files)
    if base is None and _name_in(files) != name:
        raise BundleInvalid(
            Message(
                "skill.folder_of_another",
                "the folder is of a skill named {found!r}, not {name!r}",
                found=_name_in(files),
                name=name,
            )
        )
    bundle = Bundle(name=name, files=files)
    if errors := errors_of(check_bundle(bundle, base)):
        raise BundleInvalid(joined(problem.message for problem in errors))
    return bundle


def guarded_mode(request: SkillRequest) -> MergeMode | None:
    """Return the merge mode an update is checked against; None if it may drop content.

    Without a mode, edits by the author refine and a whole artifact or folder replaces.
    """
    if request.merge_mode is MergeMode.REPLACE or request.folder is not None:
        return None
    if request.merge_mode is None and request.artifact is not None:
        return None
    return request.merge_mode or MergeMode.REFINE


def refuse_bad_name(name: str) -> None:
    """Refuse a name that no new skill may have. Raises Refused."""
    problems = creation_name_problems(name)
    if problems:
        raise Refused(
            joined(problems),
            hint=Message("skill.other_name", "give the skill another name; its id is its name"),
        )


def state_of(bundle: Bundle) -> Snapshot:
    """Return the state of a folder, as stored in a change."""
    return Snapshot(content=bundle.document, name=bundle.name, files=file_refs(bundle))


def prepared_change(
    operation: Operation, base: Bundle | None, bundle: Bundle | None, warnings: Iterable[str] = ()
) -> Prepared:
    """Return the prepared change from one folder to another; None is absent."""
    named = bundle or base
    assert named is not None
    before = state_of(base) if base else None
    after = state_of(bundle) if bundle else None
    blobs = {}
    for folder, state in ((base, before), (bundle, after)):
        if folder is not None and state is not None and state.files is not None:
            blobs.update({ref.sha256: folder.files[p].data for p, ref in state.files.items()})
    rules = _rule_warnings(base, bundle) if bundle else ()
    return Prepared(
        kind=Kind.SKILL,
        target_id=named.name,
        target_name=named.name,
        operation=operation,
        before=before,
        after=after,
        base_hash=state_hash(before),
        blobs=blobs,
        warnings=tuple(dict.fromkeys([*rules, *warnings])),
    )


def replaced_warnings(
    request: SkillRequest, base: Bundle | None, bundle: Bundle, shrink_percent: float
) -> list[str]:
    """Return what a replacing change drops: permitted, but not silently."""
    if base is None or guarded_mode(request) is not None:
        return []
    try:
        dropped = losses(base, bundle, MergeMode.REFINE, shrink_percent)
    except BundleInvalid as error:
        dropped = [f"what would be gone was not compared: {error.message}"]
    return [f"{MergeMode.REPLACE}: {loss}" for loss in dropped]


def _rule_warnings(base: Bundle | None, bundle: Bundle) -> Iterator[str]:
    """Yield the permitted weaknesses of a skill, as an overlong body or an old-style name."""
    for problem in check_bundle(bundle, base, created=base is None):
        yield f"{problem.message} ({problem.hint})" if problem.hint else problem.message


def _name_in(files: Mapping[str, SkillFile]) -> str:
    """Return the name in SKILL.md. Raises BundleInvalid."""
    document = files.get(SKILL_MD)
    if document is None:
        raise BundleInvalid(
            Message(
                "skill.no_document", "there is no {file} at the root of the folder", file=SKILL_MD
            )
        )
    return read_frontmatter(document.data.decode("utf-8", "replace")).name


@dataclass(frozen=True)
class SkillLimits:
    """Rounds of the author, shrinking in percent, and two budgets in characters."""

    author_rounds: int = 3
    shrink_percent: float = 20
    related_chars: int = 12_000
    descriptions_chars: int = 15_000
