"""Every change of what is known: prepared, judged by a policy, applied, recorded, taken back.

It may import `agent` and the rooms below; committers come to it through a port.
Begin with `gate/change_gate.py`, the one way in.
"""
