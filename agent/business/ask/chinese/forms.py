"""What the tables of Chinese share: the building blocks of their patterns, and how a table is applied.

A form is a pattern and the plain wording that says the same. Texts arrive with one form of every character (NFKC: “,” for “，”,
“?” for “？”, “(” for “（”; “。” and “、” stay), without their quoted names, with numerals in digits.
"""

import re
from collections.abc import Callable

Form = tuple[str, str | Callable[[re.Match[str]], str]]

HAN = "[\u3400-\u9fff]"
# a word that counts; not where it begins another word: 位置, 种类, 单价
COUNTER = (
    "(?:个|位(?!置)|家|张|款(?!式)|首|种(?!类)|类(?![别型])|条(?![目件款])|笔|单(?![价位])|名(?![字称单])|件|份(?!额)|部(?!门)"
    "|台|只|支|项(?!目)|批|人|回|次(?!数))"
)
NUMBER = r"(?:\d[\d,.]*(?:万|千|亿)?|[一二两三四五六七八九十百]+)"
FIGURE = f"(?:{HAN}{{0,4}}(?:额|量|价|费|数|入|预算|时长|库存|业绩|营收))"
MORE = "(?:超过|多于|大于|高于|少于|小于|不到|不足|低于|至少|不少于|不低于|最多|至多|不超过|达到)"
YEAR = r"(?:(?:19|20)\d\d年|今年|去年|前年)"
MONTH = r"(?:1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月份?"
AND = "(?:和|跟|与|同|、)"
AS_WELL = "(?:也|都|一并|一起|一块儿?|一道|顺便|顺带)"
# an order called by its counter: 这单, 的单; not 单价, 单位, 订单
ORDER = "单(?:子(?![价位元品独据号])|(?![价位元品独据号数量子]))"
END = "[?。!呢啊呀吧]*$"


class Table:
    """Forms of one meaning, applied in their order to a part of a question without quotes."""

    def __init__(self, *forms: Form) -> None:
        self._forms = tuple((re.compile(pattern), plain) for pattern, plain in forms)

    def __call__(self, text: str) -> str:
        for pattern, plain in self._forms:
            text = pattern.sub(plain, text)
        return text
