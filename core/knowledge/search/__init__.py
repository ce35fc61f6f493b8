"""Search by words without a model: terms for Korean and English, BM25, excerpts (pure).

It may import what `knowledge` may; the index itself is an adapter's.
Begin with `ranking.py`; `fused.py` adds embeddings.
"""
