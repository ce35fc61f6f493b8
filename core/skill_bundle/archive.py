"""Read a skill out of a zip, strictly: every reader of the zip would see the same files."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from core.errors import BundleInvalid
from core.models import SKILL_MD, Bundle, SkillFile
from core.skill_bundle.entries import is_folder, locate, name_of, read, see_kind
from core.skill_bundle.files import check_path, is_text
from core.skill_bundle.layout import Entry, read_directory
from core.skill_rules.paths import MAX_BUNDLE_BYTES, MAX_FILE_BYTES, folder_problems
from core.skill_rules.problems import shown

ZipData = bytes | bytearray | memoryview


def zip_to_bundle(data: ZipData, name: str, *, root: bool | None = None) -> Bundle:
    """Read a zip that holds the skill `name`.

    With `root` SKILL.md must stand at the zip's root, as in an upload; with False all must be
    under one `<name>/` folder, as in a `.skill` file; None takes either.
    Raises BundleInvalid, which names the rule that was broken and where.
    """
    with memoryview(data) as view:
        return _read(view, unicodedata.normalize("NFC", name), root)


def read_zip(data: ZipData) -> Bundle:
    """Read a `.skill` file, whose one folder gives the skill's name. Raises BundleInvalid."""
    with memoryview(data) as view:
        return _read(view, None, False)


def _read(data: memoryview, name: str | None, root: bool | None) -> Bundle:
    directory = read_directory(data)
    names = _names(directory.entries)
    prefix = _prefix(names, name, root)
    inside = {entry: _inside(path, prefix) for entry, path in names.items()}
    _see_structure(inside)
    places = locate(data, directory)
    try:
        files = dict(_files(inside, places))
    finally:
        for place in places.values():
            place.release()
    if not is_text(files[SKILL_MD].data):
        raise BundleInvalid(f"{SKILL_MD} is not UTF-8 text")
    return Bundle(name=prefix.removesuffix("/") or name or "", files=files)


def _names(entries: tuple[Entry, ...]) -> dict[Entry, str]:
    names: dict[Entry, str] = {}
    seen: set[str] = set()
    for entry in entries:
        see_kind(entry)
        path = unicodedata.normalize("NFC", name_of(entry))
        if path in seen:
            raise BundleInvalid(f"the zip holds {shown(path)} twice")
        seen.add(path)
        names[entry] = path
    return names


def _prefix(names: dict[Entry, str], name: str | None, root: bool | None) -> str:
    """The folder that holds the skill, with its slash; empty where SKILL.md is at the root."""
    paths = set(names.values())
    if root is not False and SKILL_MD in paths:
        return ""
    if name is None:
        tops = (path.split("/")[0] for path in sorted(paths) if path.endswith(f"/{SKILL_MD}"))
        name = next(tops, "")
        check_path(name or "no-folder")
    prefix = f"{name}/"
    where = f"at its root or under {prefix}" if root is None else f"under {prefix}"
    if root or f"{prefix}{SKILL_MD}" not in paths:
        raise BundleInvalid(f"the zip has no {SKILL_MD} {'at its root' if root else where}")
    return prefix


def _inside(path: str, prefix: str) -> str:
    if not path.startswith(prefix):
        raise BundleInvalid(f"{shown(path)} is outside the folder {prefix}")
    return path.removeprefix(prefix)


def _see_structure(inside: dict[Entry, str]) -> None:
    """See to all rules of paths before anything is read; sizes are counted later, on real bytes."""
    sizes = {path: 0 for entry, path in inside.items() if not is_folder(entry)}
    folders = [path.removesuffix("/") for entry, path in inside.items() if is_folder(entry)]
    folders = [folder for folder in folders if folder]
    for folder in folders:
        check_path(folder)
    for problem in folder_problems(sizes, folders):
        raise BundleInvalid(problem.message, hint=problem.hint)


def _files(
    inside: dict[Entry, str], places: dict[Entry, memoryview]
) -> Iterator[tuple[str, SkillFile]]:
    budget = MAX_BUNDLE_BYTES
    for entry, path in inside.items():
        if is_folder(entry):
            read(entry, places[entry], 0)
            continue
        file = read(entry, places[entry], min(MAX_FILE_BYTES, budget))
        budget -= len(file.data)
        yield path, file
