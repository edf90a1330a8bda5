"""Tools of outside MCP services: configured in the admin, allowed one by one, confirmed before they change anything."""
