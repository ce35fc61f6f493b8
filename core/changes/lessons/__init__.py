"""Lessons of the worker: from what people decided about its work to a change that waits for them.

Collected from the event log (`collecting`), worded by code (`wording`), proposed through the gate
(`proposing`). Shown to later runs by `core/agent/loop/prompt.py`.
"""
