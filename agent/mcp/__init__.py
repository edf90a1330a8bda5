"""The Model Context Protocol: `server` lets other programs use our tools, `client` lets our agent use theirs."""
