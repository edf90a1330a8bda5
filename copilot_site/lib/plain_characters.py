"""Text for formats that cannot carry every character."""


def printable(text: str) -> str:
    """Without what XML 1.0 forbids: control characters other than tab and line ends, halves of pairs, and non-characters."""
    return "".join(each for each in text if each in "\t\n\r" or (each >= " " and not _is_forbidden(ord(each))))


def _is_forbidden(code: int) -> bool:
    return 0xD800 <= code <= 0xDFFF or code in (0xFFFE, 0xFFFF)
