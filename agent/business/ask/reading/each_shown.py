"""A list of what is to be shown of each thing, figures among it: the figure of each is the question, the rest is beside it."""

import re
from collections.abc import Iterator

_SHOWN_OF_EACH = re.compile(
    r"^(?:return|show|list|give me|get|find) (?:the )?(?P<shown>.+),? (?:for|of) (?P<each>(?:each|every) [^.?;,]+)[.?;]?$",
    re.IGNORECASE,
)
_A_FIGURE = re.compile(r"^(?:the )?(?:total |average |number of |sum of |count of |maximum |minimum )", re.IGNORECASE)


def of_each(text: str) -> Iterator[tuple[str, str]]:
    """“Return the symbol and the number of transactions for each ticker”: the figure of each, and what is shown beside it."""
    found = _SHOWN_OF_EACH.match(text)
    pieces = re.split(r",? and |, ", found["shown"]) if found else []
    figure = next((piece for piece in pieces if _A_FIGURE.match(piece)), None)
    if found and figure and len(pieces) > 1:
        yield f"{figure} for {found['each']}", f"show {found['shown']}"
