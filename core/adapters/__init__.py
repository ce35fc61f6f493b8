"""What speaks to the outside: PostgreSQL, sources of feedback, MCP servers, the skill API.

It may import every room below but no spine module; `app.bootstrap` imports it, and the clients do.
Begin with `postgres/change_log.py` for the stores, with `embedded/` for what ships with us.
"""
