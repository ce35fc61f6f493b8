"""Skills for tests of the validator: sound ones, and some that break each rule."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from core.domain.models import SKILL_MD, Bundle, SkillFile

NAMES = (
    "refund",
    "refund-sum",
    "a" * 64,
    "x; touch y",
    "../up",
    "-flag",
    "a--b",
    "a" * 65,
    "환불",
    "Refund",
    "con",
    "claude-helper",
    "",
    "yes",
    "12",
)
DESCRIPTIONS = (
    "Reconciles partial refunds",
    "부분 환불을 맞춥니다",
    '"colon: and # hash"',
    "'it''s'",
    ">-\n  folded\n  lines",
    "|\n  kept\n  lines",
    "\n  two\n  lines",
    "colon: bare",
    "tail #comment",
    "use <b>",
    "",
    "[a, list]",
    "{a: map}",
    '"open',
    "가" * 1024,
    "가" * 1025,
    '"zero\u200bwidth"',
    "*alias",
    "&anchor x",
    "!tag x",
    '"\\u0041\\x42"',
    '"\\q"',
)
EXTRAS = (
    "",
    "model: opus\n",
    "allowed-tools:\n- Bash(git:*)\n- Read\n",
    "allowed-tools: [Bash, 'Read']\n",
    "metadata:\n  author: kim\n  tags: [a, b]\n",
    "metadata:\n  a: 1\n  a: 2\n",
    "hooks:\n  PostToolUse:\n    - matcher: Write\n      hooks: [{type: command, run: x}]\n",
    "paths: ['**/*.py']\n# a comment\n",
    "name: twice\n",
    "what is this\n",
    "\tx: y\n",
    "<<: {a: b}\n",
    f"compatibility: {'x' * 501}\n",
)
PATHS = (
    (),
    ("references/guide.md", "scripts/run.py"),
    ("references/환불 규정.md",),
    ("skill.md",),
    ("a/SKILL.md",),
    (".git/config",),
    ("con",),
    ("what?.md",),
    ("trailing.",),
    ("A/x", "a/y"),
    ("/".join("d" * 17),),
)
WHOLE = (
    b"",
    b"# no head\n",
    b"---\nname: a\n",
    b"---\n---\n",
    b"---\n- a\n---\n",
    b"\xff",
    b"\xef\xbb\xbf---\r\nname: refund\r\ndescription: d\r\n---\r\nbody\r\n",
    b"---\nname: refund\ndescription: d\n---\n" + b"line\n" * 600,
    b"---\nname: refund\ndescription: d\x07\n---\n",
    b"---\rname: refund\rdescription: d\r---\r",
)


def made_skills(count: int, seed: int) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """Yield `count` skills as the bytes of SKILL.md and the paths of further files."""
    yield from ((document, ()) for document in WHOLE)
    yield from ((_document("refund", "d", ""), paths) for paths in PATHS)
    yield from ((_document(name, "d", ""), ()) for name in NAMES)
    yield from ((_document("refund", text, ""), ()) for text in DESCRIPTIONS)
    yield from ((_document("refund", "d", extra), ()) for extra in EXTRAS)
    rest = list(itertools.product(NAMES[:4], DESCRIPTIONS, EXTRAS, PATHS[:4]))
    random.Random(seed).shuffle(rest)
    for name, text, extra, paths in rest[: count - 71]:
        yield _document(name, text, extra), paths


def put(folder: Path, document: bytes, paths: tuple[str, ...] = ()) -> Path:
    """Write a skill to disk."""
    folder.mkdir(parents=True)
    (folder / SKILL_MD).write_bytes(document)
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"text")
    return folder


def in_memory(name: str, document: bytes, paths: tuple[str, ...] = ()) -> Bundle:
    """The same skill as a bundle."""
    files = {path: SkillFile(data=b"text") for path in paths}
    return Bundle(name=name, files={SKILL_MD: SkillFile(data=document), **files})


def _document(name: str, description: str, extra: str) -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n{extra}---\n\nbody\n".encode()
