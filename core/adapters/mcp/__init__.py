"""What `mcp_client` is made of: sessions that stay open, and readers of what servers answer."""
