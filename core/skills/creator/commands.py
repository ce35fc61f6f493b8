"""The shell commands that run in the pod, each path and name quoted (pure)."""

from __future__ import annotations

import ast
import asyncio
import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from shlex import quote

from core.domain.errors import StepFailed
from core.domain.hashing import sha256
from core.domain.messages import Message, joined
from core.domain.models import Bundle
from core.domain.ports import SkillDocuments
from core.skills.creator.shipped import init_skill_script
from core.skills.validation.check import get_quick_validate_script

SKILL = "skill-creator"
# How the newer layout finds quick_validate; Python searches the work folder first.
_NEWER = "from quick_validate import validate_skill  # noqa: F401\n"
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")


async def read_scripts(
    documents: SkillDocuments, *, with_init: bool, base: Bundle | None = None
) -> dict[str, str]:
    """Return the files of the work folder: relative path -> text.

    quick_validate is ours, and only warns of what the skill already broke as `base`; package_skill
    is the server's; init_skill is the server's or, if the server says that it has none, ours. Both
    layouts of skill-creator find quick_validate: the older one beside the packager, the newer one
    in the package `scripts`. Raises StepFailed, McpDown.
    """
    package, init = await asyncio.gather(
        documents.read(SKILL, "scripts/package_skill.py"),
        documents.read(SKILL, "scripts/init_skill.py") if with_init else _nothing(),
    )
    if package is None:
        raise StepFailed(Message("pod.no_packager"))
    scripts = {
        "quick_validate.py": get_quick_validate_script(base),
        "scripts/__init__.py": "",
        "scripts/quick_validate.py": _NEWER,
        "package_skill.py": _script(package, "package_skill"),
    }
    if with_init:
        scripts["init_skill.py"] = _script(init or init_skill_script(), "init_skill")
    return scripts


def _script(text: str, function: str) -> str:
    """Return the text if it is a Python script that defines `function`. Raises StepFailed."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise StepFailed(Message("pod.no_script", function=function, why=error)) from error
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if function not in defined:
        raise StepFailed(Message("pod.no_function", function=function))
    return text


async def _nothing() -> None:
    return None


WORK = "/tmp/skill_work"  # noqa: S108 - a path in the pod, not on this machine
POD_ROOT = "/tmp"  # noqa: S108
INIT_EXAMPLES = ("scripts/example.py", "references/api_reference.md", "assets/example_asset.txt")
CHUNK_BYTES = 60_000  # Linux limits one argument of a command to 128 KiB
BRIEF_BYTES = 160  # of an output, where the server cuts answers off
# Scripts read and write UTF-8 whatever the pod's locale is.
_UTF8 = "export PYTHONUTF8=1 PYTHONIOENCODING=utf-8 PYTHONDONTWRITEBYTECODE=1"
_ENTER = f"{_UTF8}\ncd {WORK} || exit 97"
_PYTHON = "python3 -I -S"  # for scripts that need no package: it starts in a third of the time
_SEND = (
    "import base64, hashlib, sys\n"
    "data = open(sys.argv[1], 'rb').read()\n"
    "print('<<%s:zip:%d:%s>>' % (sys.argv[2], len(data), hashlib.sha256(data).hexdigest()))\n"
    "sys.stdout.write(base64.encodebytes(data).decode('ascii'))\n"
    "print('<<%s:zip:end>>' % sys.argv[2])\n"
)
_ANNOUNCE = _SEND.replace("base64.encodebytes(data)", "b''")
_SEND_RANGE = (
    "import base64, sys\n"
    "with open(sys.argv[1], 'rb') as file:\n"
    "    file.seek(int(sys.argv[3]))\n"
    "    data = file.read(int(sys.argv[4]))\n"
    "print('<<%s:range:begin>>' % sys.argv[2])\n"
    "sys.stdout.write(base64.encodebytes(data).decode('ascii'))\n"
    "print('<<%s:range:end:0>>' % sys.argv[2])\n"
)


def folder(name: str) -> str:
    """Return the folder in which a skill is built."""
    return f"{POD_ROOT}/{name}"


def make_folders(name: str) -> str:
    """Return the command that creates the folder of an existing skill."""
    parts = " ".join(quote(f"{folder(name)}/{sub}") for sub in ("scripts", "references", "assets"))
    return f"mkdir -p {parts}"


def init_skill(name: str, nonce: str) -> str:
    """Return the framed command that runs init_skill for a new skill."""
    command = f"python3 init_skill.py {quote(name)} --path {POD_ROOT}"
    return f"{_ENTER}\n{_framed('init_skill', command, nonce)}"


def write_binary(path: str, data: bytes) -> list[str]:
    """Return the commands that write a binary file, as many as its size requires."""
    target = quote(path)
    commands = [f"mkdir -p {quote(path.rpartition('/')[0])} && : > {target}"]
    for start in range(0, len(data), CHUNK_BYTES):
        piece = base64.b64encode(data[start : start + CHUNK_BYTES]).decode("ascii")
        commands.append(f"printf %s {piece} | base64 -d >> {target}")
    return commands


def make_executable(paths: Iterable[str]) -> str:
    """Return the command that sets the executable bit."""
    return "chmod +x " + " ".join(map(quote, paths))


def validate_package_send(name: str, executable: Iterable[str], nonce: str) -> str:
    """Return one command that validates, packages and sends, framed; a failure ends it."""
    paths = [f"{folder(name)}/{path}" for path in executable]
    first = make_executable(paths) if paths else ":"
    return (
        f"{_ENTER}\n{first}\n{_validate(name, nonce)}\n"
        f'[ "$status" -eq 0 ] || exit 0\n{_package(name, nonce)}\n'
        f'[ "$status" -eq 0 ] || exit 0\n{_send(name, nonce, _SEND)}'
    )


def outcome_again(step: str, nonce: str) -> str:
    """Return the command that prints the frame of a step that has run, with the end of its output.

    It runs nothing again, and its answer has at most BRIEF_BYTES and the frame.
    """
    return f"cd {WORK} || exit 97\n{_outcome(step, f'tail -c {BRIEF_BYTES}', nonce)}"


def announce(name: str, nonce: str) -> str:
    """Return the command that prints the length and hash of the zip, which is sent in ranges."""
    return _send(name, nonce, _ANNOUNCE)


def send_range(name: str, nonce: str, start: int, size: int) -> str:
    """Return the command that prints `size` bytes of the zip from `start` as framed base64."""
    return f"{_PYTHON} -c {quote(_SEND_RANGE)} {quote(_zip(name))} {nonce} {start} {size}"


def _zip(name: str) -> str:
    return f"{POD_ROOT}/{name}.skill"


def _validate(name: str, nonce: str) -> str:
    return _framed("quick_validate", f"python3 quick_validate.py {quote(folder(name))}", nonce)


def _package(name: str, nonce: str) -> str:
    command = f"python3 package_skill.py {quote(folder(name))} {POD_ROOT}"
    return _framed("package_skill", command, nonce)


def _send(name: str, nonce: str, script: str) -> str:
    return f"{_PYTHON} -c {quote(script)} {quote(_zip(name))} {nonce}"


def _framed(name: str, command: str, nonce: str) -> str:
    # Kept in files, so that an answer that was cut off can be asked for again.
    return (
        f'{command} > {name}.out 2>&1\nstatus=$?\necho "$status" > {name}.status\n'
        f"{_outcome(name, 'cat', nonce)}"
    )


def _outcome(name: str, show: str, nonce: str) -> str:
    # printf assembles the frame, so that a server that echoes commands forges none.
    return (
        f"printf '<<%s:{name}:begin>>\\n' {nonce}\n{show} {name}.out\n"
        f"printf '\\n<<%s:{name}:end:%s>>\\n' {nonce} \"$(cat {name}.status)\""
    )


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
