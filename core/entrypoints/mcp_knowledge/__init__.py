"""The MCP server for agents: what they know as tools, as resources and as skills.

Begin with `server.py`. It needs the `mcp` SDK, which is imported once it is asked for.
"""
