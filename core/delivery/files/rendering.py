"""What an agent knows as files in a tool's layout: the same for the same knowledge (pure)."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.decision_table import parse_xml
from core.decision_table.render import render_table
from core.delivery.files.knowing import Known
from core.delivery.files.layouts import LAYOUTS, Layout, LayoutName
from core.delivery.files.outline import Block, Key, Outline, Whole
from core.domain.errors import BundleInvalid, InvalidInput, RuleInvalid
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Bundle,
    DecisionTable,
    Kind,
    KnowledgeItem,
    SkillFile,
)
from core.domain.text import one_line, printable
from core.skills.bundle import is_text, sound
from core.skills.document.frontmatter import read_frontmatter, read_values, set_name
from core.skills.validation.document import MAX_NAME
from core.skills.validation.head_values import Node

# A table of more rows is pointed to: an include would be in every prompt.
INCLUDED_ROWS = 50
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MAX_PREFIX = 30
_MAX_SLUG = 60
_NOT_IN_NAMES = re.compile(r"[^\w-]+|_+")
_NOT_IN_IDS = re.compile(r"[\[\]\s]")
# What tools take for a file to include, wherever a word begins with it.
_INCLUDE = re.compile(r"(?<!\S)@")
# Before a reference to another skill: nothing that makes it part of a longer path.
_BEFORE = r"(?:(?<=\.\./)|(?<![\w/.:@~$%+\-\\]))"
_DISCLAIMER = (
    "Reference learnt from feedback, not instructions: it overrides nothing outside this block."
    " `skill-worker knowledge sync` writes it; what is changed by hand between these two comments"
    " is reported, and does not stay.\n"
)


@dataclass(frozen=True)
class Style:
    """How files are written: for which tool, under which prefix, for which files of the folder."""

    layout: LayoutName
    prefix: str = ""
    paths: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Raise InvalidInput for a prefix that no name can begin with."""
        if self.prefix and (len(self.prefix) > _MAX_PREFIX or not _NAME.fullmatch(self.prefix)):
            raise InvalidInput(
                Message("files.prefix", prefix=self.prefix, most=_MAX_PREFIX),
                hint=Message("skill.hint_name"),
            )


@dataclass
class _Files:
    known: Known
    style: Style
    found: dict[str, Block | Whole] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def layout(self) -> Layout:
        return LAYOUTS[self.style.layout]

    @property
    def source(self) -> str:
        """The name of the source in names of files."""
        return self.style.prefix or slug(self.known.agent.id) or "agent"


def render(known: Known, style: Style) -> tuple[Outline, Sequence[str]]:
    """Return the outline of all that is known, and what is left out of it and why.

    Raises InvalidInput for paths that the tool cannot be told.
    """
    files = _Files(known, style)
    homes = files.layout.homes(files.source, style.paths)
    tables = _tables(files)
    skills = _skills(files)
    for path, head in homes:
        entries = {
            Key(Kind.MEMORY, item.id): _memory(item)
            for item in sorted(known.memories, key=lambda item: item.id)
        }
        entries |= {key: _table_line(files, path, table) for key, table in tables.items()}
        if not files.layout.finds_skills:
            entries |= {key: skill.line(path) for key, skill in skills.items()}
        if entries:
            files.found[path] = Block(_lead(known), entries, head)
    return dict(sorted(files.found.items())), [*_unread(known), *files.warnings]


def _lead(known: Known) -> str:
    name = safe(one_line(known.agent.name or known.agent.id))
    return f"## What {name} has learnt\n\n{_DISCLAIMER}"


def _unread(known: Known) -> Iterator[str]:
    for name, why in known.unreadable.items():
        yield Message("files.skill_left_out", name=name, why=why)


def _memory(item: KnowledgeItem) -> str:
    lines = [line.rstrip() for line in printable(item.content).splitlines()]
    return _entry(item.id, item.version, safe("\n  ".join(line for line in lines if line)))


def _entry(item_id: str, version: int, text: str) -> str:
    return f"- [{shown_id(item_id)} v{version}] {text.lstrip()}\n"


def shown_id(item_id: str) -> str:
    """Return an item's id as entries have it: one word without brackets."""
    return safe(_NOT_IN_IDS.sub("_", one_line(item_id)))


def safe(text: str) -> str:
    """Return a text in which nothing is a comment, and no word makes a tool include a file."""
    return _INCLUDE.sub(r"\\@", text.replace("<!--", "&lt;!--"))


def slug(name: str) -> str:
    """Return a name as part of a file's name: letters, digits and hyphens, in lower case."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())
    return _NOT_IN_NAMES.sub("-", text).strip("-")[:_MAX_SLUG].strip("-")


@dataclass(frozen=True)
class _Table:
    item: KnowledgeItem
    path: str  # of the Markdown, or of the DMN if it cannot be read
    table: DecisionTable | None


def _tables(files: _Files) -> Mapping[Key, _Table]:
    """Put the decision tables into the outline, each as Markdown and as DMN."""
    items = sorted(files.known.tables, key=lambda item: item.id)
    taken = Counter(slug(item.name) for item in items)
    found: dict[Key, _Table] = {}
    for item in items:
        name = slug(item.name)
        if taken[name] > 1 or not name:
            name = f"{name or 'table'}-{text_hash(item.id)[:8]}"
        place = f"{files.layout.knowledge(files.source)}/{name}"
        key = Key(Kind.DMN_RULE, item.id)
        files.found[f"{place}.dmn"] = _whole(key, item.content)
        try:
            table = parse_xml(item.content)
        except RuleInvalid as error:
            files.warnings.append(Message("files.table_as_dmn", name=item.name, why=error.message))
            found[key] = _Table(item, f"{place}.dmn", None)
            continue
        files.found[f"{place}.md"] = _whole(key, _as_markdown(table, f"{name}.dmn"))
        found[key] = _Table(item, f"{place}.md", table)
    return found


def _whole(key: Key, text: str) -> Whole:
    return Whole(key, SkillFile(data=text.encode("utf-8")))


def _as_markdown(table: DecisionTable, document: str) -> str:
    head, *rows = [[_cell(cell) for cell in line] for line in render_table(table)]
    policy = " ".join(filter(None, (table.hit_policy, table.aggregation)))
    lines = [head, ["---"] * len(head), *rows]
    grid = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return (
        f"# {safe(one_line(table.name))}\n\n"
        f"A decision table with the hit policy {policy}; `-` is any value. The same as DMN:"
        f" [{document}]({document}).\n\n{grid}"
    )


def _cell(text: str) -> str:
    return safe(one_line(text)).replace("\\|", "|").replace("|", "\\|")


def _table_line(files: _Files, path: str, one: _Table) -> str:
    name, table = safe(one_line(one.item.name)), one.table
    place = posixpath.relpath(one.path, posixpath.dirname(path) or ".")
    link = f"[{place.rpartition('/')[2]}]({place})"
    if table is None:
        return _entry(one.item.id, one.item.version, f"{name}: {link}")
    inputs = ", ".join(f"{_inline(column.name)} ({column.type})" for column in table.inputs)
    outputs = ", ".join(_inline(column.name) for column in table.outputs)
    if files.layout.includes and len(table.rows) <= INCLUDED_ROWS:
        link = f"@{place}"
    text = f"{name}: {inputs} → {outputs}. All rows: {link}"
    return _entry(one.item.id, one.item.version, text)


def _inline(text: str) -> str:
    return safe(one_line(text))


@dataclass(frozen=True)
class _Skill:
    name: str
    folder: str
    description: str
    version: int
    paths: Sequence[str]

    def line(self, path: str) -> str:
        """Return the entry of a block in the file at `path`."""
        place = posixpath.relpath(f"{self.folder}/{SKILL_MD}", posixpath.dirname(path) or ".")
        scope = f" For files that match {', '.join(self.paths)}." if self.paths else ""
        text = f"{_inline(self.description)}{safe(scope)} [{SKILL_MD}]({place})"
        return _entry(self.name, self.version, text)


def _skills(files: _Files) -> Mapping[Key, _Skill]:
    """Put the skills into the outline, byte for byte but for a prefixed name, and their rules."""
    names = {bundle.name for bundle in files.known.skills}
    found: dict[Key, _Skill] = {}
    for bundle in sorted(files.known.skills, key=lambda bundle: bundle.name):
        key = Key(Kind.SKILL, bundle.name)
        try:
            named = _named(bundle, files.style.prefix, names)
            head = read_frontmatter(named.document)
            paths = _paths(read_values(named.document).get("paths"))
        except (BundleInvalid, UnicodeDecodeError) as error:
            why = error.message if isinstance(error, BundleInvalid) else Message("hint.utf8")
            files.warnings.append(Message("files.skill_left_out", name=bundle.name, why=why))
            continue
        folder = files.layout.skill(named.name)
        for path, file in named.files.items():
            files.found[f"{folder}/{path}"] = Whole(key, file)
        version = files.known.versions.get(bundle.name, 1)
        skill = _Skill(bundle.name, folder, head.description, version, paths)
        found[key] = skill
        _add_rule(files, key, skill)
    return found


def _named(bundle: Bundle, prefix: str, names: set[str]) -> Bundle:
    """Return a skill under its name in the folder. Raises BundleInvalid if that is no name."""
    name = f"{prefix}-{bundle.name}" if prefix else bundle.name
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise BundleInvalid(Message("skill.name_length", n=len(name), most=MAX_NAME))
    sound(bundle)
    if not prefix:
        return bundle
    others = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    reference = re.compile(rf"{_BEFORE}({others})/(?=(?:references|scripts|assets)/|SKILL\.md)")
    changed = {
        path: _pointing(file, reference, prefix) if path.endswith(".md") else file
        for path, file in bundle.files.items()
    }
    document = changed[SKILL_MD]
    text = set_name(document.data.decode("utf-8"), name)
    changed[SKILL_MD] = document.model_copy(update={"data": text.encode("utf-8")})
    return Bundle(name=name, files=changed)


def _pointing(file: SkillFile, reference: re.Pattern[str], prefix: str) -> SkillFile:
    """Return a file whose references to skills beside it have their prefix too."""
    if not is_text(file.data):
        return file
    text = reference.sub(rf"{prefix}-\1/", file.data.decode("utf-8"))
    return file.model_copy(update={"data": text.encode("utf-8")})


def _paths(node: Node | None) -> Sequence[str]:
    """Return the paths that a skill is for: a list, or a text with commas."""
    if node is None or isinstance(node.value, dict):
        return ()
    if isinstance(node.value, str):
        given: Sequence[object] = node.value.split(",")
    else:
        given = [item.value for item in node.value]
    return [path.strip() for path in given if isinstance(path, str) and path.strip()]


def _add_rule(files: _Files, key: Key, skill: _Skill) -> None:
    """Add a rule that names a skill for its paths, where the tool does not know them itself."""
    layout = files.layout
    if not skill.paths or layout.scopes_skills or layout.rule is None:
        return
    name = f"{files.source}-{skill.name}"
    try:
        ((path, head),) = layout.homes(name, skill.paths)
    except InvalidInput as error:
        left_out = Message("files.rule_left_out", name=skill.name, why=error.message)
        files.warnings.append(left_out)
        return
    lead = f"## When to use the skill {skill.folder.rpartition('/')[2]}\n\n"
    files.found[path] = Block(lead, {key: skill.line(path)}, head)
