"""The last word wins: what was said earlier and comes later overrides nothing said since.

It may import what `changes` may; the gate alone asks it.
Begin with `settle.py`; `texts.py`, `tables.py` and `folders.py` know what a part of each kind is.
"""
