"""Judging a model, its prompts and what is known by sets of labelled feedback.

It may import what entry points may.
Begin with `cases.py`, the format of a set; `running.py` has the worker decide.
"""
