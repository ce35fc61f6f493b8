"""The program as a whole: settings, the composition root, health, the opened program.

It may import every room but `entrypoints` and `testing`.
Begin with `program.py`; `bootstrap/` is where adapters meet ports.
"""
