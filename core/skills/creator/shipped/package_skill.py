"""Validate the folder of a skill and put it into one file, NAME.skill, which is a zip.

    python3 package_skill.py SKILL_FOLDER [OUTPUT_FOLDER]

The same folder gives the same bytes: files are in order, and carry one date.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from quick_validate import validate_skill  # type: ignore[import-not-found]

LEFT_OUT_FOLDERS = {"__pycache__", "node_modules", ".git"}
LEFT_OUT_FILES = {".DS_Store"}
LEFT_OUT_SUFFIXES = {".pyc"}
DATE = (1980, 1, 1, 0, 0, 0)


def package_skill(skill_path: str, output_dir: str | None = None) -> Path | None:
    """Return the path of the package, or None if there is none."""
    folder = Path(skill_path).resolve()
    if not folder.is_dir():
        say(f"Error: there is no folder {folder}")
        return None
    is_valid, message = validate_skill(folder)
    if not is_valid:
        say(f"Error: the skill is not valid: {message}")
        return None
    say(message)
    target = Path(output_dir or ".").resolve() / f"{folder.name}.skill"
    partial = target.with_name(f"{target.name}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_zip(folder, partial, target)
        os.replace(partial, target)
    except (OSError, ValueError) as error:
        say(f"Error: {target} cannot be written: {error}")
        return None
    say(f"Packaged to {target}")
    return target


def write_zip(folder: Path, target: Path, final: Path) -> None:
    """Write all files but those left out, in one folder named as the skill."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as package:
        for file in files_of(folder):
            if file in {target, final}:
                continue
            name = f"{folder.name}/{file.relative_to(folder).as_posix()}"
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            is_program = file.stat().st_mode & 0o100
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            package.writestr(entry, file.read_bytes())
            say(f"Added {name}")


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the regular files that belong in a package, in order."""
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder).parts
        if path.is_symlink():
            raise ValueError(f"{path} is a link")
        if not path.is_file() or LEFT_OUT_FOLDERS.intersection(inner[:-1]):
            continue
        if path.name not in LEFT_OUT_FILES and path.suffix not in LEFT_OUT_SUFFIXES:
            yield path


def say(message: str) -> None:
    """Print as UTF-8, whatever the locale."""
    sys.stdout.buffer.write(f"{message}\n".encode("utf-8", "replace"))
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Package the named folder and return the exit status."""
    if len(arguments) not in {1, 2}:
        say("Usage: package_skill.py SKILL_FOLDER [OUTPUT_FOLDER]")
        return 1
    return 0 if package_skill(*arguments) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
