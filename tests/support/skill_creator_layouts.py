"""Both upstream layouts of skill-creator, in our own words: document path -> text."""

from __future__ import annotations

import textwrap

OLDER_IMPORT = "from quick_validate import validate_skill"
NEWER_IMPORT = "from scripts.quick_validate import validate_skill"


def older_layout() -> dict[str, str]:
    """Return the layout with `init_skill.py`, whose scripts lie beside each other."""
    return {
        "SKILL.md": _DOCUMENT,
        "scripts/init_skill.py": _INIT,
        "scripts/package_skill.py": _packager(OLDER_IMPORT),
        "scripts/quick_validate.py": _validator(with_yaml=False),
    }


def newer_layout() -> dict[str, str]:
    """Return the layout without `init_skill.py`: `scripts` is a package, validation needs YAML."""
    return {
        "SKILL.md": _DOCUMENT,
        "scripts/__init__.py": "",
        "scripts/package_skill.py": _packager(NEWER_IMPORT),
        "scripts/quick_validate.py": _validator(with_yaml=True),
    }


LAYOUTS = {"older": older_layout, "newer": newer_layout}

_DOCUMENT = textwrap.dedent(
    """\
    ---
    name: skill-creator
    description: Stands in for the published skill in tests.
    ---

    # Skill creator
    """
)

_INIT = textwrap.dedent(
    '''\
    #!/usr/bin/env python3
    """init_skill.py NAME --path DIR"""
    import sys
    from pathlib import Path


    def init_skill(skill_name, path):
        folder = Path(path) / skill_name
        if folder.exists():
            print("❌ Error: the folder is there already:", folder)
            return None
        examples = "scripts/example.py references/api_reference.md assets/example_asset.txt"
        for name in examples.split():
            file = folder / name
            file.parent.mkdir(parents=True)
            file.write_text("an example\\n")
        (folder / "SKILL.md").write_text("---\\nname: %s\\ndescription: TODO\\n---\\n" % skill_name)
        print("✅ Made", folder)
        return folder


    if __name__ == "__main__":
        if len(sys.argv) != 4 or sys.argv[2] != "--path":
            print("Usage: init_skill.py NAME --path DIR")
            sys.exit(1)
        sys.exit(0 if init_skill(sys.argv[1], sys.argv[3]) else 1)
    '''
)


def _packager(imports: str) -> str:
    return _PACKAGER.replace("IMPORTS", imports)


def _validator(*, with_yaml: bool) -> str:
    return _VALIDATOR.replace("IMPORTS", "import yaml" if with_yaml else "yaml = None")


_PACKAGER = textwrap.dedent(
    '''\
    #!/usr/bin/env python3
    """package_skill.py FOLDER [OUTPUT]"""
    import sys
    import zipfile
    from pathlib import Path

    IMPORTS


    def package_skill(skill_path, output_dir=None):
        folder = Path(skill_path).resolve()
        if not (folder / "SKILL.md").exists():
            print("❌ Error: no SKILL.md in", folder)
            return None
        valid, message = validate_skill(folder)
        if not valid:
            print("❌ Validation failed:", message)
            return None
        print("✅", message)
        target = Path(output_dir or ".").resolve() / (folder.name + ".skill")
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as package:
            for file in folder.rglob("*"):
                if file.is_file() and "__pycache__" not in file.parts:
                    package.write(file, file.relative_to(folder.parent))
                    print("  Added:", file.relative_to(folder.parent))
        print("✅ Packaged to", target)
        return target


    if __name__ == "__main__":
        if len(sys.argv) < 2:
            print("Usage: package_skill.py FOLDER [OUTPUT]")
            sys.exit(1)
        sys.exit(0 if package_skill(*sys.argv[1:3]) else 1)
    '''
)

_VALIDATOR = textwrap.dedent(
    '''\
    #!/usr/bin/env python3
    """quick_validate.py FOLDER"""
    import sys
    from pathlib import Path

    IMPORTS


    def validate_skill(skill_path):
        text = (Path(skill_path) / "SKILL.md").read_text(encoding="utf-8")
        if not text.startswith("---\\n") or "\\n---" not in text[4:]:
            return False, "Invalid frontmatter format"
        head = text[4:].split("\\n---")[0]
        fields = yaml.safe_load(head) if yaml else dict(
            line.split(": ", 1) for line in head.splitlines() if ": " in line
        )
        missing = [key for key in ("name", "description") if not fields.get(key)]
        return (False, "Missing %s" % missing[0]) if missing else (True, "Skill is valid!")


    if __name__ == "__main__":
        valid, message = validate_skill(sys.argv[1])
        print(message)
        sys.exit(0 if valid else 1)
    '''
)
