"""Questions that hold all of their numbers, as the expression they ask for: shares and changes in percent, and rates.

“4,510 比 4,280 多百分之几”, “How many days are 61 hours, at 8 hours a day”. What is not certain to be one is left to a search.
"""

import re
from decimal import Decimal
from typing import Final

_N: Final = r"(?:[€$¥]\s*)?(\d[\d,]*(?:\.\d+)?\s*(?:thousand|million|billion|[万亿千])?)"
_UNIT: Final = r"(?:\s*(?:元|欧元|人|个|[a-z€]+))?"
_SCALE: Final = {"thousand": 3, "million": 6, "billion": 9, "千": 3, "万": 4, "亿": 8}
_PERCENT: Final = r"(?:百分之[几多]少?|多少(?:个)?(?:百分比|百分点|%)|几个百分点)"
_MORE: Final = r"(?:多|高|大|贵|增加|增长|上涨|上升|涨|提高)了?(?:出)?"
_LESS: Final = r"(?:少|低|小|便宜|减少|下降|降低|降|跌)了?"
_HIGHER: Final = r"(?:more|higher|larger|greater|bigger|longer|up)"
_LOWER: Final = r"(?:less|lower|smaller|cheaper|shorter|fewer|down)"
# pattern → the numbers it finds, in their order, put into an expression
_FORMS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), form)
    for pattern, form in (
        (rf"{_N}{_UNIT}\s*比\s*{_N}{_UNIT}\s*{_MORE}\s*{_PERCENT}", "({0} - {1}) / {1} * 100"),
        (rf"{_N}{_UNIT}\s*比\s*{_N}{_UNIT}\s*{_LESS}\s*{_PERCENT}", "({1} - {0}) / {1} * 100"),
        (rf"从\s*{_N}{_UNIT}\s*{_MORE}到\s*{_N}.*{_PERCENT}", "({1} - {0}) / {0} * 100"),
        (rf"从\s*{_N}{_UNIT}\s*{_LESS}到\s*{_N}.*{_PERCENT}", "({0} - {1}) / {0} * 100"),
        (rf"{_N}{_UNIT}\s*(?:是|占)(?:了)?\s*{_N}{_UNIT}\s*的\s*{_PERCENT}", "{0} / {1} * 100"),
        (
            rf"percent\w* is {_N}{_UNIT} {_HIGHER} than {_N}|percent\w* {_HIGHER} is {_N}{_UNIT} than {_N}",
            "({0} - {1}) / {1} * 100",
        ),
        (
            rf"percent\w* is {_N}{_UNIT} {_LOWER} than {_N}|percent\w* {_LOWER} is {_N}{_UNIT} than {_N}",
            "({1} - {0}) / {1} * 100",
        ),
        (
            rf"percent\w* (?:change|increase|growth|rise|decrease|drop|difference) from {_N}{_UNIT} to {_N}",
            "({1} - {0}) / {0} * 100",
        ),
        (rf"percent\w* of {_N}{_UNIT} (?:is|are) {_N}", "{1} / {0} * 100"),
        (rf"percent\w* (?:is|are) {_N}{_UNIT} of {_N}|{_N}{_UNIT} is what percent\w* of {_N}", "{0} / {1} * 100"),
    )
)
_RATE: Final = re.compile(
    rf"^how (?:many|long)\b.*?{_N} (?P<what>[a-z]+)\b.*?\b(?:at|with|if)\b.*?{_N} (?P=what)s? (?:a|an|per|each|every|in) (?:{_N} )?[a-z]+$",
    re.IGNORECASE,
)
_RATE_FIRST: Final = re.compile(
    rf"每(?:{_N})?\s*[个一]?(?:秒|分钟?|小时|天|日|周|月|年|人|台|辆|箱|次)[^\d]{{0,8}}{_N}\s*(?P<what>\w{{1,3}}?)[，,、 ]"
    rf".*?{_N}\s*(?P=what).*?(?:多久|多长|多少|几)"
)
_ANY: Final = re.compile(_N, re.IGNORECASE)
MOST_WORDS: Final = 120  # characters of a question


def expression_of(question: str) -> str:
    """The expression that a question asks for in words; "" where it is none. Three numbers more than it uses make it another one."""
    text = question.strip().rstrip("?？.。 ")
    if len(text) > MOST_WORDS:
        return ""
    for pattern, form in _FORMS:
        if (found := pattern.search(text)) and _uses_all(text, found):
            return form.format(*_numbers(found))
    if (found := _RATE.search(text)) and _uses_all(text, found):
        amount, rate, *of = _numbers(found)
        return f"{amount} / {rate}" + (f" * {of[0]}" if of else "")
    if (found := _RATE_FIRST.search(text)) and _uses_all(text, found):
        *of, rate, amount = _numbers(found)
        return f"{amount} / {rate}" + (f" * {of[0]}" if of else "")
    return ""


def _uses_all(text: str, found: re.Match[str]) -> bool:
    return len(_ANY.findall(text)) == len(_numbers(found))


def _numbers(found: re.Match[str]) -> list[str]:
    named = found.groupdict().values()
    return [_plain(group) for group in found.groups() if group and group not in named]


def _plain(number: str) -> str:
    """A number in digits alone: 1.2 million is 1200000."""
    bare = number.replace(",", "").strip()
    for word, zeros in _SCALE.items():
        if bare.lower().endswith(word):
            return f"{Decimal(bare[: -len(word)].strip()).scaleb(zeros):f}"
    return bare
