"""Every change of knowledge: prepared, judged by a policy, applied, recorded, reverted.

It may import `agent` and the rooms below; it calls committers through a port.
Begin with `gate/change_gate.py`, the single write path.
"""
