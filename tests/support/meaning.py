"""Whether the embedding model in a wheel can run here: Linux on x86_64, in CI always."""

from __future__ import annotations

import platform
import sys

import pytest

needs_the_model = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="EMBEDDING_MODEL=local has a wheel for Linux on x86_64 only",
)
