"""Which amount a question asks for, and whether a sentence gives one: a salary is not 30 %, a count is not the 1 of "1 October".

Rules, no model, and few: what they do not know is answered by any number.
"""

from enum import StrEnum

from agent.extractive.identifiers import without_labels
from agent.extractive.wording import pattern, patterns


class Amount(StrEnum):
    """What kind of number an answer must hold."""

    PAY = "pay"  # money for work, or months of it
    MONEY = "money"  # what something costs
    PEOPLE = "people"  # how many of them
    COUNT = "count"  # how many of something
    SPAN = "span"  # how long something takes or holds, or how often it comes
    LIMIT = "limit"  # the most of something that is no time
    YEAR = "year"  # in which year something was, asked in Chinese
    ANY = "any"


_ASKED = {Amount(name): asks for name, asks in patterns("amounts", "asked").items()}
_GIVEN = {Amount(name): holds for name, holds in patterns("amounts", "given").items()}
_GIVEN[Amount.LIMIT] = _GIVEN[Amount.COUNT]
_DATE = pattern("amounts", "date")
_SUM = pattern("amounts", "sum")
_TIMED = pattern("amounts", "timed")
_ASKING = {Amount(name): asking for name, asking in patterns("amounts", "asking").items()}


def asks_amount(term: str, amount: Amount) -> bool:
    """Whether a term of a question only says which amount it asks for: a sum says by itself that something has a price."""
    return amount in _ASKING and _ASKING[amount].fullmatch(term) is not None


def amount_asked(question: str) -> Amount:
    """The kind of number a question asks for; ANY where it does not say."""
    return next((amount for amount, asks in _ASKED.items() if asks.search(question)), Amount.ANY)


def gives(amount: Amount, sentence: str) -> bool:
    """Whether a sentence gives a number of this kind; of ANY it is not asked."""
    if amount is Amount.ANY:
        return True
    if amount is Amount.YEAR:
        return _GIVEN[amount].search(sentence) is not None
    undated = _DATE.sub(" ", without_labels(sentence))
    if amount is Amount.COUNT:
        undated = _SUM.sub(" ", undated)
    if amount is Amount.LIMIT:
        undated = _TIMED.sub(" ", undated)
    if amount is Amount.SPAN and len(_DATE.findall(sentence)) > 1:
        return True  # from one day to another
    return _GIVEN[amount].search(undated) is not None
