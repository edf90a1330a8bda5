"""The model's tools: one file per tool, which registers itself. Every module here is imported at start."""
