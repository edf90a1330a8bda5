"""Words of others in Markdown: as the text that they are, or at least so that nothing in them loads, links or is markup of HTML."""

import re

_IN_ADDRESS = str.maketrans({"<": "%3C", ">": "%3E", " ": "%20"})
_LEADING = re.compile(r"^(\s*\d*)([-+=.)])")  # of a list, or what makes the line above a heading
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
_ACTIVE = re.compile(
    r"(\\*)(!(?=\[)|<(?=[A-Za-z/!?]))|(?<=\])[(:]"
)  # pictures, HTML and addresses; links and definitions


def escaped_markdown(text: str) -> str:
    """Text of which nothing is a mark of Markdown."""
    return _LEADING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", text))


def inert_markdown(text: str) -> str:
    """Markdown, or text, without pictures, links, definitions of links, and HTML: these are read as they are written."""
    return _ACTIVE.sub(lambda found: f"{(found[1] or '') * 2}\\{found[2] or found[0]}", text)


def markdown_address(url: str) -> str:
    """An address that ends where it ends."""
    return url.translate(_IN_ADDRESS)


def markdown_label(text: str) -> str:
    """A title as it stands between double quotes behind an address."""
    return text.replace("\\", "\\\\").replace('"', "'")
