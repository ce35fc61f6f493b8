"""Rules as people state them, read from Korean and English sentences, or not at all.

It may import `domain` and the modules of `offline` that read words.
Begin with `statement.py`, then `reading.py`, `korean.py`, `english.py` and `joining.py`. What these
keep whole is read once more, piece by piece: `piecing.py`, `pieces.py`, `korean_pieces.py` and
`english_pieces.py`.
"""
