"""Text where not every character can be carried, or be seen."""


def printable(text: str) -> str:
    """Without what XML 1.0 forbids: control characters other than tab and line ends, halves of pairs, and non-characters."""
    return "".join(each for each in text if each in "\t\n\r" or (each >= " " and not _is_forbidden(ord(each))))


def visible(text: str) -> str:
    """With whatever has no shape of its own by its number (`\\u200b`): what somebody allows is what they see."""
    return "".join(each if each.isprintable() or each in "\n\t " else f"\\u{ord(each):04x}" for each in text)


def _is_forbidden(code: int) -> bool:
    return 0xD800 <= code <= 0xDFFF or code in (0xFFFE, 0xFFFF)
