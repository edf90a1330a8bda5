"""Times of both languages: calendar units, single expressions, and the windows that they make together."""
