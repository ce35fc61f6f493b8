"""Make the folder of a new skill, with a document to fill in and an example of each kind of file.

python3 init_skill.py NAME --path DIR
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

MAX_NAME = 64
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")

DOCUMENT = """\
---
name: {name}
description: "TODO: say what the skill does, and in which situations it is to be used."
---

# {title}

## Overview

TODO: one or two sentences about what this skill makes possible.

## Steps

1. TODO: the first step.

## Files

- `scripts/` holds programs to run. Delete what is not needed.
- `references/` holds texts to read when a step asks for them.
- `assets/` holds files that go into the result.
"""

SCRIPT = '''\
#!/usr/bin/env python3
"""TODO: say what this script of {name} does, and how it is called."""

import sys


def main() -> int:
    print("{name}: replace this example, or delete it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''

REFERENCE = """\
# Reference for {title}

TODO: details that only some steps need: interfaces, tables, policies. Say at the top when to read
this page. Delete it where there is nothing of the kind.
"""

ASSET = "TODO: a template, an image or other material for the result. Delete it if unused.\n"

FILES = {
    "SKILL.md": DOCUMENT,
    "scripts/example.py": SCRIPT,
    "references/api_reference.md": REFERENCE,
    "assets/example_asset.txt": ASSET,
}


def init_skill(skill_name: str, path: str) -> Path | None:
    """Create the folder `path`/`skill_name` and return it, or None if that fails."""
    if not NAME.fullmatch(skill_name) or len(skill_name) > MAX_NAME:
        say(f"Error: {skill_name!r} is no name of a skill: a-z, 0-9, single hyphens, at most 64")
        return None
    folder = Path(path).resolve() / skill_name
    try:
        folder.mkdir(parents=True)
        for name, text in FILES.items():
            write(folder / name, skill_name, text)
    except OSError as error:
        say(f"Error: {folder} cannot be made: {error.strerror}")
        return None
    say(f"Skill '{skill_name}' is ready to be written in {folder}")
    return folder


def write(file: Path, skill_name: str, text: str) -> None:
    """Fill in a template and report it."""
    file.parent.mkdir(exist_ok=True)
    title = skill_name.replace("-", " ").capitalize()
    content = text.replace("{name}", skill_name).replace("{title}", title)
    file.write_bytes(content.encode("utf-8"))
    if file.suffix == ".py":
        file.chmod(0o755)
    say(f"Created {file}")


def say(message: str) -> None:
    """Print as UTF-8, whatever the locale."""
    sys.stdout.buffer.write(f"{message}\n".encode("utf-8", "replace"))
    sys.stdout.flush()


def main() -> int:
    """Run with the arguments of the command line and return the exit status."""
    parser = argparse.ArgumentParser(description="Make the folder of a new skill.")
    parser.add_argument("name", help="a-z, 0-9 and single hyphens between")
    parser.add_argument("--path", required=True, help="the folder to make it in")
    arguments = parser.parse_args()
    return 0 if init_skill(arguments.name, arguments.path) else 1


if __name__ == "__main__":
    sys.exit(main())
