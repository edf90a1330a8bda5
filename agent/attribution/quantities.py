"""Numbers of a text as typed facts: value, base unit and precision."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from agent.arithmetic.units import CHINESE, NAMES
from agent.attribution.words import contains_word_class

_D = Decimal
_DIGITS: Final = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0, "半": 0}
_TENS: Final = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_TO_NINE: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS: Final = (
    "ten",
    "eleven",
    "twelve",
    *(f"{ten}teen" for ten in ("thir", "four", "fif", "six", "seven", "eigh", "nine")),
)
_TIES: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ENGLISH: Final = {word: _D(value) for value, word in enumerate((*_TO_NINE, *_TEENS))} | {
    word: _D(value * 10) for value, word in enumerate(_TIES, 2)
}
_SCALES: Final = {
    "hundred": _D(100), "thousand": _D(1000), "million": _D(10**6), "billion": _D(10**9), "k": _D(1000),
    "十万": _D(10**5), "百万": _D(10**6), "千万": _D(10**7), "万": _D(10**4), "亿": _D(10**8),
}  # fmt: skip
_MONEY: Final = {
    "CNY": "cny|rmb|yuan|人民币|元|块钱", "EUR": "eur|euros?|欧元|€", "USD": "usd|us dollars?|dollars?|美元|\\$",
    "GBP": "gbp|pounds?|英镑|£", "JPY": "jpy|yen|日元", "HKD": "hkd|港元|港币",
}  # fmt: skip
_OTHER: Final = {  # pattern → dimension, how many of its base unit; longer ones first
    "percentage points?|percent|个百分点|%": ("percent", _D(1)),
    "working weeks?": ("workday", _D(5)), "working days?|workdays?|business days?|个?工作日": ("workday", _D(1)),
    "years?|年": ("month", _D(12)), "quarters?|个季度": ("month", _D(3)), "months?|个月": ("month", _D(1)),
    "weeks?|个?星期|周": ("time", _D(604_800)), "days?|天|日": ("time", _D(86_400)), "个?小时|个?钟头": ("time", _D(3600)),
    "milliseconds?|毫秒": ("time", _D("0.001")), "分钟": ("time", _D(60)), "秒钟?": ("time", _D(1)),
    "miles?|英里": ("length", _D("1609.344")), "倍|times": ("times", _D(1)), "degrees?|°c|摄氏度|度": ("temperature", _D(1)),
    "nm": ("torque", _D(1)), "tonnes?|tons?": ("mass", _D(1000)), "成": ("percent", _D(10)),
}  # fmt: skip
_UNITS: Final[dict[str, tuple[str, Decimal]]] = (
    {said: (f"money {name}", _D(1)) for name, said in _MONEY.items()}
    | _OTHER
    | {name.lower() if len(name) > 1 else name: NAMES[name] for name in NAMES if name not in ("B", "bit", "bits")}
    | {said: NAMES[name] for said, name in CHINESE.items() if said not in ("周", "天")}
)
_UNIT = "|".join(f"(?:{said})(?![a-z])" for said in sorted(_UNITS, key=len, reverse=True))
_EXACT = {said: re.compile(f"(?:{said})") for said in _UNITS}
_HAN = "零〇一二两三四五六七八九十百千万亿"
_MEASURE = "个家名位辆台件条项种次份笔张门人倍元天年月周日分秒度成只座支套批行所间层小"
_PARTS = "⁰¹²³⁴-⁾ⁱⁿ₀-₎¼-¾⅐-⅞↉"  # right after digits they change the number: 10⁶ is not 10
_WORDS = "|".join(sorted(_ENGLISH, key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<pre>(?:{'|'.join(_MONEY.values())})\s?|百分之)?"
    rf"(?:(?P<digits>(?<![a-z\d_./·:×])(?<![a-z\d]-)(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?(?![\d:{_PARTS}]|\.\d|[-/]\d))"
    rf"|(?P<half>half an?(?= (?:year|hour|day))|半(?=年|天|小时|个月))"
    rf"|(?P<tenth>one tenth|one third|one quarter|一半)"
    rf"|(?P<han>[{_HAN}]*[{_HAN}](?=多?[{_MEASURE}])|[{_HAN}]{{2,}})"
    rf"|(?P<word>(?<![a-z\-])(?:{_WORDS})(?:-(?:{_WORDS}))?(?![a-z\-])))"
    rf"\s?(?P<scale>(?:hundred|thousand|million|billion)(?![a-z])|k(?![a-z])|[十百千]?[万亿])?"
    rf"(?P<more>多|余|几)?(?P<unit>[\s\-]?(?:{_UNIT}))?(?P<over>多)?",
)
_FRACTIONS: Final = {"one tenth": _D(10), "one third": _D(100) / 3, "one quarter": _D(25), "一半": _D(50)}
EXACTLY: Final = _D("1e-9")


@dataclass(frozen=True)
class TextQuantity:
    """One number of a text. value: in the base unit of its dimension; dimension "" counts things.

    slack: allowed deviation. number: as written, before its unit. is_soft: a word such as "one" that may not be a
    number. start, end: its span.
    """

    value: Decimal
    dimension: str
    slack: Decimal
    number: Decimal
    start: int
    end: int
    is_soft: bool = False

    def fits(self, value: Decimal) -> bool:
        """Return whether this quantity can describe the value. "四百多" means at least 400 and below the next hundred."""
        return abs(value - self.value) <= max(self.slack, EXACTLY)

    def agrees(self, other: "TextQuantity") -> bool:
        """Return whether both are the same amount of the same thing."""
        return self.dimension == other.dimension and (self.fits(other.value) or other.fits(self.value))


def parse_quantities(text: str) -> list[TextQuantity]:
    """Return the quantities of a lower-case text, in order; dates and identifiers are skipped."""
    return list(_iterate_quantities(text))


def _iterate_quantities(text: str) -> Iterator[TextQuantity]:
    for match in _NUMBER.finditer(text):
        value, step = _parse_number(match)
        scale = _SCALES.get((match["scale"] or "").strip(), _D(1))
        dimension, factor = _resolve_unit(match, text)
        value, step = value * scale, step * scale
        if match["tenth"]:
            dimension, value = "percent", _FRACTIONS[match["tenth"]]
        more = match["more"] or match["over"]
        if more and match["han"]:
            step = _find_last_place(value)
        is_rough = contains_word_class(text[max(0, match.start() - 14) : match.start()], "roughly")
        slack = value * _D("0.05") if is_rough else step / 2 if scale > 1 or more else _D(0)
        if more:
            value, slack = value + step / 2, step / 2
        soft = match[0].strip() in ("one", "一", "一个", "一种") or (match["han"] == "一" and not match["unit"])
        yield TextQuantity(value * factor, dimension, slack * factor, value, match.start(), match.end(), soft)


def _parse_number(match: re.Match[str]) -> tuple[Decimal, Decimal]:
    """Return the number before its scale and unit, and the value of one in its last place."""
    if match["digits"]:
        value = _D(match["digits"].replace(",", ""))
        return value, _D(1).scaleb(int(value.as_tuple().exponent))
    if match["word"]:
        return sum((_ENGLISH[word] for word in match["word"].split("-")), _D(0)), _D(1)
    if match["han"]:
        return _parse_chinese_numeral(match["han"]), _D(1)
    return _D("0.5") if match["half"] else _D(0), _D(0)


def _find_last_place(value: Decimal) -> Decimal:
    place = _D(1)
    while value and value % (place * 10) == 0:
        place *= 10
    return place


def _resolve_unit(match: re.Match[str], text: str) -> tuple[str, Decimal]:
    """Return dimension and factor of the unit after or before the number; "" and 1 for a count of things."""
    unit = (match["unit"] or "").strip(" -") or (match["pre"] or "").strip()
    if unit == "百分之":
        return "percent", _D(1)
    if unit == "年" and match["digits"] and len(match["digits"]) == 4:
        return "", _D(1)
    for name, shape in _EXACT.items():
        if unit and shape.fullmatch(unit):
            return _UNITS[name]
    return "", _D(1)


def _parse_chinese_numeral(text: str) -> Decimal:
    """Convert a Chinese numeral: 二十五 → 25, 一九九八 → 1998, 一万八千 → 18000."""
    if not any(char in _TENS for char in text):
        return _D("".join(str(_DIGITS[char]) for char in text))
    total, section, digit = 0, 0, 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif _TENS[char] >= 10_000:
            total, section, digit = (total + section + digit or 1) * _TENS[char], 0, 0
        else:
            section, digit = section + (digit or 1) * _TENS[char], 0
    return _D(total + section + digit)
