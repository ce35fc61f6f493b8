"""Knowledge and its queries: search, duplicates and contradictions, history, import, export.

It may import `skills`, `decision_table` and `domain`.
Begin with `search/ranking.py`, or with `duplicates/texts.py` for what code can prove.
"""
