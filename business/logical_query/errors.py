"""The error of a logical query that cannot be asked."""


class Inexpressible(Exception):
    """A logical query uses unknown names or would count wrongly; the text says what is wrong."""
