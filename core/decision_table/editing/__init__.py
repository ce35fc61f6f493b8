"""Drafts made into tables, and edits of tables as splices of their XML."""
