"""Foreign text in Markdown: escaped completely, or so that nothing in it loads, links or is HTML."""

import re

_IN_ADDRESS = str.maketrans({"<": "%3C", ">": "%3E", " ": "%20"})
_LEADING = re.compile(r"^(\s*\d*)([-+=.)])")  # of a list, or what makes the line above a heading
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
# pictures, HTML and addresses; links and definitions
_ACTIVE = re.compile(r"(\\*)(!(?=\[)|<(?=[A-Za-z/!?]))|(?<=\])[(:]")


def escape_markdown(text: str) -> str:
    """Return text with all Markdown escaped."""
    return _LEADING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", text))


def make_markdown_inert(text: str) -> str:
    """Return Markdown with pictures, links, link definitions and HTML escaped: they are shown as they are written."""
    return _ACTIVE.sub(lambda found: f"{(found[1] or '') * 2}\\{found[2] or found[0]}", text)


def escape_markdown_address(url: str) -> str:
    """Return an address escaped for Markdown, so that it ends where it should."""
    return url.translate(_IN_ADDRESS)


def escape_markdown_label(text: str) -> str:
    """Return a title for the double quotes after an address."""
    return text.replace("\\", "\\\\").replace('"', "'")
