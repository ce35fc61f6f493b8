"""Which prepared changes wait for a person, by rules that people can write.

It may import what `changes` may.
Begin with `review_policy.py`; `presets/` holds the policies that ship.
"""
