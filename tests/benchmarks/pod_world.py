"""What the benchmark of the pod path works with: servers as in production, a skill of 40 files."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from core.domain.models import SKILL_MD, Bundle, SkillFile

NAME = "monthly-closing"
FILES = 40
PARAGRAPH = "이 절차는 월말에 대사하고, 차이가 나면 사유를 적는다. Reconcile, then explain.\n"


def skill(number: int) -> Bundle:
    """Return a skill of 40 text files, about 2 kB each; each `number` yields another name."""
    name = f"{NAME}-{number}"
    head = f"---\nname: {name}\ndescription: 월말 결산을 대사한다\n---\n\n# 결산\n\n"
    files = {SKILL_MD: SkillFile(data=(head + PARAGRAPH * 20).encode())}
    for n in range(FILES - 1):
        text = f"# 참고 {n}\n\n{PARAGRAPH * 25}"
        files[f"references/part-{n:02}.md"] = SkillFile(data=text.encode())
    return Bundle(name=name, files=files)


@asynccontextmanager
async def served(what: str, home: Path) -> AsyncIterator[str]:
    """Run `skill-worker serve` in a process of its own; yields the URL it prints."""
    environment = {**os.environ, "SKILL_WORKER_HOME": str(home), "LOG_FORMAT": "json"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "core", "serve", what, "--port", "0"),
        env=environment,
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert process.stderr
    reading: asyncio.Task[bytes] | None = None
    try:
        async for line in process.stderr:
            if b"server.started" in line:
                reading = asyncio.create_task(process.stderr.read())
                yield json.loads(line)["url"]
                break
        else:
            raise AssertionError(f"serve {what} did not start")
    finally:
        process.terminate()
        await process.wait()
        if reading:
            await reading
