"""Retract what one piece of feedback taught, keeping what was learnt since.

It may import what `changes` may.
Begin with `retract.py`; `replay.py` computes a target without the retracted changes.
"""
