"""Pods whose server alters the answers of `run_shell`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from core.domain.models import ShellResult
from core.domain.ports import Pod, Pods


def noise(size: int) -> bytes:
    """Return incompressible bytes, the same each time."""
    blocks = (hashlib.sha256(str(n).encode()).digest() for n in range(size // 32 + 1))
    return b"".join(blocks)[:size]


@dataclass
class _Changed:
    pod: Pod
    owner: Truncating | Unframed

    async def create_file(self, path: str, content: str) -> None:
        await self.pod.create_file(path, content)

    async def delete_file(self, path: str) -> None:
        await self.pod.delete_file(path)

    async def run_shell(self, command: str) -> ShellResult:
        result = await self.pod.run_shell(command)
        return result.model_copy(update={"stdout": self.owner.changed(result.stdout)})


@dataclass
class Truncating:
    """A server that passes on only the first, the last, or the outer `limit` characters.

    It says so in a `notice`; if it `keeps` "none", it answers with the notice instead.
    """

    pods: Pods
    limit: int
    keeps: str
    notice: str = ""

    def changed(self, text: str) -> str:
        if len(text) <= self.limit:
            return text
        half = self.limit // 2
        return {
            "head": text[: self.limit] + self.notice,
            "tail": self.notice + text[-self.limit :],
            "ends": text[:half] + self.notice + text[-half:],
            "none": self.notice,
        }[self.keeps]

    @asynccontextmanager
    async def open(self, *, ttl: int) -> AsyncIterator[Pod]:
        async with self.pods.open(ttl=ttl) as pod:
            yield _Changed(pod, self)


@dataclass
class Lying(Truncating):
    """A server that truncates answers, and returns other bytes of that length when asked again."""

    def changed(self, text: str) -> str:
        ranged = re.fullmatch(r"(?s)(.*:range:begin>>\n)(\S)(.*)", text)
        if ranged is None:
            return super().changed(text)
        other = "B" if ranged[2] == "A" else "A"
        return f"{ranged[1]}{other}{ranged[3]}"


@dataclass
class Unframed:
    """A server that drops every line that looks like markup."""

    pods: Pods

    def changed(self, text: str) -> str:
        return re.sub(r"(?m)^<<.*>>$\n?", "", text)

    @asynccontextmanager
    async def open(self, *, ttl: int) -> AsyncIterator[Pod]:
        async with self.pods.open(ttl=ttl) as pod:
            yield _Changed(pod, self)
