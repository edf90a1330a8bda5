"""Adjectives and verbs that stand for a column or measure of the layer: “cheapest”, “best selling”, “out of stock”, “spent”."""

from dataclasses import dataclass

from agent.business.ask.words.function_words import Kind, split_phrases


@dataclass(frozen=True)
class Adjective:
    """kind: what it does with its column: MAX, MIN, COMPARE with 0, or None for the column alone. columns, measures: words to look
    for in the layer. alone: what it is where the layer has none of them; None: unknown. sign: of COMPARE.
    """

    kind: Kind | None
    columns: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    alone: Kind | None = None
    sign: str = "="


_PRICE = ("price", "unit price", "list price", "cost", "价格", "单价", "标价")
_BIRTH = ("birth date", "date of birth", "birthday", "出生日期", "出生", "生日")
_LENGTH = ("length", "duration", "时长", "长度")
_AMOUNT = ("amount", "order amount", "invoice amount", "金额")
_DISCOUNT = ("discount", "折扣")
_STOCK = ("units in stock", "stock", "库存")
_UNITS_SOLD = ("units sold", "quantity sold", "销量")
_SHIPPED = ("shipped date", "shipping date", "ship date", "发货日期", "发货时间")
_REVENUE = ("revenue", "sales", "销售额")
_ADJECTIVES: dict[str, Adjective] = {
    "most expensive; priciest; costliest; 最贵; 最昂贵; 价格最贵": Adjective(Kind.MAX, _PRICE),
    "cheapest; least expensive; lowest priced; 最便宜; 最廉价": Adjective(Kind.MIN, _PRICE),
    "oldest; 最年长; 年龄最大; 年纪最大": Adjective(Kind.MIN, _BIRTH),
    "youngest; 最年轻; 年龄最小; 年纪最小": Adjective(Kind.MAX, _BIRTH),
    "cost; costs; costing; 价; 卖多少钱; priced; 售价; 卖价; 定价; 定价为; 定价是; 要价; 标价为; 价钱; 价位; 卖多少": Adjective(
        None, _PRICE
    ),
    "best; top performing; 最好": Adjective(Kind.MAX, alone=Kind.MAX),
    "worst; 最差": Adjective(Kind.MIN, alone=Kind.MIN),
    "worth; valued at; value of": Adjective(None, _AMOUNT),
    "units; quantity": Adjective(None, measures=_UNITS_SOLD),
    "longest; 最长": Adjective(Kind.MAX, _LENGTH, alone=Kind.MAX),
    "shortest; 最短": Adjective(Kind.MIN, _LENGTH, alone=Kind.MIN),
    "best selling; best-selling; bestselling; top selling; most sold; 最畅销; 畅销; 最热销; 卖得最好; "
    "卖得最多; 卖的最好; 卖的最多; most popular; 最受欢迎; 最受客户欢迎": Adjective(Kind.MAX, measures=_UNITS_SOLD),
    "worst selling; least popular; least selling; least sold; 最滞销; 卖得最差; 卖得最少": Adjective(
        Kind.MIN, measures=_UNITS_SOLD
    ),
    (
        "out of stock; sold out; 缺货; 无货; 断货; 无库存; 没有库存; 库存为零; 售罄; 没货; 没货了; 没有货; 没有货了; 没库存; "
        "没库存了; 没有库存了; 卖光; 卖光了; 卖完了; 卖断货"
    ): Adjective(Kind.COMPARE, _STOCK),
    "in stock; 有库存; 有货; 还有库存; 还有货; 仍有库存; 有存货; 还有存货; 有现货": Adjective(
        Kind.COMPARE, _STOCK, sign=">"
    ),
    "打折; 打过折; 打了折; 打折的; 有折扣; 有折扣的; 享受折扣; 有优惠": Adjective(Kind.COMPARE, _DISCOUNT, sign=">"),
    "没打折; 没打过折; 没有打折; 没打过折扣; 没有折扣; 无折扣; 未打折; 不打折; 没优惠": Adjective(
        None, alone=Kind.UNKNOWN
    ),
    "money; total spend; total spending; 总消费; 总消费额; 总消费金额; 累计消费额; 累计消费金额; 累计消费; 消费总额; 总花费": Adjective(
        None, measures=_REVENUE
    ),
    "went out; go out; gone out; goes out; sent out; dispatched; 发出; 发出去; 寄出": Adjective(None, _SHIPPED),
    "spend; spent; spends; spending; 消费; 消费额; 消费金额; 花费; 花了; 花": Adjective(None, measures=_REVENUE),
}

ADJECTIVES: dict[tuple[str, ...], Adjective] = {
    form: adjective
    for text, adjective in _ADJECTIVES.items()
    for key in split_phrases(text)
    for form in ((key, ("the", *key)) if adjective.kind is not None else (key,))
}
