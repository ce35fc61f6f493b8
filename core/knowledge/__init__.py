"""What is known: search, duplicates and contradictions, history, import and export.

It may import `skills`, `decision_table` and `domain`.
Begin with `search/ranking.py`, or with `duplicates/texts.py` for what code can prove.
"""
