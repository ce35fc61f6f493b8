"""How many examples a property is tried with: few in each run, many in that of the night."""

from __future__ import annotations

from hypothesis import settings

IN_CI = 30
AT_NIGHT = 300


def register_profiles() -> None:
    """Register `ci` and `nightly` (`--hypothesis-profile`), and load the first."""
    # How long an example takes is the machine's business: what must be fast is measured elsewhere.
    settings.register_profile("ci", max_examples=IN_CI, deadline=None)
    settings.register_profile("nightly", max_examples=AT_NIGHT, deadline=None)
    settings.load_profile("ci")
