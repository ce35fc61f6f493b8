"""Search without a model: terms for Korean and English, BM25, excerpts (pure)."""
