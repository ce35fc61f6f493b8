"""Runs that are on record, asked again: what the model would decide now, and where that differs.

It may import what `agent` may; who repeats a run gives it the tools and the recorded messages.
Begin with `recorded.py`; `comparing.py` says how two runs differ.
"""
