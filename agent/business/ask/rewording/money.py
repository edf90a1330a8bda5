"""What is said of money and of sizes without naming the column: “orders above 80,000”, “平均每张发票多少钱”, “the biggest invoice”."""

from dataclasses import replace
from itertools import pairwise

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.words.currencies import require_money
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef
from agent.business.ask.words.spoken import found
from agent.business.ask.words.units import key_of

_REVENUE = ("revenue", "sales", "销售额")
_BIGGEST = frozenset(("biggest", "largest", "最大", "smallest", "最小"))
_AMOUNT = ("amount", "order amount", "invoice amount", "金额")
_PRICE = ("price", "unit price", "list price", "单价", "价格", "标价")
_WE = frozenset(("we", "i", "我们", "我", "我司", "公司"))
SPENT = frozenset(
    key_of(verb)
    for verb in ("spend", "spent", "spends", "spending", "消费", "消费额", "消费金额", "花费", "花了", "花")
)
_THINGS = (Kind.MODEL, Kind.MEASURE, Kind.QUANTITY, Kind.DIMENSION, Kind.TIME)


def of_money(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """Money is said of the column of amounts of the table beside it, or, where something was sold, of the revenue."""
    items = _bare_amounts(_takings(items, lexicon), lexicon)
    if all(item.kind is not Kind.CURRENCY for item in items):
        return _priced(items, lexicon)
    items = _priced(items, lexicon)
    require_money(items, lexicon)
    return [item for item in items if item.kind is not Kind.CURRENCY]


def _priced(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items with the columns that money is said of."""
    content = [item for item in items if item.kind is not Kind.STOP]
    kinds = [item.kind for item in content]
    said: dict[int, list[Item]] = {}
    for place, item in enumerate(content):
        if (
            kinds[place : place + 3] == [Kind.COMPARE, Kind.NUMBER, Kind.CURRENCY]
            and place
            and kinds[place - 1] is Kind.MODEL
        ):
            amount = amount_of(content[place - 1], lexicon)
            said[id(item)] = [*([amount] if amount else []), item]
        said |= _of_key(content, place, lexicon)
        said |= _averages(content, place, lexicon)
    said |= _average_of(content, lexicon)
    said |= _in_all(content, lexicon)
    return [part for item in items for part in said.get(id(item), [item])]


def _of_key(content: list[Item], place: int, lexicon: Lexicon) -> dict[int, list[Item]]:
    """“The order numbers above 80,000 CNY”: of money is the amount, never a key or a number of another unit."""
    kinds = [item.kind for item in content[place : place + 3]]
    is_compared = kinds == [Kind.COMPARE, Kind.NUMBER, Kind.CURRENCY]
    is_after = bool(place) and content[place - 1].kind is Kind.COMPARE
    if not is_compared and (is_after or kinds[:2] != [Kind.NUMBER, Kind.CURRENCY]):
        return {}
    end = place + (3 if is_compared or kinds[2:] == [Kind.AFTER] else 2)
    beside = [*content[max(0, place - 1) : place], *content[end : end + 1]]
    column = next((item for item in beside if item.kind is Kind.QUANTITY), None)
    ref = column.refs[0] if column and len(column.refs) == 1 else None
    if column is None or not isinstance(ref, DimensionRef):
        return {}
    model = lexicon.model(ref.model)
    if model.primary is None or lexicon.dimension(ref).expr != model.primary.expr:
        return {}
    amount = amount_of(Item(Kind.MODEL, column.text, (ModelRef(ref.model),)), lexicon)
    if amount is None:
        raise NotUnderstood("money of what")
    return {id(content[place]): [amount, content[place]]}


def _average_of(content: list[Item], lexicon: Lexicon) -> dict[int, list[Item]]:
    """“The average invoice in 2024”: of its amount, where nothing else is said that could be averaged."""
    others = (Kind.QUANTITY, Kind.MEASURE, Kind.COUNT, Kind.MUCH, Kind.TIME, Kind.ADJECTIVE)
    is_per = any(item.kind is Kind.GROUP and item.text.lower() != "by" for item in content)
    if is_per or any(item.kind in others for item in content):
        return {}
    for first, second in pairwise(content):
        if first.kind is Kind.AVG and second.kind is Kind.MODEL and (amount := amount_of(second, lexicon)):
            return {id(first): [first, amount]}
    return {}


def _averages(content: list[Item], place: int, lexicon: Lexicon) -> dict[int, list[Item]]:
    """“平均每张发票多少钱”, “每单平均运费”: the average of a column over the rows of its table."""
    kinds = [item.kind for item in content[place : place + 4]]
    some = content[place : place + 4]
    said: dict[int, list[Item]] = {}
    if kinds[:3] == [Kind.AVG, Kind.GROUP, Kind.QUANTITY] and some[2].is_owned:
        return {id(some[1]): []}
    for shape, thing, size in (
        ([Kind.GROUP, Kind.MODEL, Kind.AVG], 1, 3),
        ([Kind.AVG, Kind.GROUP, Kind.MODEL], 2, 3),
        ([Kind.AVG, Kind.MODEL], 1, 2),
        ([Kind.MODEL, Kind.AVG], 0, 2),
    ):
        last = some[size] if kinds[:size] == shape and len(some) > size else None
        if last is None or last.kind not in (Kind.MUCH, Kind.QUANTITY) or said:
            continue
        is_much = last.kind is Kind.MUCH
        if not is_much and (Kind.GROUP not in shape or not _is_of(last, some[thing])):
            continue
        column = amount_of(some[thing], lexicon) if is_much else replace(last, is_owned=False)
        average = next(item for item in some[:size] if item.kind is Kind.AVG)
        if column is not None:  # “how much is the average invoice” has its question before
            said = {id(item): [] for item in some[:size]} | {id(last): [average, column]}
    return said


def _in_all(content: list[Item], lexicon: Lexicon) -> dict[int, list[Item]]:
    """“取消的订单一共多少钱”: the amounts of the one thing that is asked about, added up."""
    things = [item for item in content if item.kind in _THINGS]
    much = next((item for item in content if item.kind is Kind.MUCH), None)
    is_all = any(item.kind in (Kind.ALL, Kind.SUM) for item in content)
    if much is None or not is_all or len(things) != 1 or things[0].kind is not Kind.MODEL:
        return {}
    if any(item.kind in (Kind.AVG, Kind.MAX, Kind.MIN, Kind.GROUP, Kind.SELL, Kind.BUY) for item in content):
        return {}
    amount = amount_of(things[0], lexicon)
    sums: dict[int, list[Item]] = {id(item): [] for item in content if item.kind is Kind.SUM} if amount else {}
    return sums | {id(much): [Item(Kind.SUM, much.text), amount]} if amount else {}


def _is_of(column: Item, thing: Item) -> bool:
    return bool({ref.model for ref in column.refs} & {ref.model for ref in thing.refs})  # type: ignore[attr-defined,unused-ignore]


def spent_by_us(items: list[Item]) -> list[Item]:
    """“How much did we spend”: of what customers spend, which is revenue, it is the opposite, and is not in the data."""
    said: list[Item] = []
    is_ours = False
    for item in items:
        is_ours = item.text.lower() in _WE if item.kind is Kind.STOP and item.text.lower() in _WE else is_ours
        is_ours = is_ours and item.kind not in (Kind.MODEL, Kind.LIST)
        is_spent = item.kind is Kind.ADJECTIVE and key_of(item.text) in SPENT
        said.append(replace(item, kind=Kind.UNKNOWN) if is_ours and is_spent else item)
    return said


def _takings(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“海鲜一共卖了多少钱”, “the most money”: what was sold, in money."""
    kinds = {item.kind for item in items}
    is_told = bool(kinds & {Kind.MEASURE, Kind.QUANTITY, Kind.ADJECTIVE})
    much = [item for item in items if item.kind is Kind.MUCH and "钱" in item.text]
    if is_told or len(much) != 1 or Kind.SELL not in kinds or not (revenue := found(lexicon, _REVENUE, MeasureRef)):
        return items
    return [revenue if item is much[0] else item for item in items if item.kind is not Kind.SELL]


def _bare_amounts(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Orders above 50,000”, “5万以上的订单”, “the biggest order”: the amount, where the one thing asked about has one."""
    content = [item for item in items if item.kind not in (Kind.STOP, Kind.CURRENCY)]
    things = [item for item in content if item.kind in _THINGS]
    is_alone = len(things) == 1 and things[0].kind is Kind.MODEL
    amount = amount_of(things[0], lexicon) if is_alone else None
    if amount is None and is_alone and any(item.kind is Kind.CURRENCY for item in items):
        amount = _column_of(things[0], _PRICE, lexicon)  # “products over 1,000 yuan”
    if amount is None:
        return items
    thing, kinds = content.index(things[0]), "".join(item.kind.value for item in content)
    before, after = kinds[:thing], kinds[thing + 1 :]
    first = content[thing - 1] if thing else None
    beside: Item | None = None  # the amount stands after it
    if after.startswith(("c#", "#a")):
        beside = things[0]
    elif before.endswith(("c#", "#a")):
        number = content[thing - 2]
        return [part for item in items for part in ([amount, item] if item is number else [item])]
    elif first and first.kind in (Kind.MAX, Kind.MIN) and first.text.lower() in _BIGGEST:
        beside = first
    elif after[:1] in ("X", "N") and content[thing + 1].text.lower() in _BIGGEST:
        beside = content[thing + 1]
    return [part for item in items for part in ([item, amount] if item is beside else [item])]


def amount_of(model: Item, lexicon: Lexicon) -> Item | None:
    """The column of amounts of a table, where it has one."""
    return _column_of(model, _AMOUNT, lexicon)


def _column_of(model: Item, words: tuple[str, ...], lexicon: Lexicon) -> Item | None:
    amount = found(lexicon, words, DimensionRef)
    owners = {ref.model for ref in model.refs}  # type: ignore[attr-defined,unused-ignore]
    refs = tuple(ref for ref in amount.refs if ref.model in owners) if amount else ()  # type: ignore[attr-defined,unused-ignore]
    return replace(amount, refs=refs) if amount and refs else None
