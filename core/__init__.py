"""skill-worker: agents that learn from what their users say."""

__version__ = "0.1.0"
