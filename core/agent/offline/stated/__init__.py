"""Rules as people state them, read from Korean and English sentences, or not at all.

It may import `domain` and the modules of `offline` that read words.
Begin with `statement.py`, then `reading.py`, `korean.py`, `english.py` and `joining.py`.
"""
