"""Numbers as Chinese writes them, in digits: 五万 is 50000, 5w, 两千五, 半小时 is 30 minutes; what is vague stays, and is unknown."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_ROWS = ("零〇", "一", "二两", "三", "四", "五", "六", "七", "八", "九")
_DIGITS = {digit: value for value, digits in enumerate(_ROWS) for digit in digits}
_SMALL = {"十": 10, "百": 100, "千": 1_000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_HAN_DIGIT = "".join(_DIGITS)
_NUMERAL = re.compile(
    rf"(?<![周期拜几数多上\d.])(?<!分之)(?:\d[\d,]*(?:\.\d+)?|[{_HAN_DIGIT}十百千万亿])(?:[{_HAN_DIGIT}十百千万亿]|\d+(?:\.\d+)?)+"
)
_YEAR = re.compile(
    rf"(?<![{_HAN_DIGIT}十\d])(?:[一二][零〇九][{_HAN_DIGIT}]{{2}}|[零〇一二][{_HAN_DIGIT}])(?=年(?![前后内以多来]))"
)
_N = r"(?P<n>\d+(?:\.\d+)?)"


def _minutes(match: re.Match[str]) -> str:
    return f"{float(match['n']) * 60 + float(match['m']):g}分钟"


def _seconds(match: re.Match[str]) -> str:
    return f"{float(match['n']) * 60 + float(match['m']):g}秒"


_LASTING: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"[一1]个半(?:小时|钟头)", "90分钟"),
    (rf"(?:{_N}|(?P<han>[两三四五六七八九]))个半(?:小时|钟头)", lambda m: f"{float(m['n'] or _DIGITS[m['han']]) * 60 + 30:g}分钟"),
    (r"半个?(?:小时|钟头)", "30分钟"),
    (r"三刻钟", "45分钟"),
    (r"一刻钟", "15分钟"),
    (rf"{_N}个?(?:小时|钟头)(?:零)?(?P<m>\d+)分钟?", _minutes),
    (rf"{_N}分钟?(?:零)?(?P<m>\d+)秒钟?", _seconds),
    (rf"{_N}分半钟?", lambda m: f"{float(m['n']) * 60 + 30:g}秒"),
    (r"一分半钟?", "90秒"),
    (r"半分钟", "30秒"),
    (r"个?钟头", "小时"),
]  # fmt: skip
_DURATIONS = [(re.compile(pattern), form) for pattern, form in _LASTING]
_ONE_OF = re.compile(
    r"(?<=[过于达到足满破])(?P<scale>百万|千万|百|千|万|亿)(?=元|块|美元|欧元|的|毫秒|件|个|[,，。?？]|$)"
)
_OVER = re.compile(
    rf"(?<=[\u3400-\u9fff])(?<![超经通下买卖签开做用去来到看])[过破](?=[{_HAN_DIGIT}\d.]{{0,5}}[十百千万亿])"
)
_HUNDRED_MILLIONS = re.compile(rf"(?P<n>\d+(?:\.\d+)?|[{_HAN_DIGIT}])个亿")
_SHORT = re.compile(r"(?<![A-Za-z\d.,])(?P<n>\d[\d,]*(?:\.\d+)?)\s*[wW](?![A-Za-z\d])")
_UP = re.compile(r"(?P<n>\d[\d,.]*(?:万|千|亿|[kK])?)\s*\+(?!\d)")


def in_digits(text: str) -> str:
    """A part of a question without quotes, its numerals in digits."""
    text = _SHORT.sub(r"\g<n>万", text)
    text = _YEAR.sub(lambda m: "".join(str(_DIGITS[digit]) for digit in m[0]), text)
    text = _OVER.sub("超过", text)
    text = _HUNDRED_MILLIONS.sub(r"\g<n>亿", text)
    text = _ONE_OF.sub(r"1\g<scale>", text)
    text = _NUMERAL.sub(_written, text)
    text = _UP.sub(r"\g<n>以上", text)
    for pattern, form in _DURATIONS:
        text = pattern.sub(form, text)
    return text


def _written(match: re.Match[str]) -> str:
    said = match[0]
    if re.fullmatch(r"\d[\d,]*(?:\.\d+)?(?:万|亿|千)", said):
        return said
    value = value_of(said) if set(said) & {*_SMALL, *_LARGE} else None
    return said if value is None else f"{value:.6f}".rstrip("0").rstrip(".")


def value_of(said: str) -> float | None:
    """The number that a numeral says; None where it is none, such as 三四百."""
    numeral = _Numeral()
    for part in re.findall(r"\d[\d,]*(?:\.\d+)?|.", said):
        if not numeral.take(part):
            return None
    return numeral.value()


@dataclass
class _Numeral:
    """A numeral read so far. section: below 万; number: a digit before its unit; last: the unit before; after_zero: 零 stood there."""

    total: float = 0.0
    section: float = 0.0
    number: float | None = None
    last: float = 0.0
    after_zero: bool = False

    def take(self, part: str) -> bool:
        """Whether the next part makes sense there."""
        if part in _LARGE:
            return self._large(part)
        if part in _SMALL:
            return self._small(part)
        if self.number is not None:
            return False
        if part in ("零", "〇"):
            self.after_zero = True
        else:
            self.number = float(_DIGITS[part]) if part in _DIGITS else float(part.replace(",", ""))
        return True

    def _small(self, part: str) -> bool:
        is_rising = self.last and self.last <= _SMALL[part]
        if is_rising or (self.number is None and (part != "十" or bool(self.section))):
            return False
        self.section += (1.0 if self.number is None else self.number) * _SMALL[part]
        self.number, self.last, self.after_zero = None, float(_SMALL[part]), False
        return True

    def _large(self, part: str) -> bool:
        self.section += self.number or 0.0
        if not self.section:
            return False
        if part == "亿":
            self.total = (self.total + self.section) * _LARGE[part]
        else:
            self.total += self.section * _LARGE[part]
        self.section, self.number, self.last, self.after_zero = 0.0, None, float(_LARGE[part]), False
        return True

    def value(self) -> float:
        """A digit alone at the end is a tenth of the unit before: 一千二."""
        rest = self.number or 0.0
        if rest < min(_SMALL.values()) < self.last and not self.after_zero:
            rest *= self.last / min(_SMALL.values())
        return self.total + self.section + rest
