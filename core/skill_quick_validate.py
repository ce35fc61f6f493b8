"""Validate a skill folder with nothing but the standard library: here, and as a script in a pod.

    python3 quick_validate.py SKILL_FOLDER

prints a line that begins "Skill is valid" and exits 0, or the reason and exits 1. The rules are
those of the Agent Skills specification that skill-creator checks; the frontmatter is read line by
line, as far as `name` and `description` need it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

VALID = "Skill is valid!"
MAX_NAME = 64
MAX_DESCRIPTION = 1024

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_KEY = re.compile(r"""(?P<key>"[^"]+"|'[^']+'|[^\s#:'"\[\]{}-][^:]*?)\s*:(?:\s+(?P<value>.*))?""")
_BLOCK = re.compile(r"(?P<style>[|>])[-+0-9]*\s*(?:#.*)?")
_QUOTED = re.compile(r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?:#.*)?""")


def validate_skill(skill_path: str | Path) -> tuple[bool, str]:
    """Give (True, "Skill is valid!") or (False, the first rule that is broken)."""
    document = Path(skill_path) / "SKILL.md"
    try:
        text = document.read_bytes().decode("utf-8-sig")
        fields = read_fields(text)
    except OSError:
        return False, "SKILL.md not found"
    except UnicodeDecodeError:
        return False, "SKILL.md is not UTF-8 text"
    except ValueError as error:
        return False, str(error)
    problems = [
        f"Missing '{key}' in frontmatter" for key in ("name", "description") if key not in fields
    ]
    problems += name_problems(fields.get("name", ""))
    problems += description_problems(fields.get("description", ""))
    return (False, problems[0]) if problems else (True, VALID)


def name_problems(name: str) -> list[str]:
    """Give the rules for a skill's name that `name` breaks."""
    problems = []
    if not _NAME.fullmatch(name):
        problems.append(f"Name {name!r} must be hyphen-case: a-z, 0-9 and single hyphens between")
    if len(name) > MAX_NAME:
        problems.append(f"Name has {len(name)} characters, more than {MAX_NAME}")
    return problems


def description_problems(description: str) -> list[str]:
    """Give the rules for a skill's description that `description` breaks."""
    problems = []
    if not description.strip():
        problems.append("Description is empty")
    if "<" in description or ">" in description:
        problems.append("Description must not contain angle brackets (< or >)")
    if len(description) > MAX_DESCRIPTION:
        problems.append(
            f"Description has {len(description)} characters, more than {MAX_DESCRIPTION}"
        )
    return problems


def read_fields(document: str) -> dict[str, str]:
    """Read the frontmatter's top-level keys as text; raises ValueError with the reason."""
    lines = re.split(r"\r\n?|\n", document)
    if lines[0].rstrip() != "---":
        raise ValueError("No YAML frontmatter found: the first line must be ---")
    ends = [number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"]
    if not ends:
        raise ValueError("Frontmatter is not closed by a line of ---")
    fields: dict[str, str] = {}
    for key, value, more in _entries(lines[1 : ends[0]]):
        if key in fields:
            raise ValueError(f"Key '{key}' stands twice in the frontmatter")
        fields[key] = _text_of(key, value, more)
    return fields


def get_quick_validate_script() -> str:
    """Give the text of `quick_validate.py`: this file, so that there is one implementation."""
    return Path(__file__).read_text(encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Validate the folder that is named and say what came of it; gives the exit status."""
    if len(arguments) != 1:
        _say("Usage: quick_validate.py SKILL_FOLDER")
        return 1
    valid, message = validate_skill(arguments[0])
    _say(message)
    return 0 if valid else 1


def _entries(lines: list[str]) -> list[tuple[str, str, list[str]]]:
    """Group lines into (key, what stands behind the colon, the indented lines below)."""
    entries: list[tuple[str, str, list[str]]] = []
    for line in lines:
        if not line.strip() or line[0] in " \t#-":
            if entries and not line.startswith("#"):
                entries[-1][2].append(line)
            continue
        found = _KEY.fullmatch(line)
        if found is None:
            raise ValueError(f"Invalid frontmatter line: {line!r}")
        entries.append((found["key"].strip("\"'"), (found["value"] or "").strip(), []))
    return entries


def _text_of(key: str, value: str, more: list[str]) -> str:
    block = _BLOCK.fullmatch(value)
    if block:
        joint = "\n" if block["style"] == "|" else " "
        return joint.join(line.strip() for line in more).strip()
    folded = " ".join([value, *(line.strip() for line in more)]).strip()
    if folded[:1] in {'"', "'"}:
        return _unquoted(key, folded)
    if key not in {"name", "description"}:
        return folded
    return _plain(key, folded)


def _unquoted(key: str, value: str) -> str:
    found = _QUOTED.fullmatch(value)
    if found is None:
        raise ValueError(f"The quotes of '{key}' are not closed")
    text = found["text"]
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    try:
        return str(json.loads(text, strict=False))
    except ValueError:  # an escape that YAML knows and JSON does not
        return text[1:-1]


def _plain(key: str, value: str) -> str:
    value = re.split(r"\s#", value)[0].rstrip()
    if re.search(r":(?:\s|$)", value):
        raise ValueError(f"'{key}' holds a colon and must be put in quotes")
    if value[:1] in tuple("[]{}&*!%@`"):
        raise ValueError(f"'{key}' must be text; put it in quotes")
    return value


def _say(message: str) -> None:
    # UTF-8 whatever the locale: a pod's may be C.
    sys.stdout.buffer.write(f"{message}\n".encode("utf-8", "replace"))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
