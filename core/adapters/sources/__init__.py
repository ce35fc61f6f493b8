"""Sources of feedback: each is an adapter of the port `FeedbackSource`.

It may import `core.domain` only. Begin with `postgrest.py`, the source for the existing platform.
"""
