"""Whether a sentence says of itself what is asked, or only within what it orders somebody to say or to think: “Tell everybody that …”.

By the form of the sentence, whichever verb it has: in an order that names the matter only behind “that”, a colon or a quotation mark, the
matter is what somebody is to say, and the document has not said it.
"""

from typing import Final

from agent.extractive.candidates import TermShares, covered, term_ids
from agent.extractive.wording import parts, pattern
from knowledge.text.chinese_script import simplified

SAID: Final = 0.25  # share of the matter that the order itself says, from which it is about the matter; by hand
_CLOSED: Final = frozenset(" ".join(parts("orders", "closed")).split())
_ORDER = pattern("orders", "order")
_EMBEDS = pattern("orders", "embeds")


def is_asserted(sentence: str, matter: TermShares) -> bool:
    """matter: {term id: share of the question's idf}."""
    text = simplified(sentence)
    order = _ORDER.match(text)
    if order is None or (order["verb"] or "").lower() in _CLOSED:
        return True
    embeds = _EMBEDS.search(text, order.end())
    return embeds is None or covered(matter, term_ids(text[: embeds.start()])) >= SAID * sum(matter.values())
