"""Skills: a folder in memory, and what the model writes for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import ConfigDict, Field

from core.domain.models.base import Fence, Model
from core.domain.models.knowledge import MergeMode, Operation

SKILL_MD = "SKILL.md"


class SkillFile(Model):
    """The bytes of one file (base64 in JSON) and its executable bit."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )

    data: bytes
    executable: bool = False


def folder_size(files: Mapping[str, SkillFile] | None) -> int:
    """Return the bytes of all files of a folder, 0 where there is none."""
    return sum(len(file.data) for file in (files or {}).values())


class Bundle(Model):
    """A skill folder in memory: relative POSIX path -> file. It always contains `SKILL.md`."""

    name: str
    files: Mapping[str, SkillFile]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return folder_size(self.files)

    @property
    def document(self) -> str:
        """The text of SKILL.md."""
        return self.files[SKILL_MD].data.decode("utf-8")


class SkillSummary(Model):
    """A skill as a list shows it."""

    name: str
    description: str = ""
    file_count: int = 0


class SkillArtifact(Model):
    """A whole skill as the model writes it (contracts, section 3)."""

    name: str = Field(description="hyphen-case, ASCII, at most 64 characters")
    description: str = Field(
        description="what the skill does and when to use it; at most 1024 characters"
    )
    overview: str = Field(default="", description="used when body_markdown is left out")
    steps: tuple[str, ...] = Field(default=(), description="used when body_markdown is left out")
    usage: str = Field(default="", description="used when body_markdown is left out")
    body_markdown: str | None = Field(
        default=None, description="the whole body of SKILL.md, without frontmatter"
    )
    additional_files: dict[str, str] = Field(
        default_factory=dict, description="path under references/, scripts/ or assets/ -> text"
    )
    allowed_tools: str = Field(
        default="",
        description="tools that the procedure runs, as in `Bash(git:*) Read`; else left out",
    )


class SkillEdit(Model):
    """One edit of a skill.

    `replace_section` replaces the text under `heading` (its subsections included), keeping the
    heading line; `insert_section` adds `text` at the end of the section under `heading`, or at
    the end of the document when `heading` is empty; `append_item` adds `text` as the next item of
    the last list there; `set_description` sets the frontmatter's description, `set_field` and
    `remove_field` another `field` of it; `put_file` adds or replaces the file at `path`;
    `delete_file` deletes it.
    """

    op: Literal[
        "replace_section",
        "insert_section",
        "append_item",
        "set_description",
        "set_field",
        "remove_field",
        "put_file",
        "delete_file",
    ]
    heading: str = Field(
        default="",
        description="the heading's text, without '#'; if it is there twice `Parent > Heading`",
    )
    path: str = Field(default="", description="file of the skill; SKILL.md when left out")
    text: str = Field(default="", description="Markdown, file text, description, field's value")
    field: str = Field(
        default="",
        description="allowed-tools, license, compatibility, metadata, metadata.KEY, paths, "
        "arguments, argument-hint, context, agent, model, hooks, disable-model-invocation or "
        "user-invocable",
    )


class SkillEdits(Model):
    """Edits of an existing skill; what they do not name keeps its bytes."""

    edits: tuple[SkillEdit, ...] = Field(min_length=1)


class RelatedSkill(Model):
    """What the author sees of a related skill: its summary, paths and first lines.

    `cut` says what was left out to save space.
    """

    name: str
    description: str
    paths: tuple[str, ...]
    head: str
    cut: str = ""


class AuthorRequest(Model):
    """Everything the author needs to write or edit one skill.

    `related_unknown` names the related skills that are not shown, each with the reason. `fence` is
    the candidate's, compared before the model is called. The tenant pays for the call.
    """

    tenant_id: str
    operation: Operation
    skill_name: str | None
    feedback_content: str
    candidate_content: str = ""
    merge_mode: MergeMode | None = None
    relationship_analysis: str = ""
    existing: Bundle | None = None
    related: tuple[RelatedSkill, ...] = ()
    related_unknown: tuple[str, ...] = ()
    fence: Fence | None = None


class ShellResult(Model):
    """The result of a shell command; `exit_code` is None if the server does not report it."""

    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
