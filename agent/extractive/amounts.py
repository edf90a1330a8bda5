"""Which amount a question asks for, and whether a sentence gives one: a salary is not 30 %, a count is not the 1 of "1 October".

Rules, no model, and few: what they do not know is answered by any number.
"""

import re
from enum import StrEnum

MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"


class Amount(StrEnum):
    """What kind of number an answer must hold."""

    PAY = "pay"  # money for work, or months of it
    MONEY = "money"  # what something costs
    COUNT = "count"  # how many of something
    ANY = "any"


_ASKED: tuple[tuple[Amount, re.Pattern[str]], ...] = (
    (
        Amount.PAY,
        re.compile(
            r"\b(?:what(?:['’]s| is| are| was| were)|how (?:much|high))\b[^?]*\b(?:salar(?:y|ies)|wages?)\b"
            r"|(?:工资|薪[水资酬]|年薪|月薪|底薪)[^，。]{0,6}多少|多少[^，。]{0,4}(?:工资|薪水|薪资|年薪|月薪)",
            re.IGNORECASE,
        ),
    ),
    (
        Amount.MONEY,
        re.compile(
            r"多少钱|几块钱|卖多少(?=[？?]|$)|\bhow much (?:money|does|do|did|is|are|was|were)\b[^?]*\b(?:cost|costs|charged?|paid?)\b"
            r"|\bwhat (?:does|do|did)\b[^?]*\bcost\b|\bwhat(?:['’]s| is| are) the (?:list )?prices?\b",
            re.IGNORECASE,
        ),
    ),
    (
        Amount.COUNT,
        re.compile(
            r"\bhow many\b|(?:多少|(?<!第)几)(?:个(?!月|小时|工作日|点)|名|人|位|家|台|辆|次|份|张|种|条)",
            re.IGNORECASE,
        ),
    ),
)
_DATE = re.compile(
    rf"\b\d{{4}}-\d{{1,2}}(?:-\d{{1,2}})?\b|\b\d{{1,2}} (?:{MONTHS})\b(?: \d{{4}})?|\b(?:{MONTHS}) \d{{1,2}}\b(?:,? \d{{4}})?"
    r"|\d{4}\s*年(?:\s*\d{1,2}\s*月)?(?:\s*\d{1,2}\s*[日号])?|\d{1,2}\s*月\s*\d{1,2}\s*[日号]|\b\d{1,2}:\d{2}\b"
    r"|\b(?:in|since|by|of|until|from) (?:1\d|20)\d{2}\b(?!-)|第\s*[一二三四五六七八九十\d]+|\b\d+(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b[A-Za-z]+-?\d[\w.-]*|\b\d+(?:\.\d+){2,}\b")  # KG-400, E5, SI-2026-08, 4.6.2
_CURRENCY = r"元|[¥€$£]|人民币|英镑|\b(?:CNY|RMB|EUR|USD|GBP)\b|\b(?:dollar|euro|pound|yuan)s?\b"
_PAY = re.compile(
    rf"{_CURRENCY}|个月(?:的)?(?:工资|薪)|monthly salar|months? of (?:pay|salary)"
    r"|(?<![\w.,-])\d[\d,]{3,}(?![\w%,-]|\s*(?:%|percent|[年月日天号人个台]))",
    re.IGNORECASE,
)
_PRICE = re.compile(  # also a sum without its currency: a column of prices, or millions
    rf"{_CURRENCY}|(?:价|费|金额|款|price|fee|cost|charge|rate)[^:：;；]{{0,20}}[:：]\s*\d|\d\s*(?:万|亿|thousand|million|billion)|免费|\bfree\b|块钱",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|dozens?"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|billions?|half|several|none|no|both|single"
    r"|twice|once|couple|pair|zero)\b|[一二两三四五六七八九十百千万亿半几无数单双]",
    re.IGNORECASE,
)


def amount_asked(question: str) -> Amount:
    """The kind of number a question asks for; ANY where it does not say."""
    return next((amount for amount, pattern in _ASKED if pattern.search(question)), Amount.ANY)


def gives(amount: Amount, sentence: str) -> bool:
    """Whether a sentence gives a number of this kind; of ANY it is not asked."""
    if amount is Amount.ANY:
        return True
    undated = _DATE.sub(" ", _NAMED.sub(" ", sentence))
    pattern = {Amount.PAY: _PAY, Amount.MONEY: _PRICE, Amount.COUNT: _COUNTED}[amount]
    return pattern.search(undated) is not None
