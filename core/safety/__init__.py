"""What a text or a skill adds that may do harm, and what of it must never be stored. Pure.

It may import `skill_quick_validate`, `skills`, `decision_table` and `domain`.
Begin with `screen.py`; `masking.py` takes out secrets, `trust.py` says who is to be believed.
"""
