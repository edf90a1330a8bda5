"""Tools of services outside that speak MCP: entered in the administration, allowed one by one, asked about before they change something."""
