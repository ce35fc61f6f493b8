"""Pods and skill documents pass one contract: on this machine, and over MCP."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.ports import Pods, SkillDocuments
from core.testing.contracts.pods import (
    SCRIPT,
    SCRIPT_TEXT,
    SKILL,
    PodsContract,
    SkillDocumentsContract,
)
from core.testing.pods import LocalPods, MemorySkillDocuments


class TestLocalPods(PodsContract):
    @pytest.fixture
    def pods(self, tmp_path: Path) -> Pods:
        return LocalPods(tmp_path)


class TestMemorySkillDocuments(SkillDocumentsContract):
    @pytest.fixture
    def documents(self) -> SkillDocuments:
        return MemorySkillDocuments({SKILL: {SCRIPT: SCRIPT_TEXT}})
