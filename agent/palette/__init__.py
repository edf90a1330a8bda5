"""The command palette, and the places that a question can be limited to."""
