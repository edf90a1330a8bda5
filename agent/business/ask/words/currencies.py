"""Money is compared with money, in the column's own currency: “stock above 100 CNY” counts nothing that is worth 100."""

from itertools import pairwise

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.words.beside import saying
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_CODES = {
    "CNY": "元 块 块钱 人民币 万元 rmb cny yuan", "USD": "美元 usd dollar dollars us$", "EUR": "欧元 eur euro euros",
}  # fmt: skip
_CODE_OF = {word: code for code, words in _CODES.items() for word in words.split()}
_SIGNS = {"$": "USD", "€": "EUR", "¥": "CNY", "￥": "CNY"}
_MONEY = _words(
    "price cost amount total freight budget revenue sale sales turnover salary wage fee charge value spend spending payment income profit "
    "价 额 费 金 预算 收入 款 成本 工资 薪 价格 货值 价值"
)
_BETWEEN = (Kind.NUMBER, Kind.COMPARE, Kind.BETWEEN, Kind.AND, Kind.OR, Kind.CURRENCY, Kind.AFTER)


def require_money(items: list[Item], lexicon: Lexicon) -> None:
    """Raises NotUnderstood where a sum of money is said of a number of other things, or in another currency."""
    content = saying(items)
    for place, (number, currency) in enumerate(pairwise(content)):
        if currency.kind is Kind.CURRENCY and number.kind is Kind.NUMBER:
            _require_of(_beside(content, place), currency, lexicon)
    for item in content:
        if item.kind is Kind.CURRENCY:
            for ref in _refs(content):
                _require_same(ref, item, lexicon)


def _beside(content: list[Item], place: int) -> Item | None:
    """What a number is compared with: what stands before it and its comparison, else what stands after."""
    before = next((item for item in reversed(content[:place]) if item.kind not in _BETWEEN), None)
    after = next((item for item in content[place + 1 :] if item.kind not in _BETWEEN), None)
    for item in (before, after):
        if item is not None and item.kind in (Kind.QUANTITY, Kind.MEASURE):
            return item
    return None


def _require_of(column: Item | None, currency: Item, lexicon: Lexicon) -> None:
    if column is None:
        raise NotUnderstood("money of what")
    refs = [ref for ref in column.refs if isinstance(ref, DimensionRef | MeasureRef)]
    if not any(_is_money(ref, lexicon) for ref in refs):
        raise NotUnderstood(f"{column.text} is not counted in {currency.text}")


def _refs(content: list[Item]) -> list[DimensionRef | MeasureRef]:
    return [
        ref
        for item in content
        if item.kind in (Kind.QUANTITY, Kind.MEASURE) and len(item.refs) == 1
        for ref in item.refs
        if isinstance(ref, DimensionRef | MeasureRef)
    ]


def _require_same(ref: DimensionRef | MeasureRef, currency: Item, lexicon: Lexicon) -> None:
    said, own = _CODE_OF.get(currency.text.lower()), _unit(ref, lexicon).upper()
    own = _SIGNS.get(own, own)
    if said and own in _CODES and own != said:
        raise NotUnderstood(f"{own}, and not {said}")


def _unit(ref: DimensionRef | MeasureRef, lexicon: Lexicon) -> str:
    return lexicon.measure(ref).unit if isinstance(ref, MeasureRef) else lexicon.dimension(ref).unit


def _is_money(ref: DimensionRef | MeasureRef, lexicon: Lexicon) -> bool:
    unit = _unit(ref, lexicon)
    if unit:
        return unit.upper() in _CODES or unit in _SIGNS
    named = lexicon.measure(ref) if isinstance(ref, MeasureRef) else lexicon.dimension(ref)
    return any(word.lower().endswith(_MONEY) for word in named.words())
