"""The calls of the skill HTTP API, and how they are carried."""
