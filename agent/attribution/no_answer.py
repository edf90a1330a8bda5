"""Recognise a sentence that only says that nothing is known: not an answer, whatever it cites."""

from agent.text.words import pattern
from knowledge.text.chinese_script import simplified

_SAYS_NOTHING = pattern("says_nothing")
_GOES_ON = pattern("goes_on")


def is_no_answer(sentence: str) -> bool:
    """Return whether a sentence gives no answer; one that goes on to give one (“…, but …”) returns False."""
    text = simplified(sentence).strip()
    return _SAYS_NOTHING.match(text) is not None and _GOES_ON.search(text) is None
