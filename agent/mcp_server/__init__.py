"""`/mcp`: search, read, list, ask and query data from programs that speak MCP, as the person whose token it is."""
