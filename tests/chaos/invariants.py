"""What must hold after everything that went wrong, read from tables, folders and the model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tests.chaos.tasks import BASE, CALLS, Task, key_of

Row = dict[str, Any]
_OPEN = """
SELECT 'feedback ' || id || ' is ' || status AS what FROM feedback
WHERE status IN ('queued', 'processing')
UNION ALL SELECT 'change ' || id || ' is ' || status FROM changes
WHERE status IN ('prepared', 'applying')
UNION ALL SELECT 'job ' || id || ' is ' || status::text FROM procrastinate_jobs
"""


@dataclass(frozen=True)
class Findings:
    """What is wrong, as lists of sentences; all empty if every promise was kept."""

    lost: Sequence[str]
    twice: Sequence[str]
    half: Sequence[str]
    stuck: Sequence[str]
    overpaid: Sequence[str]
    claims: int = 0

    @property
    def all(self) -> list[str]:
        """Everything that is wrong."""
        return [*self.lost, *self.twice, *self.half, *self.stuck, *self.overpaid]

    def summary(self) -> str:
        """The counts in one line."""
        names = ("lost", "twice", "half", "stuck", "overpaid")
        return ", ".join(f"{len(getattr(self, name))} {name}" for name in names)


def open_ends(database: str) -> list[str]:
    """Return what has not ended: feedback, changes, jobs."""
    return [row["what"] for row in _rows(database, _OPEN)]


def keys_of(database: str) -> dict[str, str]:
    """Return the key of the task behind each piece of feedback, by the feedback's id."""
    rows = _rows(database, "SELECT id, content FROM feedback")
    return {row["id"]: key_of(row["content"]) for row in rows}


def look(
    database: str, tasks: Mapping[str, Task], skills: Path, paid: Mapping[str, int]
) -> Findings:
    """Compare the actual state with the required result of each task, by feedback id."""
    feedback = {row["id"]: row for row in _rows(database, "SELECT * FROM feedback")}
    changes = _rows(database, "SELECT * FROM changes ORDER BY applied_at, id")
    applied = [row for row in changes if row["status"] == "applied"]
    lost, twice = _learnt(feedback, applied, tasks)
    twice += _created_twice(applied)
    return Findings(
        lost=lost,
        twice=[*twice, *_history(database, applied), *_versions(database, applied)],
        half=[
            *_folders(applied, skills),
            *_taught_skills(tasks, skills),
            *_cases(database, applied),
        ],
        stuck=open_ends(database),
        overpaid=_overpaid(feedback, tasks, paid),
        claims=sum(row["epoch"] for row in feedback.values()),
    )


def _learnt(
    feedback: Mapping[str, Row], applied: Sequence[Row], tasks: Mapping[str, Task]
) -> tuple[list[str], list[str]]:
    """Check that each piece has its end, and the changes that this end stands for."""
    lost, twice = [], []
    for feedback_id, task in tasks.items():
        row = feedback.get(feedback_id)
        if row is None or row["status"] != task.status:
            said = "gone" if row is None else f"{row['status']}: {row['error']}"
            lost.append(f"{task.kind} {feedback_id} is {said}")
        wanted = Counter((str(kind), str(operation)) for kind, operation in task.changes)
        made = Counter(
            (change["kind"], change["operation"])
            for change in applied
            if change["feedback_id"] == feedback_id
        )
        if task.kind == "pair" and made == Counter([("SKILL", "UPDATE")]):
            made = wanted  # the other one of the pair came first
        lost += [f"{task.kind} {feedback_id} lacks {what}" for what in (wanted - made).elements()]
        twice += [f"{task.kind} {feedback_id} also {what}" for what in (made - wanted).elements()]
    return lost, twice


def _created_twice(applied: Sequence[Row]) -> Iterator[str]:
    """Yield skills that were created twice, also by two pieces that teach it concurrently."""
    created = Counter(
        (c["tenant_id"], c["target_id"])
        for c in applied
        if (c["kind"], c["operation"]) == ("SKILL", "CREATE")
    )
    yield from (f"skill {what} was created {n} times" for what, n in created.items() if n > 1)


def _history(database: str, applied: Sequence[Row]) -> Iterator[str]:
    """Yield applied changes without exactly one history row, and other rows that claim one."""
    rows = _rows(database, "SELECT change_id FROM history WHERE status = 'applied'")
    recorded = Counter(row["change_id"] for row in rows)
    wanted = Counter(change["id"] for change in applied)
    yield from (f"history lacks change {change_id}" for change_id in wanted - recorded)
    yield from (f"history has change {change_id} once more" for change_id in recorded - wanted)


def _versions(database: str, applied: Sequence[Row]) -> Iterator[str]:
    """Yield memories and rules whose versions are not those that were applied."""
    rows = _rows(database, "SELECT change_id FROM knowledge_versions")
    written = Counter(row["change_id"] for row in rows)
    wanted = Counter(c["id"] for c in applied if c["kind"] in {"MEMORY", "DMN_RULE"})
    yield from (f"no version was written by change {change_id}" for change_id in wanted - written)
    yield from (f"a version too many of change {change_id}" for change_id in written - wanted)


def _cases(database: str, applied: Sequence[Row]) -> Iterator[str]:
    """Yield changes that lack a case they came with, and cases without their change."""
    rows = _rows(database, "SELECT id, change_id FROM cases")
    kept = {(row["change_id"], row["id"]) for row in rows}
    in_force = {None, *(change["id"] for change in applied)}  # more may be derived later
    came = {(change["id"], case["id"]) for change in applied for case in change["cases"]}
    yield from (f"change {change} lacks its case {case}" for change, case in came - kept)
    astray = [pair for pair in kept - came if pair[0] not in in_force]
    yield from (f"case {case} has no change {change} in force" for change, case in astray)
    for change in applied:
        asked = (change["request"] or {}).get("cases") or []
        if len(change["cases"]) < len(asked):
            yield f"change {change['id']} came with {len(asked)} cases, and has fewer"


def _folders(applied: Sequence[Row], skills: Path) -> Iterator[str]:
    """Yield skills that are not, byte for byte, what their last change made."""
    last = {(c["tenant_id"], c["target_id"]): c for c in applied if c["kind"] == "SKILL"}
    for (tenant, name), change in last.items():
        wanted = {path: ref["sha256"] for path, ref in change["after"]["files"].items()}
        held = {
            path: hashlib.sha256(data).hexdigest() for path, data in _files(skills, tenant, name)
        }
        if held != wanted:
            differing = sorted(set(held.items()) ^ set(wanted.items()))
            yield f"skill {tenant}/{name} is not what was applied: {differing}"
    for tenant in {tenant for tenant, _ in last}:
        there = {path.name for path in (skills / tenant).iterdir() if path.name[0] != "."}
        unknown = there - {name for of, name in last if of == tenant} - {BASE}
        yield from (f"skill {tenant}/{name} was never applied" for name in unknown)


def _taught_skills(tasks: Mapping[str, Task], skills: Path) -> Iterator[str]:
    """Yield updates that did not leave their own section and file, once, beside the others'."""
    for task in tasks.values():
        if task.kind != "update":
            continue
        files = dict(_files(skills, task.tenant, task.target))
        sections = files.get("SKILL.md", b"").decode().count(f"## 고객 {task.key}\n")
        if sections != 1 or f"references/{task.key}.md" not in files:
            yield f"update {task.key}: {sections} sections, files {sorted(files)}"


def _files(skills: Path, tenant: str, name: str) -> Iterator[tuple[str, bytes]]:
    folder = skills / tenant / name
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _overpaid(
    feedback: Mapping[str, Row], tasks: Mapping[str, Task], paid: Mapping[str, int]
) -> list[str]:
    """Return runs that paid for more than one extra call per interruption."""
    found = []
    for feedback_id, task in tasks.items():
        cut_off = max(0, feedback[feedback_id]["epoch"] - 1) if feedback_id in feedback else 0
        most = CALLS[task.kind] + cut_off
        if paid.get(task.key, 0) > most:
            found.append(f"{task.kind} {task.key} paid {paid[task.key]} calls of {most}")
    return found


def _rows(database: str, query: str) -> list[Row]:
    with psycopg.connect(database, row_factory=dict_row, connect_timeout=5) as conn:
        return conn.execute(query).fetchall()  # type: ignore[arg-type]
