"""Answers of the pod, framed in-band: servers differ in what they report of a command (pure)."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from core.domain.errors import StepFailed
from core.domain.hashing import sha256
from core.domain.messages import Message, joined
from core.domain.models import Bundle
from core.skills.creator.commands import INIT_EXAMPLES

_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")


@dataclass(frozen=True)
class Frame:
    """The output of one framed command and its exit status; None if its end is missing."""

    name: str
    output: str
    status: int | None


@dataclass(frozen=True)
class Payload:
    """A framed file: its announced length and hash, and what of it has arrived."""

    size: int
    sha256: str
    text: str
    is_whole: bool


def read_frame(text: str, nonce: str, name: str) -> Frame | None:
    """Find a frame anywhere in a server's answer; None if it never began.

    `nonce` is unguessable, so that no file of a skill can forge a frame.
    """
    _, began, rest = _lines(text).partition(f"<<{nonce}:{name}:begin>>")
    if not began:
        return None
    output, ended, after = rest.partition(f"<<{nonce}:{name}:end:")
    status = re.match(r"(\d{1,3})>>", after) if ended else None
    return Frame(name, output.strip("\n"), int(status[1]) if status else None)


def is_framed(text: str, nonce: str) -> bool:
    """Whether anything of a frame has arrived."""
    return f"<<{nonce}:" in text


def is_cut_off(text: str, nonce: str) -> bool:
    """Whether a framed answer lacks a part that must be present, apart from the file."""
    for name in ("quick_validate", "package_skill"):
        frame = read_frame(text, nonce, name)
        if frame is None or frame.status is None:
            return True
        if frame.status:
            return False
    return read_payload(text, nonce) is None


def read_payload(text: str, nonce: str) -> Payload | None:
    """Find the framed file; None if it never began."""
    pattern = rf"<<{re.escape(nonce)}:zip:(\d+):([0-9a-f]{{64}})>>"
    began = re.search(pattern, text)
    if began is None:
        return None
    body, ended, _ = text[began.end() :].partition(f"<<{nonce}:zip:end>>")
    return Payload(int(began[1]), began[2], body, bool(ended))


def decode(payload: Payload) -> bytes | None:
    """Return the framed file's bytes; None if they are cut off, or not what was announced."""
    data = decode_base64(payload.text) if payload.is_whole else None
    if data is None or len(data) != payload.size:
        return None
    return data if sha256(data) == payload.sha256 else None


def decode_base64(text: str) -> bytes | None:
    """Decode base64 with any white space in it; None if it contains anything else.

    Nothing is repaired: a missing character would produce other bytes, not an error.
    """
    packed = "".join(text.split())
    if len(packed) % 4 or not _BASE64.fullmatch(packed):
        return None
    try:
        data = base64.b64decode(packed, validate=True)
    except binascii.Error:
        return None
    return data if base64.b64encode(data).decode("ascii") == packed else None


def unframed_base64(text: str) -> bytes | None:
    """Decode an answer that arrived without frames: its longest run of base64 lines, if any."""
    runs = re.findall(r"(?:^[A-Za-z0-9+/]+={0,2}[ \t]*\r?$\n?)+", text, re.MULTILINE)
    return decode_base64(max(runs, key=len)) if runs else None


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


# What packagers omit by name: caches, system files and, at the root, evaluation sets.
_DROPPED = re.compile(
    r"(?:.*/)?(?:__pycache__|node_modules)/.*|(?:.*/)?\.DS_Store|.*\.pyc|evals/.*"
)


def is_legally_dropped(path: str) -> bool:
    """Whether a packager may omit a file."""
    return _DROPPED.fullmatch(path) is not None


def compared(sent: Bundle, returned: Bundle, base: Bundle | None) -> Bundle:
    """Return the folder that came back, if it is the folder that was sent.

    Executable bits are those sent: packagers differ in what they preserve. A file that the packager
    may omit stays as the skill had it. Raises StepFailed that names each file that is missing,
    extra or changed.
    """
    extra = set(returned.files) - set(sent.files) - set(INIT_EXAMPLES)
    missing = set(sent.files) - set(returned.files)
    changed = {
        path
        for path, file in sent.files.items()
        if path in returned.files and returned.files[path].data != file.data
    }
    problems = [
        Message("pod.difference", what=what, paths=", ".join(sorted(paths)))
        for what, paths in (
            (Message("pod.extra"), extra),
            (Message("pod.missing"), {path for path in missing if not is_legally_dropped(path)}),
            (Message("pod.changed"), changed),
        )
        if paths
    ]
    if problems:
        raise StepFailed(Message("pod.compared", problems=joined(problems)))
    existing = set(base.files) if base else set()
    files = {p: file for p, file in sent.files.items() if p not in missing or p in existing}
    return Bundle(name=sent.name, files=files)
