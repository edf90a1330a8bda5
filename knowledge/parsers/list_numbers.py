"""Numbers of lists and headings as Word and PowerPoint write them: 1, a, IV, 十二, ①."""

from collections.abc import Callable

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_CHINESE, _LEGAL, _LEGAL_OLD = (
    ("〇一二三四五六七八九", "十百千"),
    ("零壹贰叁肆伍陆柒捌玖", "拾佰仟"),
    ("零壹貳參肆伍陸柒捌玖", "拾佰仟"),
)
_STEMS, _BRANCHES = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
_MAX_LETTERS = 30


def _format_letters(number: int) -> str:
    """Return a number as letters: a … z, aa, bb: after the last letter each is repeated."""
    if number < 1:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, _MAX_LETTERS)


def _format_roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    numeral = ""
    for value, letters in _ROMAN:
        numeral += letters * (number // value)
        number %= value
    return numeral


def _format_chinese(digits: str, units: str, number: int) -> str:
    """Return Chinese numerals up to 9,999: 十二, 一百〇三."""
    if not 0 < number < 10_000:
        return str(number)
    numeral, is_open = "", False
    for power, unit in ((3, units[2]), (2, units[1]), (1, units[0]), (0, "")):
        digit = number // 10**power % 10
        if digit:
            numeral += (digits[0] if is_open and numeral else "") + digits[digit] + unit
            is_open = False
        else:
            is_open = True
    return numeral[1:] if numeral.startswith(digits[1] + units[0]) and digits is _CHINESE[0] else numeral


def _build_sign_formatter(signs: str) -> Callable[[int], str]:
    return lambda number: signs[number - 1] if 0 < number <= len(signs) else str(number)


def _format_ordinal(number: int) -> str:
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _build_series_formatter(first: str, count: int) -> Callable[[int], str]:
    return _build_sign_formatter("".join(chr(ord(first) + i) for i in range(count)))


_FORMATS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": _format_letters,
    "upperLetter": lambda number: _format_letters(number).upper(),
    "lowerRoman": _format_roman,
    "upperRoman": lambda number: _format_roman(number).upper(),
    "ordinal": _format_ordinal,
    "numberInDash": lambda number: f"- {number} -",
    "decimalFullWidth": lambda number: str(number).translate({ord("0") + i: ord("０") + i for i in range(10)}),
    "decimalEnclosedCircle": lambda number: (
        _build_series_formatter("①", 20)(number) if number <= 20 else _build_series_formatter("㉑", 15)(number - 20)
    ),
    "decimalEnclosedParen": _build_series_formatter("⑴", 20),
    "decimalEnclosedFullstop": _build_series_formatter("⒈", 20),
    "ideographEnclosedCircle": _build_series_formatter("㊀", 10),
    "ideographTraditional": _build_sign_formatter(_STEMS),
    "ideographZodiac": _build_sign_formatter(_BRANCHES),
    "ideographDigital": lambda number: "".join(_CHINESE[0][int(digit)] for digit in str(number)),
    "chineseCounting": lambda number: _format_chinese(*_CHINESE, number),
    "chineseLegalSimplified": lambda number: _format_chinese(*_LEGAL, number),
    "ideographLegalTraditional": lambda number: _format_chinese(*_LEGAL_OLD, number),
    "none": lambda _: "",
}
_SAME = {
    "chineseCountingThousand": "chineseCounting", "japaneseCounting": "chineseCounting", "koreanCounting": "chineseCounting",
    "taiwaneseCounting": "chineseCounting", "taiwaneseCountingThousand": "chineseCounting", "taiwaneseDigital": "ideographDigital",
    "japaneseDigitalTenThousand": "ideographDigital", "decimalEnclosedCircleChinese": "decimalEnclosedCircle",
    "decimalFullWidth2": "decimalFullWidth", "decimalHalfWidth": "decimal", "japaneseLegal": "ideographLegalTraditional",
}  # fmt: skip


def format_list_number(number: int, form: str) -> str:
    """Write a number in a format by Word's name for it (`w:numFmt`); in digits for an unknown name."""
    if form.startswith("0"):  # of one's own: "001, 002, 003, ..."
        return str(number).zfill(min(len(form.split(",", maxsplit=1)[0].strip()), _MAX_LETTERS))
    return _FORMATS.get(_SAME.get(form, form), str)(number)


_SLIDE_FORMS = {
    "arabicDb": "decimalFullWidth", "arabic": "decimal", "alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman",
    "romanUc": "upperRoman", "circleNum": "decimalEnclosedCircle", "ea1Chs": "chineseCounting", "ea1Cht": "chineseCounting",
    "ea1Jpn": "chineseCounting",
}  # fmt: skip
_SLIDE_ENDINGS = (("ParenBoth", "({})"), ("ParenR", "{})"), ("Period", "{}."))


def format_slide_number(number: int, scheme: str) -> str:
    """Write a number by PowerPoint's name of its scheme: alphaLcParenR → "b)"."""
    form = next((form for begin, form in _SLIDE_FORMS.items() if scheme.startswith(begin)), "decimal")
    dressed = next((ending for name, ending in _SLIDE_ENDINGS if scheme.endswith(name)), "{}")
    return dressed.format(format_list_number(number, form))
