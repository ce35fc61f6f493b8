"""Review policies: configurable rules for which prepared changes are held for a person.

It may import what `changes` may.
Begin with `review_policy.py`; `presets/` has the built-in policies.
"""
