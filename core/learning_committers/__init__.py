"""One committer per kind of knowledge; they do not import each other.

It may import `skill_creator_committer`, `changes` and the rooms below.
Begin with `memory_committer.py`, the simplest; `base.py` has what they share.
"""
