"""The review view: all that a person considers to decide about one change."""
