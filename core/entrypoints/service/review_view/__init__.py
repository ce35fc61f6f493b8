"""The review sheet: all that a person looks at to decide about one change."""
