"""What Prometheus would read of a worker's page of metrics."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

PREFIX = "skill_worker_"


def samples(page: bytes | str) -> dict[str, float]:
    """Read a page: `name{label="value"}` less our prefix, labels in their order, to its figure."""
    text = page.decode() if isinstance(page, bytes) else page
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f'{key}="{value}"' for key, value in sorted(sample.labels.items()))
            name = sample.name.removeprefix(PREFIX)
            found[f"{name}{{{labels}}}" if labels else name] = sample.value
    return found
