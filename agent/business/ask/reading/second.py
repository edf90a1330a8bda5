"""Two things asked at once: “最贵的产品是哪个，多少钱”, “which projects are paused, and what are their budgets?”.

The first part is a question of its own. The second says nothing but a column of what is found, its figure again, or its order; whatever
else it says is not understood.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from agent.business.ask.meaning import Figure, NotUnderstood, Period, Question, Rows
from agent.business.ask.reading.each_shown import of_each
from agent.business.ask.reading.figure_phrases import FIGURE, figure_of
from agent.business.ask.reading.goes_on import of_another_time, of_same_column
from agent.business.ask.reading.references import References
from agent.business.ask.rewording.money import amount_of
from agent.business.ask.sql.figures import counted, model_of_figure
from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ModelRef
from agent.business.ask.words.spoken import found

_ENDS = re.compile(
    r"(?:[,;?。!,；？！]|(?<=[a-z\d\)])\.(?=\s+[A-Z]))(?:\s*(?:and|so|then|also)\b)?(?=.*[\w\u3400-\u9fff])"
    r"|\s+and (?=(?:what|when|who|how much|how many|its|their|for how|the [a-z]+(?: [a-z]+)?\W*$)\b)"
    r"|(?<=[\u3400-\u9fff])(?=是(?:由|被|来自|属于|归|开给|发给|卖给|寄给|送给|给)?(?:哪(?:一)?(?:位|个|家|名|张|种|类|款)?|谁)[^,?]{0,6}的[?。]?$)"
    r"|(?<=[\u3400-\u9fff])(?<!共)(?<!计)(?<!总)(?<!均)(?=(?:要|卖|值)?多少钱[呢呀啊]?[?。]?$)"
    r"|(?=是?(?:由)?谁(?:来|在)?(?:负责|跟进|对接|经手))|(?=的?负责人是谁)",
    re.IGNORECASE,
)
_ASKING = re.compile(r"哪|谁|什么|多少|几|列出|多长|多大|\b(?:which|what|who|when|where|how)\b", re.IGNORECASE)
_NAMED_COLUMN = re.compile(
    r"最.*?(?P<second>[\u3400-\u9fff]{2,5}(?:是|有|为|各是|分别是)?"
    r"(?:多少|什么|多长|多大|哪天|什么时候|几号)[呢呀啊]*[?。]?)$"
)
_COLUMN_OF_FIRST = re.compile(
    r"最.*?(?:\d+|[两二三四五六七八九十]+)[张个位家名笔首种款条件].*的(?P<second>[\u3400-\u9fff]{2,5})[?。]?$"
)
_LONGEST_NAME = 5  # characters of a column's name
_LENGTH = ("length", "duration", "时长", "长度")
_PRICE = ("price", "unit price", "list price", "单价", "价格", "标价")
_PIECE = rf"(?:{FIGURE}|[ndtM])"
_SAID_AGAIN = (Kind.ASK, Kind.EACH, Kind.LIST, Kind.STOP, Kind.EXISTS)
_REFERRING = frozenset(("各", "各自", "each", "每个"))


@dataclass(frozen=True)
class _Second:
    """What a second part says of a first: items, of which words that only ask are gone."""

    items: list[Item]
    first: Question
    lexicon: Lexicon
    references: References
    is_shown: bool = False  # whether it lists what is to be shown

    @property
    def thing(self) -> str:
        """The table whose rows, or whose groups, the first part finds."""
        if self.first.figures:
            groups = [group for group in self.first.groups if not isinstance(group, Period)]
            models = {group.model for group in groups}
            is_one = len(models) == 1 and len(groups) == len(self.first.groups)
            is_thing = len(groups) == 1 and isinstance(groups[0], ModelRef)
            is_column = (
                self.is_shown and self.first.limit is None
            )  # “for each car model … return the make and the model”
            return models.pop() if is_one and (is_thing or is_column) else ""
        return self.first.of or ""

    def combined(self) -> Question:
        """The first question with what the second adds. Raises NotUnderstood."""
        letters = "".join(item.kind.value for item in self.items)
        going_on = of_another_time(self.first, self.items) or of_same_column(self.first, self.items, self.lexicon)
        own = "[SV]?mC?|[SVXN]nC?|n[SVXNA]C?|AnC?|[XN]tz?|t[XN]z?|z[XN]t"  # “…，其中最早的入职日期是哪天”
        another = self._another() if re.fullmatch(own, letters) else None
        if going_on is not None or another is not None:
            return going_on or another  # type: ignore[return-value]  # one of them is there
        is_again = letters in ("", "C", "CM", "MC", "m", "mC", "mH", "SM", "Cm", "HC")
        if is_again or (letters == "H" and self.first.figures):
            return self._again(letters)
        if re.fullmatch("[GO]?(?:m|CM|MC|[nt])?O?[DE]?O?", letters) and re.search("[GODE]", letters):
            return self._ordered()
        if re.fullmatch("L?T#(?:M|d)?|(?:M|d)T#", letters):
            return self._cut()
        if len(pieces := self._pieces(letters)) > 1:
            return self._shown(pieces)
        return self._with(self._columns(letters))

    def _pieces(self, letters: str) -> list[list[Item]]:
        """“Name, number of orders and total amount”: the items of each, where a figure is among several; else none."""
        if not re.fullmatch(f"(?:{_PIECE}&?)+", letters):
            return []
        found = list(re.finditer(_PIECE, letters))
        has_figure = any(re.fullmatch(FIGURE, one[0]) for one in found)
        return [self.items[one.start() : one.end()] for one in found] if has_figure else []

    def _shown(self, pieces: list[list[Item]]) -> Question:
        """What is to be shown, piece by piece: what is shown anyway, and columns and figures besides. Raises NotUnderstood."""
        question = self.first
        for piece in pieces:
            part = replace(self, items=piece, first=question, is_shown=True)
            if re.fullmatch(FIGURE, "".join(item.kind.value for item in piece)):
                question = part._again_or_besides()
            elif not any(ref in question.groups for ref in piece[0].refs):
                question = part._with([ref for ref in [part._column(piece[0])] if not part._is_name(ref)])
        return question

    def _again_or_besides(self) -> Question:
        first = self.first
        if not first.figures:
            raise NotUnderstood("a figure of each")
        near = [
            replace(i, refs=(self.references.dimension(i, near=self._counted()),))
            if i.kind in (Kind.QUANTITY, Kind.TIME, Kind.DIMENSION)
            else i
            for i in self.items
        ]
        figure = figure_of(self.references, near)
        if any(counted(figure, self.lexicon) == counted(one, self.lexicon) for one in first.figures):
            return first
        models = {model_of_figure(one) for one in (*first.figures, figure)}
        if len(models) > 1 or first.derived or first.having or first.counts_groups or not first.groups:
            raise NotUnderstood("another figure than the first part’s")
        return replace(first, figures=(*first.figures, figure))

    def _is_name(self, ref: DimensionRef) -> bool:
        """Whether a column is what the things are called by that the first part shows."""
        return ref.model == self.thing and self.lexicon.dimension(ref).is_name

    def _columns(self, letters: str) -> list[DimensionRef]:
        """The columns that are asked for. Raises NotUnderstood."""
        if letters == "H":
            return [self._price()]
        if letters in ("z", "tz", "zt") and self.thing:
            return [self._time()]
        is_column = re.fullmatch("M?[ndtM](?:&?[ndtM])*[CHz]?|[CHz][ndt]", letters)
        if not is_column or ("M" in letters and "C" in letters):
            raise NotUnderstood("a second thing asked that is no column of the first")
        return [self._column(item) for item in self.items if item.kind.value in "ndtM"]

    def _again(self, letters: str) -> Question:
        """The figure that the first part ranks by, or shows, asked for in so many words."""
        if letters == "C" and not self.first.figures and len(self.first.numbers) == 1:
            return self.first  # “库存低于10的商品有哪些，还剩多少”: a list shows what it is cut by
        shown: list[Figure] = [*self.first.figures, *(one.figure for one in self.first.having)]
        if not self.first.groups and not self.first.having:
            raise NotUnderstood("a figure of what")
        if re.fullmatch("[SV]?mC?|[SVXN]nC?|n[SVXNA]C?|AnC?", letters) and (second := self._another()) is not None:
            return second
        if letters in ("", "C", "H", "HC"):
            is_right = not letters or (bool(shown) and (letters == "C" or not isinstance(shown[0], Rows)))
        else:
            is_right = self._figure() in shown
        if not is_right:
            raise NotUnderstood("another figure than the first part’s")
        return self.first

    def _another(self) -> Question | None:
        """A second figure of the same rows: “有多少订单，总金额多少”; None where the first part shows it."""
        said = [item for item in self.items if item.kind not in (Kind.COUNT, Kind.ALL, Kind.WHEN)]
        if any(item.kind is Kind.ALL for item in self.items):
            column = next(item for item in said if item.kind is Kind.QUANTITY)
            if not self.lexicon.is_amount(self.references.dimension(column, near=self._counted())):
                raise NotUnderstood("what is added up")
            said = [Item(Kind.SUM, column.text), column]
        first = self.first
        near = [
            replace(i, refs=(self.references.dimension(i, near=self._counted()),))
            if i.kind in (Kind.QUANTITY, Kind.TIME)
            else i
            for i in said
        ]
        figure = figure_of(self.references, near)
        if figure in [*first.figures, *(one.figure for one in first.having)]:
            return None
        if not first.figures or first.limit or first.derived or first.counts_groups or first.having:
            return None
        if {model_of_figure(one) for one in first.figures} != {model_of_figure(figure)}:
            raise NotUnderstood("figures of several tables")
        return replace(first, figures=(*first.figures, figure))

    def _counted(self) -> str:
        """The table whose rows the first figure is made of."""
        return model_of_figure(self.first.figures[0]) if self.first.figures else self.thing

    def _figure(self) -> Figure:
        kinds = (Kind.MEASURE, Kind.COUNT, Kind.MODEL, Kind.SUM)
        return figure_of(self.references, [item for item in self.items if item.kind in kinds])

    def _price(self) -> DimensionRef:
        """“How much is it”: the price of a thing, or the amount of an order."""
        own = (ModelRef(self.thing),)
        amount = amount_of(Item(Kind.MODEL, self.thing, own), self.lexicon) if self.thing else None
        price = found(self.lexicon, _PRICE, DimensionRef)
        refs = [ref for item in (amount, price) if item for ref in item.refs if isinstance(ref, DimensionRef)]
        fits = list(dict.fromkeys(ref for ref in refs if ref.model == self.thing))
        if len(fits) != 1:
            raise NotUnderstood("how much of what")
        return fits[0]

    def _time(self) -> DimensionRef:
        named = next((item for item in self.items if item.kind is Kind.TIME), None)
        if named is not None:
            return self.references.dimension(named, near=self.thing)
        default = self.lexicon.model(self.thing).defaults.agg_time_dimension
        if not default:
            raise NotUnderstood("when what happened")
        return DimensionRef(self.thing, default)

    def _column(self, item: Item) -> DimensionRef:
        """A column of the thing, or the name of what it points to."""
        if item.kind is not Kind.MODEL:
            ref = self.references.dimension(item, near=self.thing)
        else:
            model = self.references.model(item)
            name = self.lexicon.model(model).name_dimension
            if name is None or model == self.thing:
                raise NotUnderstood("a thing that has no name")
            ref = DimensionRef(model, name.name)
        way = Joins(self.lexicon.layer).up(self.thing, ref.model) if self.thing else None
        if way is None:
            raise NotUnderstood("a column that is not the first part’s")
        return ref

    def _with(self, columns: list[DimensionRef]) -> Question:
        first = self.first
        if first.derived or first.counts_groups or not self.thing:
            raise NotUnderstood("a column beside a number")
        if first.figures:
            return replace(first, groups=(*first.groups, *columns))
        return replace(first, also=tuple(dict.fromkeys((*first.also, *columns))), is_any=False)

    def _ordered(self) -> Question:
        """The order of the list: by the figure or column that it is found by, or by another one where all are shown."""
        is_ascending = any(item.kind is Kind.ASCENDING for item in self.items)
        is_descending = any(item.kind is Kind.DESCENDING for item in self.items)
        first = self.first
        by = next(
            (item for item in self.items if item.kind in (Kind.QUANTITY, Kind.TIME, Kind.MEASURE, Kind.MODEL)), None
        )
        if first.figures and first.groups:
            is_same = by is None or (by.kind in (Kind.MEASURE, Kind.MODEL) and self._figure() == first.figures[0])
            said = is_ascending if is_ascending or is_descending or not first.limit else first.is_ascending
            if not is_same or (first.limit and said != first.is_ascending) or first.derived:
                raise NotUnderstood("another order than the first part’s")
            if any(isinstance(group, Period) for group in first.groups):
                raise NotUnderstood("an order of periods")
            return replace(first, is_ascending=said)
        column = self._column(by) if by and by.kind in (Kind.QUANTITY, Kind.TIME) else None
        if first.figures or first.derived or column is None or (first.limit and column != first.order):
            raise NotUnderstood("an order of what")
        if first.limit:
            return first
        return replace(first, order=column, is_ascending=not is_descending)

    def _cut(self) -> Question:
        """“…，列出前三名供应商”: the first ones of all groups."""
        first = self.first
        number = next(item.number for item in self.items if item.kind is Kind.NUMBER)
        named = [item for item in self.items if item.kind in (Kind.MODEL, Kind.DIMENSION)]
        groups = [group for group in first.groups if not isinstance(group, Period)]
        is_same = all(set(item.refs) & set(groups) for item in named)
        is_cut = first.limit not in (None, 1)
        if is_cut or first.derived or len(groups) != 1 or len(first.groups) != 1 or not first.figures or not is_same:
            raise NotUnderstood("the first of what")
        return replace(first, limit=int(number))


def asks_twice(text: str) -> bool:
    """Whether two parts of a question, each with a word that asks, stand beside each other."""
    parts = [part for part in re.split(r"[,;?，；？]", text) if part.strip()]
    return len(parts) > 1 and sum(bool(_ASKING.search(part)) for part in parts) > 1


def parts_of(text: str) -> Iterator[tuple[str, str]]:
    """A question cut in two at each place where a second one may begin, the last first."""
    for end in reversed(list(_ENDS.finditer(text))):
        first, second = text[: end.start()].strip(" ,;，；"), text[end.end() :].strip()
        if first and second:
            yield first, second
    yield from of_each(text)
    named = _NAMED_COLUMN.search(text)  # “最贵的商品单价是多少”
    if of_first := _COLUMN_OF_FIRST.search(text):  # “运费最高的5张订单的订单号”
        yield text[: of_first.start("second") - 1], of_first["second"]
    for place in range(named.start("second"), named.start("second") + _LONGEST_NAME - 1) if named else ():
        yield text[:place], text[place:]


def with_second(
    first: Question, items: list[Item], second: str, lexicon: Lexicon, read: Callable[[list[Item], str], list[Item]]
) -> Question:
    """The first part's question with what the second part asks. items: of the first; read: the items of a text that goes on from
    items. Raises NotUnderstood.
    """
    thing = _Second([], first, lexicon, References(lexicon, items)).thing
    owner = [Item(Kind.MODEL, "", (ModelRef(thing),))] if thing else []
    told = [_length(item, lexicon) for item in read(owner, second) if item.kind is not Kind.STOP]
    told = [item for item in told if item not in owner]
    if any(item.kind is Kind.UNKNOWN for item in told):
        raise NotUnderstood(
            "words that stand for nothing here", unknown=tuple(i.text for i in told if i.kind is Kind.UNKNOWN)
        )
    asked = [
        i for i in told if i.kind not in _SAID_AGAIN and not (i.kind is Kind.GROUP and i.text.lower() in _REFERRING)
    ]
    references = References(lexicon, [*items, *told])
    question = _Second(asked, first, lexicon, references).combined()
    is_price = [item.kind for item in asked] == [Kind.MUCH] and all(item.kind is not Kind.LIST for item in items)
    return replace(question, is_any=True) if is_price else question  # “最贵的歌多少钱”


def _length(item: Item, lexicon: Lexicon) -> Item:
    """“…，多长”: the column of lengths."""
    return (found(lexicon, _LENGTH, DimensionRef) or item) if item.text in ("多长", "有多长", "多久") else item
