"""A set that judges routing: labelled feedback, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from pydantic import Field, JsonValue, ValidationError

from core.domain.errors import InvalidInput
from core.domain.input_formats.text import explain
from core.domain.messages import Message
from core.domain.models import (
    Agent,
    ChangeRequest,
    HitPolicy,
    InputColumn,
    Kind,
    MemoryRequest,
    Operation,
    OutputColumn,
    RowEdit,
    RuleDraft,
    RuleRequest,
    SkillFile,
    SkillRequest,
)
from core.domain.models.base import Model

SHIPPED = {"routing": ("routing-a.jsonl", "routing-b.jsonl")}
NOTHING = "NONE"
SEVERAL = "several"
FAILED = "FAILED"


class Known(Model):
    """Something the agent knows before the feedback comes: a memory, a table or a skill.

    A row's cells are those of the inputs, then of the outputs, as FEEL; a text output may do
    without its quotes.
    """

    kind: Kind
    id: str
    text: str = ""
    name: str = ""
    description: str = ""
    steps: tuple[str, ...] = ()
    inputs: dict[str, str] = Field(default_factory=dict)
    outputs: dict[str, str] = Field(default_factory=dict)
    rows: tuple[tuple[JsonValue, ...], ...] = ()
    hit_policy: HitPolicy | None = None

    def request(self) -> ChangeRequest:
        """Return the request that creates it."""
        create = {"operation": Operation.CREATE, "is_import": True}
        if self.kind is Kind.MEMORY:
            return MemoryRequest(**create, content=self.text)
        if self.kind is Kind.DMN_RULE:
            return RuleRequest(**create, rule=self._table())
        data = self._skill().encode()
        return SkillRequest(**create, folder={"SKILL.md": SkillFile(data=data)})

    def _table(self) -> RuleDraft:
        return RuleDraft(
            name=self.name,
            inputs=tuple(InputColumn(name=name, type=of) for name, of in self.inputs.items()),
            outputs=tuple(OutputColumn(name=name, type=of) for name, of in self.outputs.items()),
            rows=tuple(self._row(row) for row in self.rows),
            hit_policy=self.hit_policy,
        )

    def _row(self, row: Sequence[JsonValue]) -> RowEdit:
        cut = len(self.inputs)
        tests = zip(self.inputs.items(), row[:cut], strict=True)
        given = zip(self.outputs.items(), row[cut:], strict=True)
        return RowEdit(
            inputs={name: _feel(cell) for (name, _), cell in tests},
            outputs={name: _literal(cell, of) for (name, of), cell in given},
        )

    def _skill(self) -> str:
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, 1))
        head = json.dumps({"name": self.name, "description": self.description}, ensure_ascii=False)
        return f"---\n{_yaml(head)}---\n\n# {self.name}\n\n{steps}\n"


def _yaml(head: str) -> str:
    fields = json.loads(head)
    return "".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items()
    )


def _feel(cell: JsonValue) -> str:
    return cell if isinstance(cell, str) else json.dumps(cell)


def _literal(cell: JsonValue, of: str) -> str:
    text = _feel(cell)
    is_bare = of == "string" and not text.startswith('"') and text != "-"
    return json.dumps(text, ensure_ascii=False) if is_bare else text


class Wanted(Model):
    """What has to come of a piece: one change, or nothing (`NONE`). `row` only says more."""

    kind: str
    operation: str = NOTHING
    target: str | None = None
    row: str | None = None

    @property
    def label(self) -> str:
        """What it is called in tables."""
        return NOTHING if self.kind == NOTHING else f"{self.kind} {self.operation}"


class Learner(Model):
    """The agent that the feedback is about."""

    id: str
    name: str = ""
    role: str = ""
    goal: str = ""
    persona: str = ""

    def agent(self, tenant_id: str) -> Agent:
        """Return it as an agent of a tenant."""
        given = {**self.model_dump(), "name": self.name or self.id}
        return Agent(tenant_id=tenant_id, **given)


class RoutingCase(Model):
    """One piece of feedback with what must come of it.

    Without `known` the agent and what it knows are those of `tenant` in the opened database, and
    nothing is written. `must_keep`: what the learnt text has to contain; a list stands for
    spellings of which one is enough. `author` groups cases that are not independent.
    """

    id: str
    feedback: str
    agent: Learner
    expect: tuple[Wanted, ...] = Field(min_length=1)
    acceptable: tuple[tuple[Wanted, ...], ...] = ()
    known: tuple[Known, ...] | None = None
    tenant: str | None = None
    lang: str = ""
    author: str | None = None
    output: str | None = None
    in_reply_to: str | None = None
    must_keep: tuple[str | tuple[str, ...], ...] = ()
    category: str | None = None
    hand: str = ""
    why: str = ""

    @property
    def label(self) -> str:
        """What it is called in tables: the change that has to come of it."""
        return self.expect[0].label if len(self.expect) == 1 else SEVERAL


def read_set(name: str) -> Sequence[RoutingCase]:
    """Return the cases of a set that ships with the program, or of a file of one's own.

    Raises InvalidInput that names the line.
    """
    if name in SHIPPED:
        folder = files("core.entrypoints.evals")
        text = "".join(folder.joinpath(part).read_text(encoding="utf-8") for part in SHIPPED[name])
    else:
        text = _read(Path(name))
    cases = [*_cases(text, name)]
    if not cases:
        raise InvalidInput(Message("eval.empty", file=name))
    return cases


def some_of(
    cases: Sequence[RoutingCase], name: str, *, lang: str | None, limit: int | None
) -> Sequence[RoutingCase]:
    """Return the first cases in a language. Raises InvalidInput if there are none."""
    found = [case for case in cases if lang in {None, case.lang}][:limit]
    if not found:
        known = sorted({case.lang for case in cases if case.lang})
        raise InvalidInput(
            Message("eval.no_lang", file=name, lang=lang or ""),
            hint=Message("eval.hint_langs", langs=", ".join(known)) if known else "",
        )
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            Message("file.not_utf8", path=path), hint=Message("hint.utf8")
        ) from error
    except OSError as error:
        raise InvalidInput(
            Message("eval.unreadable", file=path, why=error),
            hint=Message("eval.hint_sets", names=", ".join(SHIPPED)),
        ) from error


def _cases(text: str, name: str) -> Iterator[RoutingCase]:
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            case = RoutingCase.model_validate_json(line)
        except ValidationError as error:
            why = explain(error)
            raise InvalidInput(Message("eval.line", file=name, line=number, why=why)) from error
        if case.id in seen:
            raise InvalidInput(Message("eval.twice", file=name, line=number, id=case.id))
        seen.add(case.id)
        yield case
