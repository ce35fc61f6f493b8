"""The offline model as skill author: small but complete skills, split from the feedback."""

from __future__ import annotations

from pydantic import JsonValue

from core.agent.offline.text import Cue, clauses, english_name, has, is_korean, letters, likeness
from core.domain.errors import BundleInvalid
from core.skills.document.frontmatter import split_document
from core.skills.document.markdown import has_too_many_lines, headings

KOREAN = {
    "use": "이 작업을 수행하거나 결과를 검토할 때 사용합니다.",
    "overview": "개요",
    "when": "사용 시점",
    "steps": "절차",
    "step": "단계",
    "check": "확인: 이 단계의 결과를 기록하고, 기준에 맞지 않으면 멈추고 담당자에게 묻습니다.",
    "files": "참고 자료",
    "pointer": "마치기 전에 `references/checklist.md`의 점검표를 확인합니다.",
    "list": "점검표",
    "read": "읽는 시점: 절차를 마치기 직전.",
    "added": "추가 지침",
    "item": "항목",
    "done": "확인",
}
ENGLISH = {
    "use": "Use when doing this work or reviewing its result.",
    "overview": "Overview",
    "when": "When to use",
    "steps": "Procedure",
    "step": "Step",
    "check": "Check: note the result of the step; if it is off, stop and ask who is in charge.",
    "files": "Files",
    "pointer": "Before finishing, go through `references/checklist.md`.",
    "list": "Checklist",
    "read": "Read this just before the procedure ends.",
    "added": "Further guidance",
    "item": "Item",
    "done": "Done",
}


def answer(data: dict[str, JsonValue]) -> tuple[str, dict[str, JsonValue]]:
    """Return the call that answers the author's question: (tool, arguments)."""
    told = (data.get(key) for key in ("relationship_analysis", "candidate", "feedback"))
    text = next((str(part) for part in told if part), "")
    existing = data.get("existing")
    if isinstance(existing, dict):
        return "SkillEdits", _edits(text, _document(existing.get("SKILL.md")))
    name = str(data.get("skill_name") or english_name(clauses(text), text))
    return "SkillArtifact", _artifact(name, text)


def _document(shown: JsonValue) -> str:
    """Return what the prompt shows of SKILL.md: all of it, or the beginning of a long one."""
    if isinstance(shown, dict):
        return str(shown.get("begins", ""))
    return shown if isinstance(shown, str) else ""


def _body(document: str) -> str:
    try:
        return split_document(document)[1]
    except BundleInvalid:
        return document


def _artifact(name: str, text: str) -> dict[str, JsonValue]:
    words = KOREAN if is_korean(text) else ENGLISH
    lead, steps = _lead(text), _steps(text)
    title = name.replace("-", " ").capitalize()
    summary = lead or " / ".join(_short(step) for step in steps[:3])
    return {
        "name": name,
        "description": f"{summary}. {words['use']}".replace("<", "(").replace(">", ")"),
        "body_markdown": _new_body(title, summary, steps, words),
        "additional_files": {"references/checklist.md": _checklist(steps, words)},
    }


def _new_body(title: str, summary: str, steps: list[str], words: dict[str, str]) -> str:
    lines = [f"# {title}", "", f"## {words['overview']}", "", f"{summary}.", ""]
    lines += [f"## {words['when']}", "", words["use"], "", f"## {words['steps']}", ""]
    for number, step in enumerate(steps, 1):
        lines += [f"### {words['step']} {number}", "", f"{step}", "", words["check"], ""]
    lines += [f"## {words['files']}", "", words["pointer"], ""]
    return "\n".join(lines)


def _checklist(steps: list[str], words: dict[str, str]) -> str:
    rows = [
        f"| {number} | {step.replace('|', '/')} | [ ] |" for number, step in enumerate(steps, 1)
    ]
    head = [f"# {words['list']}", "", words["read"], ""]
    table = [f"| # | {words['item']} | {words['done']} |", "|---|---|---|", *rows, ""]
    return "\n".join([*head, *table])


def _edits(text: str, document: str) -> dict[str, JsonValue]:
    """Insert the steps into the most similar section, else into one of their own."""
    body = "\n".join(f"- {step}" for step in _steps(text))
    old = _body(document)
    found = [] if has_too_many_lines(old) else headings(old)
    titles = [heading.text for heading in found if heading.level > 1]
    best = max(titles, key=lambda title: likeness(text, title), default="")
    if best and likeness(text, best) >= 0.5 and titles.count(best) == 1:
        return {"edits": [{"op": "insert_section", "heading": best, "text": body}]}
    words = KOREAN if is_korean(text) else ENGLISH
    section = f"## {words['added']}: {_short(_steps(text)[0])}\n\n{body}"
    return {"edits": [{"op": "insert_section", "heading": "", "text": section}]}


def _lead(text: str) -> str:
    """Return the line that announces the steps, without its colon."""
    first = next(iter(clauses(text)), "")
    return _short(first.rstrip(":： ")) if _announces(first) else ""


def _announces(clause: str) -> bool:
    return clause.rstrip().endswith((":", "："))


def _steps(text: str) -> list[str]:
    """Return the steps, without the line that announces them and requests to edit the skill."""
    told = [clause for clause in clauses(text) if not _announces(clause)]
    real = [clause for clause in told if not _asks_for_an_edit(clause)] or told
    parts = [piece for clause in real for piece in _pieces(clause)]
    return parts or [text.strip() or "-"]


def _asks_for_an_edit(clause: str) -> bool:
    is_short = len(letters(clause)) <= 40
    return is_short and has(clause, Cue.SKILL) and (has(clause, Cue.CHANGE) or has(clause, Cue.ADD))


def _pieces(clause: str) -> list[str]:
    """Split a sentence of three or more steps at its commas."""
    head, colon, rest = clause.partition(": ")
    pieces = [piece.strip() for piece in (rest if colon else head).split(", ")]
    return pieces if len(pieces) >= 3 else [clause]


def _short(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= 80 else f"{line[:79]}…"
