"""An edit of one text done to another version of it, if it still fits (pure)."""
