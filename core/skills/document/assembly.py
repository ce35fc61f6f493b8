"""Build a skill folder from what the author wrote, and report every rule that it breaks (pure)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from core.domain.errors import ArtifactInvalid, BundleInvalid
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Bundle, SkillArtifact, SkillFile
from core.domain.text import has_lone_surrogate
from core.skills.bundle import is_script, is_text
from core.skills.document.frontmatter import (
    read_frontmatter,
    set_description,
    set_field,
    split_document,
    write_frontmatter,
)
from core.skills.document.markdown import headings
from core.skills.validation.check import check_bundle, with_rule
from core.skills.validation.document import name_problems
from core.skills.validation.paths import errors_of

_HEAD_INSIDE = re.compile(r"\s*---[ \t]*\r?\n\s*(?:name|description)[ \t]*:")
_NUMBERED = re.compile(r"\s*\d{1,2}[.)]\s+")
_PLACEHOLDER = re.compile(
    r"[\W_]*(?:(?:todo|tbd|tba|fixme|xxx+|placeholder|lorem ipsum|coming soon"
    r"|to be (?:added|written|determined|completed|filled)|your (?:text|content|code) here"
    r"|insert .{1,40} here)\b"
    r"|추후 (?:작성|추가)|작성 예정|내용 없음|내용을 (?:입력|작성)|여기에 (?:내용|작성|입력)).*",
    re.IGNORECASE,
)
_MAY_BE_EMPTY = "__init__.py"
_ENGLISH = ("Overview", "Steps", "Usage")
_KOREAN = ("개요", "절차", "사용법")


def assemble(artifact: SkillArtifact, *, name: str | None, base: Bundle | None) -> Bundle:
    """Build the folder of a skill that is created, or of `base` updated by the artifact.

    The skill's name is `base.name`, else `name`, else the artifact's. Files of `base` that the
    artifact does not name stay, and so do the other keys of its frontmatter. Raises ArtifactInvalid
    with all problems at once.
    """
    title = base.name if base else name or artifact.name
    head = _head(artifact, title, base)
    files = dict(base.files) if base else {}
    files[SKILL_MD] = text_file(SKILL_MD, _document(artifact, title, head), files)
    for path, text in artifact.additional_files.items():
        if path.casefold() != SKILL_MD.casefold():
            composed = unicodedata.normalize("NFC", path)
            files[composed] = text_file(composed, text, files)
    return checked(Bundle(name=title, files=files), base, _artifact_problems(artifact))


def text_file(path: str, text: str, files: Mapping[str, SkillFile]) -> SkillFile:
    """Return a text as a file: executable if it was in `files`, or is a script with a shebang.

    Lone surrogates become `?`; refusing them is up to the caller.
    """
    data = text.encode("utf-8", "replace")
    old = files.get(path)
    return SkillFile(data=data, executable=bool(old and old.executable) or is_script(path, data))


def checked(bundle: Bundle, base: Bundle | None, known: Iterable[str] = ()) -> Bundle:
    """Return the bundle, unless it breaks a rule that `base` obeyed.

    Raises ArtifactInvalid with all problems at once, those already `known` first.
    """
    if problems := list(dict.fromkeys([*known, *_skill_problems(bundle, base)])):
        raise ArtifactInvalid(problems)
    return bundle


def _artifact_problems(artifact: SkillArtifact) -> Iterator[str]:
    """Yield what keeps the artifact's texts from being files, or changes what they mean."""
    texts: dict[str, str] = {
        "description": artifact.description,
        "body_markdown": artifact.body_markdown or "",
        "overview": artifact.overview,
        "steps": "\n".join(artifact.steps),
        "usage": artifact.usage,
        "allowed_tools": artifact.allowed_tools,
        **{
            Message("artifact.file", path=path): path + text
            for path, text in artifact.additional_files.items()
        },
    }
    yield from (
        Message("artifact.surrogate", label=label)
        for label, text in texts.items()
        if has_lone_surrogate(text)
    )
    if artifact.body_markdown is None:
        yield from _section_problems(artifact)
    elif _HEAD_INSIDE.match(artifact.body_markdown):
        yield Message("artifact.head_inside")
    for path in artifact.additional_files:
        if path.casefold() == SKILL_MD.casefold():
            yield Message("artifact.document_twice", path=path)


def _section_problems(artifact: SkillArtifact) -> Iterator[str]:
    sections = {
        "overview": artifact.overview,
        "steps": "\n\n".join(artifact.steps),
        "usage": artifact.usage,
    }
    for label, text in sections.items():
        if is_placeholder(text, markdown=True):
            yield Message("artifact.section_empty", label=label)
        if any(heading.level <= 2 for heading in headings(text)):
            yield Message("artifact.section_headings", label=label)
    if any(not step.strip() for step in artifact.steps):
        yield Message("artifact.step_empty")


def _head(artifact: SkillArtifact, name: str, base: Bundle | None) -> str:
    """Return the frontmatter: that of the base with what is new of the artifact, or a new one."""
    head = _described_head(artifact.description.strip(), name, base)
    tools = " ".join(artifact.allowed_tools.split())
    return set_field(head, "allowed-tools", tools) if tools else head


def _described_head(description: str, name: str, base: Bundle | None) -> str:
    if base is not None:
        try:
            head = split_document(base.document)[0]
            if read_frontmatter(head).description == description:
                return head
            return set_description(head, description)
        except (BundleInvalid, UnicodeDecodeError):
            pass  # an unreadable head is replaced
    return write_frontmatter(name, description)


def _document(artifact: SkillArtifact, name: str, head: str) -> str:
    if artifact.body_markdown is not None:
        return f"{head}\n{artifact.body_markdown}"
    steps = [_NUMBERED.sub("", step, count=1).strip() for step in artifact.steps]
    numbered = "\n".join(f"{number}. {_hung(step)}" for number, step in enumerate(steps, 1))
    texts = (artifact.overview.strip(), numbered, artifact.usage.strip())
    titles = _KOREAN if _is_korean("".join(texts)) else _ENGLISH
    sections = "\n\n".join(
        f"## {title}\n\n{text}" for title, text in zip(titles, texts, strict=True)
    )
    return f"{head}\n# {name}\n\n{sections}\n"


def _hung(step: str) -> str:
    """Return a step with its further lines indented, so that they stay in its list item."""
    first, *rest = step.splitlines() or [step]
    return "\n".join([first, *(f"   {line}" if line.strip() else "" for line in rest)])


def _is_korean(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    hangul = sum(1 for char in letters if unicodedata.name(char, "").startswith("HANGUL"))
    return 2 * hangul > len(letters)


def _skill_problems(bundle: Bundle, base: Bundle | None) -> Iterator[str]:
    errors = errors_of(check_bundle(bundle, base, created=base is None))
    yield from map(with_rule, errors)
    if base is None:
        yield from map(with_rule, name_problems(bundle.name))
    for path, file in sorted(bundle.files.items()):
        if base and base.files.get(path) == file:
            continue
        if path == SKILL_MD:
            yield from _body_problems(bundle)
        else:
            yield from _file_problems(path, file)


def _body_problems(bundle: Bundle) -> Iterator[str]:
    try:
        _, body = split_document(bundle.document)
    except (BundleInvalid, UnicodeDecodeError):
        return  # the rules for the document have reported it
    if body.strip() and is_placeholder(body, markdown=True):
        yield Message("skill.body_empty", file=SKILL_MD)


def _file_problems(path: str, file: SkillFile) -> Iterator[str]:
    if not file.data.strip():
        if path.rsplit("/", 1)[-1] != _MAY_BE_EMPTY:
            yield Message("file.empty", path=path)
    elif is_text(file.data):
        text = file.data.decode("utf-8")
        if is_placeholder(text, markdown=path.endswith(".md")):
            yield Message("file.placeholder", path=path)


def is_placeholder(text: str, *, markdown: bool) -> bool:
    """Whether no line has content: all are blank, `TODO` and the like, or bare headings."""
    return not any(_says_something(line, markdown) for line in text.splitlines())


def _says_something(line: str, markdown: bool) -> bool:
    if not line.strip() or line.startswith("#!"):
        return False
    if markdown and (line.startswith("#") or not re.search(r"\w", line)):
        return False
    return _PLACEHOLDER.fullmatch(line) is None
