"""What a model may do: one file a tool, which registers itself. Every module here is imported at start."""
