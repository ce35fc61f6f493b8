"""A worker's metrics page as Prometheus would parse it."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

PREFIX = "skill_worker_"


def samples(page: bytes | str) -> dict[str, float]:
    """Parse a page: `name{label="value"}` without our prefix, labels in order, to its value."""
    text = page.decode() if isinstance(page, bytes) else page
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f'{key}="{value}"' for key, value in sorted(sample.labels.items()))
            name = sample.name.removeprefix(PREFIX)
            found[f"{name}{{{labels}}}" if labels else name] = sample.value
    return found
