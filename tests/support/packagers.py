"""A packaging script of our own for tests, in either skill-creator layout's import style."""

from __future__ import annotations

OLDER = "from quick_validate import validate_skill"
NEWER = "from scripts.quick_validate import validate_skill"


def package_skill(imports: str, *, then: str = "") -> str:
    """Return a package_skill.py; `then` is code that runs on the zip's path afterwards."""
    return f"""
import os
import sys
import zipfile

{imports}


def package_skill(folder, out):
    ok, message = validate_skill(folder)
    if not ok:
        print("refused:", message)
        return 1
    name = os.path.basename(folder.rstrip("/"))
    target = os.path.join(out, name + ".skill")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for root, _, files in os.walk(folder):
            for file in sorted(files):
                path = os.path.join(root, file)
                archive.write(path, os.path.join(name, os.path.relpath(path, folder)))
    {then or "pass"}
    print("packaged", target)
    return 0


sys.exit(package_skill(sys.argv[1], sys.argv[2]))
"""


INIT = """
import os
import sys


def init_skill(name, path):
    for sub in ("scripts/example.py", "references/api_reference.md", "assets/example_asset.txt"):
        target = os.path.join(path, name, sub)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w") as file:
            file.write("example")
    with open(os.path.join(path, name, "SKILL.md"), "w") as file:
        file.write("to be written")


init_skill(sys.argv[1], sys.argv[3])
"""
