"""A page of a list, as every read of a list answers it."""

from __future__ import annotations

from typing import Generic, TypeVar

from core.models.base import Model

T = TypeVar("T")


class Page(Model, Generic[T]):
    """`items` in order, and the cursor of the next page (None at the end)."""

    items: tuple[T, ...]
    next: str | None = None
