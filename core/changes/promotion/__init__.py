"""Promotion: an agent's knowledge from one database, through the gate of another.

It may import what `changes` may, and reaches the gate through its port.
Begin with `promoter.py`; `plan.py` decides what becomes of each item.
"""
