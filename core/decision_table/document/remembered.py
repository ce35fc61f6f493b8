"""Documents that were read a moment ago: one is looked at, compared and indexed in turn."""

from __future__ import annotations

from functools import lru_cache

from core.decision_table.document.xml import parse_xml
from core.models import DecisionTable

REMEMBERED_CHARS = 10_000  # of a longer document the table takes much more room than it saves time
_KEPT, _LARGE_KEPT = 512, 32


def read_xml(document: str) -> DecisionTable:
    """Read a DMN document as `parse_xml` does, but once for all who ask. Raises RuleInvalid."""
    return _small(document) if len(document) <= REMEMBERED_CHARS else _large(document)


@lru_cache(maxsize=_KEPT)
def _small(document: str) -> DecisionTable:
    return parse_xml(document)


@lru_cache(maxsize=_LARGE_KEPT)
def _large(document: str) -> DecisionTable:
    return parse_xml(document)
