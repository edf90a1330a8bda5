"""Dates as people read them, where Django's own form of a language would be taken for another day elsewhere."""
