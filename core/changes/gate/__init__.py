"""The change gate: prepare, judge by the policy, apply and record, under a lock on the target.

It may import what `changes` may; every write of the program passes through it.
Begin with `change_gate.py`; `decisions.py` is what reviewers do.
"""
