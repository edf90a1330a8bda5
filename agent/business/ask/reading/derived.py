"""What a question makes of figures: the words that say so are taken out, and what is left is read as questions of its own.

“What share of orders was cancelled” is two questions, cancelled orders and orders; “revenue this year vs last year” is one asked of
two times. Whatever is left must be read like any other question, so nothing is dropped that was not read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent.business.ask.meaning import (
    Aggregate,
    AveragePer,
    Comparison,
    Existence,
    Figure,
    NotUnderstood,
    Period,
    Question,
    Rows,
    Share,
    Within,
)
from agent.business.ask.reading.compared import is_change, times_compared
from agent.business.ask.reading.ratios import ratio
from agent.business.ask.words.function_words import NUMBER_WORDS, Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ModelRef

Read = Callable[[list[Item]], Question]
_EACH = ("each", "every", "per", "within", "每", "各")
_SPLITS = frozenset("is are was were come comes came that which have has live located belong".split())  # noqa: SIM905
_AMONG = frozenset("中 里 里面 当中 其中".split())  # noqa: SIM905
_ORDINALS = {"second": 2, "third": 3, "fourth": 4, "fifth": 5}


@dataclass(frozen=True)
class DerivedReader:
    """read: of a question without such words."""

    lexicon: Lexicon
    is_chinese: bool
    read: Read

    def reading(self, items: list[Item]) -> Question:
        """The reading of a whole question. Raises NotUnderstood."""
        kinds = [item.kind for item in items]
        are_compared = kinds.count(Kind.WINDOW) > 1 or Kind.PREVIOUS in kinds or Kind.CHANGE in kinds
        if are_compared and Kind.OUT_OF not in kinds:
            return self._comparison(_without(items, Kind.SHARE) if is_change(kinds) else items)
        if Kind.RATIO in kinds:
            return ratio(items, self.lexicon, self.read)
        if Kind.SHARE in kinds or Kind.OUT_OF in kinds:
            return self._share(items)
        if Kind.WHEN in kinds:
            return self._when(_without(items, Kind.WHEN))
        if Kind.ORDINAL in kinds:
            return self._ordinal(items)
        return self._exists(items) or self._within(items) or self._average_per(items) or self.read(items)

    def _exists(self, items: list[Item]) -> Question | None:
        if all(item.kind is not Kind.EXISTS for item in items):
            return None
        rest = _without(items, Kind.EXISTS)
        try:
            question = self.read(rest)
        except NotUnderstood:
            question = self.read(_listed(rest))  # “今年有没有招过高级工程师”: whether there are any that it is said of
        return question if question.figures else replace(question, derived=Existence(), order=None)

    # shares

    def _share(self, items: list[Item]) -> Question:
        rest = _without(items, Kind.SHARE)
        if any(item.kind in (Kind.COUNT, Kind.MUCH) for item in rest) and Kind.OUT_OF not in [i.kind for i in items]:
            rest = _without(rest, Kind.MUCH)
        out_of = next((n for n, item in enumerate(rest) if item.kind is Kind.OUT_OF), None)
        if out_of is not None:
            part, whole = rest[:out_of], rest[out_of + 1 :]
            measures = [item for item in whole if item.kind is Kind.MEASURE]
            if measures and all(item.kind not in (Kind.MEASURE, Kind.QUANTITY) for item in part):
                part = [*part, *measures]  # “德国客户占总销售额的多少”
            return self._part_of(_without(part, Kind.COUNT), _without(whole, Kind.COUNT))
        if any(item.kind in (Kind.GROUP, Kind.PERIOD) for item in rest):
            question = self._counted(self.read(rest))
            if not question.groups or len(question.figures) != 1 or _conditions(question):
                raise NotUnderstood("a share of what")
            _require_additive(question.figures[0], self.lexicon)
            return replace(question, derived=Share())
        split = self._split(rest)
        if split is not None and (whole := rest[:split]):
            return self._part_of(rest, whole)
        return self._part_of(rest, [])

    def _split(self, items: list[Item]) -> int | None:
        """Where what a whole is said to be ends: before “are”, after “中”; None where one condition says what the part is."""
        things = (Kind.MODEL, Kind.MEASURE)
        seen = False
        for place, item in enumerate(items):
            seen = seen or item.kind in things
            if seen and item.kind is Kind.STOP and item.text.lower() in (_AMONG if self.is_chinese else _SPLITS):
                return place
        return None

    def _part_of(self, part: list[Item], whole: list[Item]) -> Question:
        """A share of one number in another; what is the whole where it is not said is the part without its one condition."""
        question = self._counted(self.read(_listed(part)))
        if question.groups or question.limit or len(question.figures) != 1:
            raise NotUnderstood("a share of what")
        _require_additive(question.figures[0], self.lexicon)
        said = [item for item in whole if item.kind in (Kind.MODEL, Kind.MEASURE, Kind.VALUE)]
        if said:
            windows = [item for item in part if item.kind is Kind.WINDOW]
            missing = [] if any(item.kind is Kind.WINDOW for item in whole) else windows
            base = self._counted(self.read(_listed([*(item for item in whole if item.kind is not Kind.SUM), *missing])))
        else:
            base = _without_conditions(question)
        base = replace(base, related=() if _conditions(base) == base.related else base.related)
        if base.figures != question.figures or base.groups or set(_conditions(question)) == set(_conditions(base)):
            raise NotUnderstood("a share of what")
        if not said and len(_conditions(question)) != 1:
            raise NotUnderstood("which condition makes the part")
        if not set(_conditions(base)) <= set(_conditions(question)):
            raise NotUnderstood("the part is no part of the whole")
        return replace(question, derived=Share(base))

    def _counted(self, question: Question) -> Question:
        """A list of things as their number."""
        if question.figures or question.of is None:
            return question
        if question.columns or question.limit:
            raise NotUnderstood("a number of what")
        return replace(question, figures=(Rows(question.of),), of=None, order=None)

    # two times

    def _comparison(self, items: list[Item]) -> Question:
        said = times_compared(items)
        as_asked = (
            self._counted if said.is_compared else lambda question: question
        )  # “in both 2024 and 2025” of things is none
        current, previous = (
            as_asked(self.read(asked)) for asked in (said.asked_of(said.now), said.asked_of(said.before))
        )
        if not current.figures or current.limit or any(isinstance(group, Period) for group in current.groups):
            raise NotUnderstood("what is compared")
        if len(current.times) != 1 or len(current.figures) != 1:
            raise NotUnderstood("several figures of several times")
        return replace(current, derived=Comparison(previous, said.is_change))

    # others

    def _when(self, items: list[Item]) -> Question:
        content = [item for item in items if item.kind is not Kind.STOP]
        kinds = "".join(item.kind.value for item in content)
        if kinds in ("Xt", "tX", "Nt", "tN"):
            time = next(item for item in content if item.kind is Kind.TIME)
            refs = [ref for ref in time.refs if isinstance(ref, DimensionRef)]
            if len(refs) != 1:
                raise NotUnderstood(f"{time.text} means several things")
            return Question(figures=(Aggregate("max" if Kind.MAX in kinds else "min", refs[0]),))
        extreme = self._extreme_time(items)
        if extreme is not None:
            return extreme
        question = self.read([Item(Kind.LIST, "list"), *items])
        times = [
            ref for ref in (question.order, *question.columns) if ref and self.lexicon.dimension(ref).type == "time"
        ]
        if question.figures or not times:
            raise NotUnderstood("when what happened")
        return replace(question, is_any=question.order in times)

    def _extreme_time(self, items: list[Item]) -> Question | None:
        """“客户 A 最后一次下单是哪天”: the last time, of the rows that are meant; None where a thing is asked for."""
        if not any(item.kind in (Kind.MAX, Kind.MIN) for item in items):
            return None
        try:
            question = self.read(items)
        except NotUnderstood:
            return None
        figure = question.figures[0] if len(question.figures) == 1 else None
        is_time = isinstance(figure, Aggregate) and figure.agg in ("max", "min")
        is_time = is_time and self.lexicon.dimension(figure.of).type == "time"  # type: ignore[union-attr]  # an Aggregate
        return question if is_time and not question.groups and not question.limit else None

    def _ordinal(self, items: list[Item]) -> Question:
        ordinals = [item for item in items if item.kind is Kind.ORDINAL]
        text = ordinals[0].text.lower()
        number = _ORDINALS.get(text) or NUMBER_WORDS.get(text[-1], 0)
        question = self.read(_without(items, Kind.ORDINAL))
        if len(ordinals) > 1 or question.limit != 1 or number < 2:
            raise NotUnderstood("the second of what")
        return replace(question, skipped=number - 1)

    def _within(self, items: list[Item]) -> Question | None:
        """“The best selling product in each region”: a superlative, and besides it what each is said of."""
        if all(item.kind not in (Kind.MAX, Kind.MIN, Kind.TOP) for item in items):
            return None
        content = [item for item in items if item.kind is not Kind.STOP]
        for place, item in enumerate(content[:-1]):
            group = content[place + 1]
            is_each = item.kind is Kind.GROUP and any(word in item.text.lower() for word in _EACH)
            if not is_each or group.kind not in (Kind.MODEL, Kind.DIMENSION):
                continue
            rest = [other for other in content if other is not item and other is not group]
            try:
                question = self.read(rest)
                outside = self.read([Item(Kind.COUNT, "count"), *_thing_of(question), item, group]).groups
            except NotUnderstood:
                return None
            is_ranked = bool(question.limit) and (question.order is not None or bool(question.groups))
            if not is_ranked or len(question.groups) > 1 or question.derived or len(outside) != 1:
                return None
            return replace(question, derived=Within(outside)) if outside[0] not in question.groups else None
        return None

    def _average_per(self, items: list[Item]) -> Question | None:
        """“Average number of orders per customer”: the average over what it is grouped by; None where a column is averaged."""
        content = [item for item in items if item.kind is not Kind.STOP]
        kinds = [item.kind for item in content]
        grouping = [item.text.lower() for item in content if item.kind is Kind.GROUP]
        is_by = any(
            not any(word in text for word in _EACH) for text in grouping
        )  # “average revenue by region”: over what?
        if is_by or Kind.AVG not in kinds or Kind.QUANTITY in kinds or Kind.MAX in kinds or Kind.MIN in kinds:
            return None
        try:
            question = self.read(_without(content, Kind.AVG))
        except NotUnderstood:
            return None
        if len(question.figures) != 1 or question.limit or question.derived or question.having:
            return None
        figure = question.figures[0]
        if isinstance(figure, Aggregate) or self.lexicon.aggregation(figure) == "avg":
            return None
        if not question.groups and len(question.related) == 1 and not question.related[0].is_not:
            return replace(question, groups=(ModelRef(question.related[0].model),), related=(), derived=AveragePer())
        return replace(question, derived=AveragePer()) if len(question.groups) == 1 else None


def _without(items: Sequence[Item], *kinds: Kind) -> list[Item]:
    return [item for item in items if item.kind not in kinds]


def _listed(items: list[Item]) -> list[Item]:
    """A thing alone is a list of all of them."""
    figures = (Kind.MEASURE, Kind.COUNT, Kind.SUM, Kind.MUCH)
    return items if any(item.kind in figures for item in items) else [Item(Kind.LIST, "list"), *items]


def _conditions(question: Question) -> tuple[object, ...]:
    """Everything that is said of the rows but their time."""
    q = question
    said = (*q.values, *q.numbers, *q.missing, *q.having, *(one for one in q.related if one.is_not), *q.others)
    return said or q.related


def _without_conditions(question: Question) -> Question:
    return replace(question, values=(), numbers=(), missing=(), having=(), related=(), others=(), counts_groups=False)


def _require_additive(figure: Figure, lexicon: Lexicon) -> None:
    if lexicon.aggregation(figure) not in ("sum", "count"):
        raise NotUnderstood("a share of an average")


def _thing_of(question: Question) -> list[Item]:
    """The thing that is ranked, as an item, so that what each is said of is read beside it."""
    figure = question.figures[0] if question.figures else None
    model = figure.of.model if isinstance(figure, Aggregate) else figure.model if figure else question.of
    return [Item(Kind.MODEL, model, (ModelRef(model),))] if model else []
