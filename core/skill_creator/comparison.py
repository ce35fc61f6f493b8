"""What comes back from the pod against what was sent in (pure)."""

from __future__ import annotations

import re

from core.errors import StepFailed
from core.models import Bundle
from core.skill_creator.commands import INIT_EXAMPLES

# What packagers leave out by name: caches, system files and, at the root, evaluation sets.
_DROPPED = re.compile(
    r"(?:.*/)?(?:__pycache__|node_modules)/.*|(?:.*/)?\.DS_Store|.*\.pyc|evals/.*"
)


def is_legally_dropped(path: str) -> bool:
    """Tell whether a packager may leave a file out."""
    return _DROPPED.fullmatch(path) is not None


def compared(sent: Bundle, returned: Bundle, base: Bundle | None) -> Bundle:
    """Give the folder that came back, if it is the folder that was sent.

    Executable bits are as they were sent: packagers differ in what they keep. A file that the
    packager may leave out stays where the skill already had it. Raises StepFailed that names
    each file that is missing, extra or changed.
    """
    extra = set(returned.files) - set(sent.files) - set(INIT_EXAMPLES)
    missing = set(sent.files) - set(returned.files)
    changed = {
        path
        for path, file in sent.files.items()
        if path in returned.files and returned.files[path].data != file.data
    }
    problems = [
        f"{what}: {', '.join(sorted(paths))}"
        for what, paths in (
            ("extra", extra),
            ("missing", {path for path in missing if not is_legally_dropped(path)}),
            ("changed", changed),
        )
        if paths
    ]
    if problems:
        raise StepFailed(f"compare: what came back is not what was sent ({'; '.join(problems)})")
    kept = set(base.files) if base else set()
    files = {p: file for p, file in sent.files.items() if p not in missing or p in kept}
    return Bundle(name=sent.name, files=files)
