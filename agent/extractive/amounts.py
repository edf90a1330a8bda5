"""Which amount a question asks for, and whether a sentence gives one: a salary is not 30 %, a count is not the 1 of "1 October".

Rules, no model, and few: what they do not know is answered by any number.
"""

import re
from enum import StrEnum

from agent.extractive.identifiers import without_labels
from agent.extractive.wording import pattern, patterns


class Amount(StrEnum):
    """What kind of number an answer must hold."""

    PAY = "pay"  # money for work, or months of it
    MONEY = "money"  # what something costs
    PEOPLE = "people"  # how many of them
    COUNT = "count"  # how many of something
    FREQUENCY = "frequency"  # how often something comes
    SPAN = "span"  # how long something takes or holds
    LIMIT = "limit"  # the most of something that is no time
    YEAR = "year"  # in which year something was, asked in Chinese
    ANY = "any"


_ASKED = {Amount(name): asks for name, asks in patterns("amounts", "asked").items()}
_GIVEN = {Amount(name): holds for name, holds in patterns("amounts", "given").items()}
_GIVEN[Amount.LIMIT] = _GIVEN[Amount.COUNT]
_DATE = pattern("amounts", "date")
_SUM = pattern("amounts", "sum")
_TIMED = pattern("amounts", "timed")
_COUNTED = re.compile(
    r"\bhow many (?P<things>[\w-]+(?: [\w-]+){0,2})|(?:多少|几)(?P<measure>[个家台辆次份张种条])", re.IGNORECASE
)
_NUMERAL = r"(?:\b\d[\d,]*(?![.)])|" + pattern("amounts", "numeral").pattern + ")"
_SHARE = re.compile(r"\d\s*(?:%|percent\b)|百分之")
_FIGURES = {Amount.PAY: (_SUM,), Amount.MONEY: (_SUM,), Amount.SPAN: (_TIMED,)}
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
    if amount in {Amount.COUNT, Amount.LIMIT}:
        undated = _TIMED.sub(" ", undated)
    if amount is Amount.SPAN and len(_DATE.findall(sentence)) > 1:
        return True  # from one day to another
    return _GIVEN[amount].search(undated) is not None


def counts_what_is_asked(question: str, sentence: str) -> bool:
    """Whether a number stands in the sentence beside the things that the question counts: in English beside one of the words behind
    “how many”, in Chinese before the same measure word. In a table it stands behind them.
    """
    asked = _COUNTED.search(question)
    if asked is None:
        return False
    if asked["measure"]:
        return re.search(rf"{_NUMERAL}\s*余?多?{asked['measure']}", sentence) is not None
    things = "|".join(re.escape(word.removesuffix("s")) for word in asked["things"].split())
    before, behind = rf"{_NUMERAL}\W+(?:[\w-]+\W+){{0,2}}(?:{things})", rf"(?:{things})\w*[^.;]{{0,20}}[:：]\s*\d"
    return re.search(rf"{before}|{behind}", without_labels(sentence), re.IGNORECASE) is not None


def gives_figure(amount: Amount, sentence: str) -> bool:
    """Whether a sentence gives an amount of this kind with its unit: of time, of money, or a share."""
    undated = _DATE.sub(" ", without_labels(sentence))
    return any(figure.search(undated) for figure in _FIGURES.get(amount, (_TIMED, _SUM, _SHARE)))
