"""Why a logical query cannot be asked."""


class Inexpressible(Exception):
    """A logical query names what is not in the layer, or asks what would count wrongly; the text says which."""
