"""Contract of pods and skill documents; a test class supplies `pods` and `documents`."""

from __future__ import annotations

import asyncio

import pytest

from core.domain.errors import McpDown, PodCallFailed
from core.domain.ports import Pods, SkillDocuments

SKILL = "skill-creator"
SCRIPT = "scripts/init_skill.py"
TMP = "/tmp"  # noqa: S108
SCRIPT_TEXT = (
    "#!/usr/bin/env python3\n# Skill 'x' not found, No documents matching 'y'\nprint('예')\n"
)


class PodsContract:
    """Inherit in a test class that defines the fixture `pods`, which runs a real shell."""

    async def test_a_file_goes_in_and_a_command_reads_it(self, pods: Pods) -> None:
        text = "첫 줄\n\ttab 'quote' $HOME `x`\r\n끝"
        async with pods.open(ttl=60) as pod:
            await pod.create_file(f"{TMP}/폴더/a b.txt", text)
            result = await pod.run_shell("cat '/tmp/폴더/a b.txt'")
        assert result.exit_code in (0, None)
        assert result.stdout == text

    async def test_a_failed_command_is_a_result(self, pods: Pods) -> None:
        async with pods.open(ttl=60) as pod:
            result = await pod.run_shell("echo out; echo err >&2; exit 3")
        assert result.exit_code in (3, None)
        assert "out" in result.stdout

    async def test_a_deleted_file_is_gone(self, pods: Pods) -> None:
        async with pods.open(ttl=60) as pod:
            await pod.create_file(f"{TMP}/a", "x")
            await pod.delete_file(f"{TMP}/a")
            result = await pod.run_shell("test -e /tmp/a && echo there || echo gone")
            assert result.stdout.strip() == "gone"
            with pytest.raises(PodCallFailed):
                await pod.delete_file(f"{TMP}/a")

    async def test_pods_do_not_see_each_other(self, pods: Pods) -> None:
        async with pods.open(ttl=60) as one, pods.open(ttl=60) as other:
            await one.create_file(f"{TMP}/a", "x")
            result = await other.run_shell("test -e /tmp/a && echo there || echo gone")
        assert result.stdout.strip() == "gone"

    async def test_calls_of_a_pod_may_run_at_once(self, pods: Pods) -> None:
        async with pods.open(ttl=60) as pod:
            await asyncio.gather(*(pod.create_file(f"{TMP}/{n}.md", str(n)) for n in range(20)))
            result = await pod.run_shell("cat $(ls /tmp/*.md | sort -V)")
        assert result.stdout == "".join(str(n) for n in range(20))

    async def test_a_pod_that_is_closed_takes_no_more_calls(self, pods: Pods) -> None:
        async with pods.open(ttl=60) as pod:
            await pod.create_file(f"{TMP}/a", "x")
        with pytest.raises((PodCallFailed, McpDown)):
            await pod.create_file(f"{TMP}/b", "x")

    async def test_an_error_inside_goes_out_as_it_is(self, pods: Pods) -> None:
        with pytest.raises(LookupError, match="mine"):
            async with pods.open(ttl=60):
                raise LookupError("mine")


class SkillDocumentsContract:
    """Inherit in a test class whose fixture `documents` has SCRIPT_TEXT as SCRIPT of SKILL."""

    async def test_a_document_reads_as_it_is(self, documents: SkillDocuments) -> None:
        assert await documents.read(SKILL, SCRIPT) == SCRIPT_TEXT

    async def test_what_is_not_there_is_none(self, documents: SkillDocuments) -> None:
        assert await documents.read(SKILL, "scripts/other.py") is None
        assert await documents.read("other-skill", SCRIPT) is None
