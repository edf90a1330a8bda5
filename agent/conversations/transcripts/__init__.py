"""A conversation as a file, with its sources as footnotes."""
