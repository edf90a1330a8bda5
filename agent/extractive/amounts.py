"""Which amount a question asks for, and whether a sentence gives one: a salary is not 30 %, a count is not the 1 of "1 October".

Rules, no model, and few: what they do not know is answered by any number.
"""

import re
from enum import StrEnum

from agent.extractive.identifiers import without_labels

MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"


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
            r"|\bwhat (?:does|do|did)\b[^?]*\bcost\b|\bwhat(?:['’]s| is| are) the (?:list )?prices?\b"
            r"|\b(?:list|unit|monthly|yearly|retail) prices?\b|\bprices? (?:of|for|per)\b|(?:价格|价钱|售价|单价|报价)\s*[？?]?$"
            r"|(?:价格|价钱|售价|单价|报价)(?:是|为)?多少|多少(?:人民币|欧元|美元|英镑)|怎么卖|什么价",
            re.IGNORECASE,
        ),
    ),
    (
        Amount.SPAN,
        re.compile(
            r"\bhow many (?:second|minute|hour|day|week|month|year|decade)s\b|\bhow often\b"
            r"|\bhow long (?:do|does|did|can|could|may|must|should|will|would|has|have|had|before|until|after)\b"
            r"|多久|多长时间|多少个?(?:秒|分钟|小时|天|工作日|星期|月(?![份初底])|年)|(?<![第哪])几(?:秒|分钟|个?小时|天|个?工作日|个星期|周|个月(?![份初底])|年(?![级代]))",
            re.IGNORECASE,
        ),
    ),
    (Amount.YEAR, re.compile(r"哪一?年(?!级)|何年|哪个年份")),
    (
        Amount.LIMIT,
        re.compile(
            r"^(?!.*(?:time|long|timeout|duration|session|second|minute|hour|day|week|month|year|leave|holiday|[时久期天年月周假]))"
            r".*(?:\b(?:limit|maximum)|上限)\s*[？?]?$",
            re.IGNORECASE,
        ),
    ),
    (
        Amount.PEOPLE,
        re.compile(r"(?:多少|(?<!第)几)(?:个人|人(?!民币|口)|名|位)"),
    ),
    (
        Amount.COUNT,
        re.compile(
            r"\bhow many\b|(?:多少|(?<!第)几)(?:个(?!月|小时|工作日|点)|家|台|辆|次|份|张|种|条)",
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
_CURRENCY = r"元|[¥€$£]|人民币|英镑|\b(?:CNY|RMB|EUR|USD|GBP)\b|\b(?:dollar|euro|pound|yuan)s?\b"
_SUM = re.compile(
    r"(?:[¥€$£]|\b(?:CNY|RMB|EUR|USD|GBP)\b|元[）)]?(?=\s*[:：]))\s*[:：]?\s*\d[\d,.]*(?: (?:thousand|million|billion))?"
    r"|\d[\d,.]*\s*[万亿]?\s*(?:[欧美日]?元|(?:thousand |million |billion )?(?:dollar|euro|pound|yuan)s?\b)",
    re.IGNORECASE,
)
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


_PEOPLE = re.compile(
    r"[\d一二三四五六七八九十百千万两几多数]\s*(?:余|多)?\s*(?:人|名|位|个)|人[数员口][^:：;；]{0,12}[:：]\s*\d|[没无]人"
)
_SPAN = re.compile(
    r"[\d一二三四五六七八九十百千两半几数多整每当同次隔]\s*个?多?半?\s*(?:秒|分钟?|小时|钟头|[天日周年月夜晚季]|星期|礼拜|世纪|工作日|学期|年度)"
    r"|永久|长期|终身|一直|随时|立即|即时|马上|临时|昼夜|全天"
    r"|\b(?:(?:milli)?second|minute|hour|day|night|week|fortnight|month|quarter|year|decade|centur(?:y|ie)|season|semester)s?\b"
    r"|\b\d+ ?(?:ms|s|min|h|d)\b|\b(?:hour|dai|week|month|quarter|year|annual)ly\b"
    r"|\b(?:annual|permanent|immediate|indefinite|forever|always|until|till|overnight)",
    re.IGNORECASE,
)
_TIMED = re.compile(
    r"\d[\d.,]*\s*(?:ms|s|min|h|(?:milli)?seconds?|minutes?|hours?|days?|weeks?|months?|years?|毫秒|秒|分钟?|个?小时|[天日周年]|个月)(?![a-z])",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\d{2,4}\s*年|[〇零一二三四五六七八九十元同次翌]年|\b\d{4}-\d|(?<![\d.,])(?:1\d|20)\d{2}(?![\d.,])")
_GIVEN = {
    Amount.PAY: _PAY,
    Amount.MONEY: _PRICE,
    Amount.PEOPLE: _PEOPLE,
    Amount.COUNT: _COUNTED,
    Amount.SPAN: _SPAN,
    Amount.LIMIT: _COUNTED,
}
_ASKING = {
    Amount.MONEY: frozenset(
        [
            "cost",
            "price",
            "charg",
            "money",
            "pay",
            "paid",
            "钱",
            "块",
            "价",
            "卖",
            "价格",
            "价钱",
            "售价",
            "卖价",
            "少钱",
            "块钱",
        ]
    ),
    Amount.SPAN: frozenset(["多久", "久"]),
}


def asks_amount(term: str, amount: Amount) -> bool:
    """Whether a term of a question only says which amount it asks for: a sum says by itself that something has a price."""
    return term in _ASKING.get(amount, ())


def amount_asked(question: str) -> Amount:
    """The kind of number a question asks for; ANY where it does not say."""
    return next((amount for amount, pattern in _ASKED if pattern.search(question)), Amount.ANY)


def gives(amount: Amount, sentence: str) -> bool:
    """Whether a sentence gives a number of this kind; of ANY it is not asked."""
    if amount is Amount.ANY:
        return True
    if amount is Amount.YEAR:
        return _YEAR.search(sentence) is not None
    undated = _DATE.sub(" ", without_labels(sentence))
    if amount is Amount.COUNT:
        undated = _SUM.sub(" ", undated)
    if amount is Amount.LIMIT:
        undated = _TIMED.sub(" ", undated)
    if amount is Amount.SPAN and len(_DATE.findall(sentence)) > 1:
        return True  # from one day to another
    return _GIVEN[amount].search(undated) is not None
