"""Tools of outside services that speak MCP: configured in the admin, allowed one by one, confirmed by the person before
they change anything.
"""
