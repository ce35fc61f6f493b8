"""The opened program as the server finds it, which listens before there is one and after."""

from __future__ import annotations

from core.app import App
from core.errors import DependencyDown


class Opened:
    """Holds the app while it is open."""

    def __init__(self) -> None:
        self.app: App | None = None

    def __call__(self) -> App:
        """Give the app. Raises DependencyDown while it starts or stops."""
        if self.app is None:
            raise DependencyDown("the worker is starting or stopping", retry_after=1.0)
        return self.app
