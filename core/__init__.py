"""skill-worker: AI agents learn from the feedback of their users."""

__version__ = "0.1.0"
