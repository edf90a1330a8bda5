"""Numbers that a table does not keep but that follow from its columns: days between two of its times, what its stock is worth."""

from collections.abc import Iterator

from agent.business.layer.model import Dimension, SemanticModel, Words

DAYS = "days"
_MOST_TIMES = 4  # of a table, that spans are made of
_PRICE = frozenset(("price", "unit price", "list price", "单价", "价格", "标价"))
_STOCK = frozenset(("units in stock", "stock", "stock level", "库存", "库存数量"))
WORTH = (
    "stock value", "inventory value", "stock worth", "inventory worth", "value of stock", "value of inventory", "worth of stock",
    "库存价值", "库存总价值", "库存总值", "库存金额", "库存总金额", "库存总额", "库存货值", "存货价值", "存货金额", "货值",
)  # fmt: skip


def made_of(model: SemanticModel) -> Iterator[Dimension]:
    """The numbers that follow from columns of a table."""
    times = [one for one in model.dimensions if one.type == "time"]
    if len(times) <= _MOST_TIMES:
        for first in times:
            yield from (_days(first, last) for last in times if last is not first)
    price, stock = (_only(model, words) for words in (_PRICE, _STOCK))
    if price and stock:
        label = Words(en="stock value", zh="库存价值")
        expr = f"({price.expr}) * ({stock.expr})"
        yield Dimension(name="stock_value", type="number", expr=expr, unit=price.unit, label=label, synonyms=WORTH)


def span_name(first: str, last: str) -> str:
    """What the number of days between two times is called."""
    return f"{DAYS}_{first}_to_{last}"[:60]


def _days(first: Dimension, last: Dimension) -> Dimension:
    expr = f"CAST({last.expr} AS date) - CAST({first.expr} AS date)"
    start, end = (one.label.en or one.name.replace("_", " ") for one in (first, last))
    label = Words(en=f"days from {start} to {end}", zh=f"{first.label.zh or start}到{last.label.zh or end}的天数")
    return Dimension(name=span_name(first.name, last.name), type="number", expr=expr, unit="d", label=label)


def _only(model: SemanticModel, words: frozenset[str]) -> Dimension | None:
    found = [one for one in model.dimensions if one.type == "number" and words & {word.lower() for word in one.words()}]
    return found[0] if len(found) == 1 else None
