"""Agent Skills: the folder in memory, its archive, its document, the rules it must keep.

It may import `decision_table` and `domain`.
Begin with `bundle/`; `validation/` also runs in a pod, on the standard library alone.
"""
