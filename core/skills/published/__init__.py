"""Where skills are published: how a place is written, index files, and lock files (pure)."""
