"""Whether both embedding models in wheels can run here: Linux on x86_64, in CI always."""

from __future__ import annotations

import platform
import sys

import pytest

needs_the_model = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="one of the two models has a wheel for Linux on x86_64 only",
)
