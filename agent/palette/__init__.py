"""Finding a way by a few letters; and the places that a question is narrowed to."""
