"""`/mcp`: search, read, list, ask and query data from MCP clients, as the owner of the token."""
