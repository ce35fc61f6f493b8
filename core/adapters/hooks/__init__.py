"""The kinds of hooks: HTTP, programs and Python here, tools of MCP servers, messages to people.

It may import `core.delivery` and what stands below; each library is imported when first used.
Begin with `http.py`.
"""
