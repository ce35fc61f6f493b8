"""Parsers for files that people bring: agents, feedback, knowledge (pure).

It may import the rest of `core.domain` only. Begin with `feedback.py`.
"""
