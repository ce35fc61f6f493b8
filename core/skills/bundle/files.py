"""Hashes of a skill's files, and the rules of structure as texts."""

from __future__ import annotations

from core.domain.errors import BundleInvalid
from core.domain.hashing import sha256, state_hash
from core.domain.models import SKILL_MD, Bundle, FileRef, SkillFile, Snapshot
from core.skills.validation.paths import folder_problems, path_problems


def file_hash(file: SkillFile) -> str:
    """SHA-256 of the file's bytes, in hex."""
    return sha256(file.data)


def file_ref(file: SkillFile) -> FileRef:
    """The reference under which a file's bytes are stored as a blob."""
    return FileRef(sha256=file_hash(file), size=len(file.data), executable=file.executable)


def file_refs(bundle: Bundle) -> dict[str, FileRef]:
    """The references of all files, by path."""
    return {path: file_ref(file) for path, file in bundle.files.items()}


def bundle_hash(bundle: Bundle) -> str:
    """SHA-256 (hex) over path, executable bit and content of each file: what If-Match carries."""
    return state_hash(Snapshot(content="", name=bundle.name, files=file_refs(bundle)))


def is_script(path: str, data: bytes) -> bool:
    """Tell whether the file is to be executable: under `scripts/` and with a shebang."""
    return path.startswith("scripts/") and data.startswith(b"#!")


def is_text(data: bytes) -> bool:
    """Tell whether `data` is UTF-8 text."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def check_path(path: str) -> None:
    """Check that `path` is a safe, portable, relative POSIX path in NFC.

    Raises BundleInvalid, which names the path and the rule.
    """
    for problem in path_problems(path):
        raise BundleInvalid(problem.message, hint=problem.hint)


def check_bundle(bundle: Bundle) -> list[str]:
    """Give the rules of structure and size that the folder breaks; empty when it is sound.

    What SKILL.md says is judged by `skills.validation`.
    """
    sizes = {path: len(file.data) for path, file in bundle.files.items()}
    document = bundle.files.get(SKILL_MD)
    said = [problem.message for problem in folder_problems(sizes)]
    if document is None:
        return [*said, f"there is no {SKILL_MD} at the root"]
    return said if is_text(document.data) else [*said, f"{SKILL_MD} is not UTF-8 text"]


def sound(bundle: Bundle) -> Bundle:
    """Give the bundle back. Raises BundleInvalid with all the rules of structure that it breaks."""
    if problems := check_bundle(bundle):
        raise BundleInvalid("; ".join(problems))
    return bundle
