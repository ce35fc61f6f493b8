"""Hashes of a skill's files, and its broken structural rules as texts."""

from __future__ import annotations

from core.domain.errors import BundleInvalid
from core.domain.hashing import sha256, state_hash
from core.domain.messages import joined
from core.domain.models import SKILL_MD, Bundle, FileRef, SkillFile, Snapshot
from core.skills.validation.paths import folder_problems, path_problems


def file_hash(file: SkillFile) -> str:
    """Return the SHA-256 of the file's bytes, in hex."""
    return sha256(file.data)


def file_ref(file: SkillFile) -> FileRef:
    """Return the reference under which a file's bytes are stored as a blob."""
    return FileRef(sha256=file_hash(file), size=len(file.data), executable=file.executable)


def file_refs(bundle: Bundle) -> dict[str, FileRef]:
    """Return the references of all files, by path."""
    return {path: file_ref(file) for path, file in bundle.files.items()}


def bundle_hash(bundle: Bundle) -> str:
    """Return the SHA-256 (hex) over path, executable bit and content of each file, for If-Match."""
    return state_hash(Snapshot(content="", name=bundle.name, files=file_refs(bundle)))


def is_script(path: str, data: bytes) -> bool:
    """Whether the file should be executable: under `scripts/` and with a shebang."""
    return path.startswith("scripts/") and data.startswith(b"#!")


def is_text(data: bytes) -> bool:
    """Whether `data` is UTF-8 text."""
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
    """Return the rules of structure and size that the folder breaks; empty if it is sound.

    The content of SKILL.md is checked by `skills.validation`.
    """
    sizes = {path: len(file.data) for path, file in bundle.files.items()}
    document = bundle.files.get(SKILL_MD)
    messages = [problem.message for problem in folder_problems(sizes)]
    if document is None:
        return [*messages, f"there is no {SKILL_MD} at the root"]
    return messages if is_text(document.data) else [*messages, f"{SKILL_MD} is not UTF-8 text"]


def sound(bundle: Bundle) -> Bundle:
    """Return the bundle. Raises BundleInvalid with all the structural rules that it breaks."""
    if problems := check_bundle(bundle):
        raise BundleInvalid(joined(problems))
    return bundle
