"""How English puts a question, item by item: who bought what, who is hired, where something was shipped to."""

from collections.abc import Sequence
from dataclasses import replace

from agent.business.ask.rewording.amounts import AMOUNTS
from agent.business.ask.rewording.called import CALLED
from agent.business.ask.rewording.trade import trade_of
from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.beside import Mend, next_said, saying, text_of
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef, ValueRef
from agent.business.ask.words.spoken import found
from agent.business.ask.words.units import key_of

_SOLD = ("units sold", "quantity sold")
_BUYERS = ("customer", "client")
_CONDITIONS = (Kind.VALUE, Kind.NOT, Kind.COMPARE, Kind.TIME, Kind.BUY, Kind.QUANTITY)
_JOINING = frozenset("is are was were has have had that which who whose cost costs do does did".split())  # noqa: SIM905
_RANKING = (Kind.MAX, Kind.MIN, Kind.TOP, Kind.AVG)
_SUPPLYING: dict[tuple[str, ...], str] = {
    ("supply",): "supplier",
    ("supplied",): "supplier",
    ("provide",): "supplier",
    ("provided",): "supplier",
}
_SPENT = frozenset(("spent", "spend", "spends"))
_COMMON = frozenset("common commonly frequent frequently often".split())  # noqa: SIM905
_HIRED = frozenset((("joined",), ("join",), ("employed",), ("started",), ("recruited",), ("hired",)))


def asked(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """The items of an English question with who, what and how many spelled out; those of another language unchanged."""
    if any(
        "\u3400" <= character <= "\u9fff" for item in items if item.kind is not Kind.VALUE for character in item.text
    ):
        return items
    if items and items[0].kind is Kind.STOP and text_of(items[0]).split(" ")[0] == "who":
        items = [Item(Kind.LIST, "who"), *items[1:]]  # at the beginning it asks; elsewhere “who is” joins
    for mend in (*_MENDS, *CALLED, *AMOUNTS):
        items = mend(items, lexicon)
    return items


def _commonest(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“The top 3 most common transaction statuses”: by how many there are."""
    content = saying(items)
    most = next(
        (n for n, one in enumerate(content[:-1]) if one.kind is Kind.MAX and text_of(content[n + 1]) in _COMMON), None
    )
    if most is None or text_of(content[most]) not in ("most", "the most"):
        return items
    stop = most + 2 + (most + 2 < len(content) and content[most + 2].kind is Kind.USE)
    before, rest = content[:most], content[stop:]
    column = next((item for item in rest[:2] if item.kind is Kind.DIMENSION), None)
    named = [item for item in content if item.kind is Kind.MODEL]
    owners = [tuple(dict.fromkeys(ModelRef(ref.model) for ref in column.refs))] if column else []
    owner = (
        named[0] if len(named) == 1 else Item(Kind.MODEL, "rows", owners[0]) if owners and len(owners[0]) == 1 else None
    )
    if column is None or owner is None or len(named) > 1:
        return items
    top = (
        []
        if any(item.kind is Kind.TOP for item in before)
        else [Item(Kind.TOP, "top"), Item(Kind.NUMBER, "1", number=1.0)]
    )
    rest = [item for item in rest if item is not column and item is not owner]
    return [*before, *top, column, Item(Kind.GROUP, "by"), Item(Kind.COUNT, "number of"), owner, *rest]


def _ordered(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“Ordered” before a column or a figure sorts; else something was bought."""
    said = []
    for place, item in enumerate(items):
        after = next_said(items, place)
        sorts = after is not None and after.kind in (
            Kind.QUANTITY, Kind.MEASURE, Kind.COUNT, Kind.TIME, Kind.DIMENSION, Kind.DESCENDING, Kind.ASCENDING, Kind.GROUP
        )  # fmt: skip
        by = after is not None and after.kind is Kind.GROUP and _bought_by(items, items.index(after))
        by = by or (after is not None and after.kind is Kind.GROUP and text_of(after) in ("each", "every", "per"))
        is_verb = item.kind is Kind.ORDER and text_of(item) in ("ordered", "ordered by") and (not sorts or by)
        said.append(replace(item, kind=Kind.BUY, text="ordered") if is_verb else item)
    return said


def _bought_by(items: Sequence[Item], by: int) -> bool:
    after = next_said(items, by)
    return after is not None and after.kind in (Kind.VALUE, Kind.QUOTED)


def _who_and_what(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Who ordered Chai”, “what did Fjordline buy”: the buyers, or what is sold, where neither is named."""
    content = saying(items)
    verb = next((item for item in content if item.kind is Kind.BUY or text_of(item) in _SPENT), None)
    if verb is None or any(
        item.kind in (Kind.MODEL, Kind.MEASURE, Kind.COUNT, Kind.MUCH, Kind.WHEN) for item in content
    ):
        return items
    first = items[0] if items else None
    is_who = text_of(first).split(" ")[0] == "who"
    is_what = text_of(first).split(" ")[0] == "what" and first is not None and first.kind is Kind.ASK
    is_what = is_what and verb.kind is Kind.BUY
    thing = _buyer(lexicon) if is_who else _goods(items, lexicon) if is_what else None
    if thing is None or first is None:
        return [replace(item, kind=Kind.UNKNOWN) if item is verb and (is_who or is_what) else item for item in items]
    return [Item(Kind.LIST, "which"), thing, *items[1:]]


def _buyer(lexicon: Lexicon) -> Item | None:
    for word in _BUYERS:
        refs = tuple(ref for ref in lexicon.phrases.get(key_of(word), ()) if isinstance(ref, ModelRef))
        if len(refs) == 1:
            return Item(Kind.MODEL, word, refs)
    return None


def _goods(items: Sequence[Item], lexicon: Lexicon) -> Item | None:
    """The table with names that the lines of what is sold point to, other than who buys."""
    measure = found(lexicon, _SOLD, MeasureRef)
    lines = {ref.model for ref in measure.refs if isinstance(ref, MeasureRef)} if measure else set()
    buyer = _buyer(lexicon)
    buyers = {ref.model for ref in buyer.refs if isinstance(ref, ModelRef)} if buyer else set()
    said = {ref.model for item in items if item.kind is Kind.VALUE for ref in item.refs if isinstance(ref, ValueRef)}
    sold = {
        step.one
        for step in Joins(lexicon.layer).steps
        if step.many in lines and step.one not in buyers | said and lexicon.model(step.one).name_dimension is not None
    }
    return Item(Kind.MODEL, "product", (ModelRef(sold.pop()),)) if len(sold) == 1 else None


def _never_sold(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Genres that never sold a track”: without a sale of a track, not without tracks."""
    content = saying(items)
    for first, second, third in zip(content, content[1:], content[2:], strict=False):
        is_sale = first.kind is Kind.NOT and second.kind in (Kind.SELL, Kind.BUY) and third.kind is Kind.MODEL
        if not is_sale or len(third.refs) != 1:
            continue
        model = third.refs[0].model  # type: ignore[union-attr,unused-ignore]
        trade = trade_of(model, lexicon)
        others = [one for one in content if one.kind is Kind.MODEL and one is not third]
        if trade and trade != model and others:
            row = Item(Kind.MODEL, third.text, (ModelRef(trade),))
            return [row if item is third else item for item in items if item is not second]
    return items


def _last_bought(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“When did Fjordline last order something”: the time of the latest order."""
    content = saying(items)
    verb = next((item for item in content if item.kind is Kind.BUY), None)
    is_when = any(item.kind is Kind.WHEN for item in content)
    way = next((item for item in content if item.kind in (Kind.MAX, Kind.MIN, Kind.TOP)), None)
    if verb is None or not is_when or way is None or any(item.kind is Kind.MODEL for item in content):
        return items
    values = [
        ref.model for item in content if item.kind is Kind.VALUE for ref in item.refs if isinstance(ref, ValueRef)
    ]
    trade = trade_of(values[0], lexicon) if values else ""
    if not trade:
        return items
    return [Item(Kind.MODEL, verb.text, (ModelRef(trade),)) if item is verb else item for item in items]


def _and_are(items: list[Item], _lexicon: Lexicon) -> list[Item]:
    """“… that started in May and are still running”: one condition more, not one thing more."""
    return [
        item
        for place, item in enumerate(items)
        if not (
            item.kind is Kind.AND
            and place + 1 < len(items)
            and items[place + 1].kind is Kind.STOP
            and text_of(items[place + 1]).split(" ")[0] in _JOINING
            and (after := next_said(items, place)) is not None
            and after.kind in _CONDITIONS
        )
    ]


def _employed(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Still employed”: not those who left, where the layer knows them; “joined” as “hired”."""
    said: list[Item] = []
    for item in items:
        if item.kind is not Kind.UNKNOWN or key_of(item.text)[0:1] not in _HIRED:
            said.append(item)
        elif said and text_of(said[-1]) == "still":
            left = tuple(ref for ref in lexicon.phrases.get(("left",), ()) if isinstance(ref, ValueRef))
            said += [Item(Kind.NOT, "not"), Item(Kind.VALUE, "left", left)] if left else []
        else:
            refs = tuple(ref for ref in lexicon.phrases.get(("hired",), ()) if isinstance(ref, DimensionRef))
            said.append(Item(Kind.TIME, item.text, refs) if refs else item)
    return said


def _shipped_to(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Which countries did we ship to”: the countries of the shipments, where the layer has them apart."""
    verb = next(
        (
            i
            for i in items
            if text_of(i) in ("ship", "shipped", "ships", "shipping") and i.kind in (Kind.STOP, Kind.TIME)
        ),
        None,
    )
    is_to = any(text_of(item) == "to" and item.kind is Kind.STOP for item in items)
    if verb is None or not is_to:
        return items
    said: list[Item] = []
    for item in items:
        refs: tuple[DimensionRef, ...] = ()
        if item.kind is Kind.DIMENSION and not item.is_owned:
            for word in ("ship", "shipping", "destination"):
                found_refs = lexicon.phrases.get((word, *key_of(item.text)), ())
                refs = refs or tuple(ref for ref in found_refs if isinstance(ref, DimensionRef))
        said.append(replace(item, refs=refs) if refs else item)
    changed = any(one is not other for one, other in zip(said, items, strict=True))
    return [item for item in said if item is not verb] if changed else items


def _order_by(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“The biggest order by revenue”: an order, and by what; at the end of a question about other things it sorts."""
    orders = tuple(ref for ref in lexicon.phrases.get(("order",), ()) if isinstance(ref, ModelRef))
    for place, item in enumerate(items):
        before = saying(items[:place])[-1:]
        if item.kind is Kind.ORDER and text_of(item) == "order by" and before and before[0].kind in _RANKING and orders:
            return [*items[:place], Item(Kind.MODEL, "order", orders), Item(Kind.GROUP, "by"), *items[place + 1 :]]
    return items


def _who_supplies(items: list[Item], lexicon: Lexicon) -> list[Item]:
    """“Who supplies Chai”: the supplier, where the layer has such a table."""
    if not items or text_of(items[0]) != "who" or any(item.kind is Kind.MODEL for item in items):
        return items
    verb = next((item for item in items if key_of(item.text)[:1] in _SUPPLYING), None)
    if verb is None:
        return items
    word = _SUPPLYING[key_of(verb.text)[:1]]
    refs = tuple(ref for ref in lexicon.phrases.get((word,), ()) if isinstance(ref, ModelRef))
    return (
        [items[0], Item(Kind.MODEL, word, refs), *(item for item in items[1:] if item is not verb)] if refs else items
    )


_MENDS: tuple[Mend, ...] = (
    _order_by,
    _commonest,
    _who_supplies,
    _employed,
    _ordered,
    _last_bought,
    _who_and_what,
    _never_sold,
    _and_are,
    _shipped_to,
)
