"""Values said of rows: “German customers”, “in Brazil or Portugal”, “not cancelled”, and names in quotes."""

from dataclasses import dataclass

from agent.business.ask.meaning import AnyOf, NotUnderstood, TextFilter, ValueFilter
from agent.business.ask.reading.references import References
from agent.business.ask.reading.taken import Filters
from agent.business.ask.words.function_words import FUNCTION_WORDS, Kind
from agent.business.ask.words.items import Item, Row
from agent.business.ask.words.lexicon import DimensionRef, ValueRef
from agent.business.ask.words.units import key_of

_PREPOSITIONS = frozenset(("from", "in", "of", "at"))
_SPANNING = frozenset(("to", "through", "thru", "till", "until", "up to", "至", "到"))


@dataclass
class ValueTaker:
    """Puts conditions on values into the filters, and back into the row what they leave."""

    row: Row
    references: References
    filters: Filters
    is_chinese: bool

    def value(self, taken: list[Item]) -> None:
        before = self.row.items[self.row.place - 1 : self.row.place]
        columns = [item for item in taken if item.kind in (Kind.DIMENSION, Kind.QUANTITY)]
        models = [item for item in taken if item.kind is Kind.MODEL]
        values = [item for item in taken if item.kind is Kind.VALUE]
        column = self._column_of(values, columns)
        kept = [item for item in columns if column is None or column not in item.refs]
        stays = [item for item in models if not self._is_named_by(item, values)] + kept
        grouping = [item for item in taken if item.kind is Kind.GROUP and kept and taken.index(kept[0]) == 1]
        each = [item for item in taken if item.kind is Kind.GROUP and _says_each(item)]
        if each and not grouping:  # “from each German supplier”
            if not models or models != [item for item in stays if item in models]:
                raise NotUnderstood("each of what")
            grouping = each
        self.row.put_back([item for item in taken if item in stays or item in grouping])
        self.row.put_back_owners(item for item in columns if item not in kept)
        owners = [item for item in before if item.kind is Kind.MODEL and not self.is_chinese]
        is_verb = bool(models) and FUNCTION_WORDS.get(key_of(models[0].text)) in (Kind.BUY, Kind.SELL)
        beside = owners if is_verb and owners and self._is_of(owners[0], values[0]) else models or owners
        near = self.references.model(beside[0]) if beside else ""
        refs = [
            self.references.value(item, near=near, column=column if _is_in(item, column) else None) for item in values
        ]
        self._require_no_span(values, refs)
        by_column: dict[DimensionRef, list[str]] = {}
        for ref in refs:
            by_column.setdefault(DimensionRef(ref.model, ref.dimension), []).append(ref.value)
        is_not = any(item.kind is Kind.NOT for item in taken)
        if len(by_column) > 1 and is_not:
            raise NotUnderstood("not values of different columns")
        if len(by_column) > 1 and _joins_columns(taken, values, refs):
            used = [item for item in stays if item.kind is Kind.DIMENSION and set(item.refs) & set(by_column)]
            self.row.items = [item for item in self.row.items if not any(item is one for one in used)]
            self.row.put_back_owners(used)
            self.filters.others.append(
                AnyOf(tuple(ValueFilter(column, tuple(found)) for column, found in by_column.items()))
            )
            return
        if not is_not and any(item.kind is Kind.AND for item in taken):
            self.filters.both |= {column for column, found in by_column.items() if len(found) > 1}
        self.filters.values += [ValueFilter(column, tuple(found), is_not) for column, found in by_column.items()]

    def _require_no_span(self, values: list[Item], refs: list[ValueRef]) -> None:
        """“July to December” is six months, and a column of names knows no order. Raises NotUnderstood."""
        items = self.references.items
        places = [self.references.place(value) for value in values]
        for first, second, ref, other in zip(places, places[1:], refs, refs[1:], strict=False):
            between = [item.text.lower() for item in items[first + 1 : second]]
            if (
                len(between) == 1
                and between[0] in _SPANNING
                and (ref.model, ref.dimension) == (other.model, other.dimension)
            ):
                raise NotUnderstood("from one value to another")

    def _is_of(self, owner: Item, value: Item) -> bool:
        """“Customers from France bought …”: a preposition says whose the value is, before what stands after it does."""
        items = self.references.items
        place = self.references.place(value)
        is_joined = place > 1 and items[place - 1].text.lower() in _PREPOSITIONS and items[place - 2] is owner
        return is_joined and bool({ref.model for ref in owner.refs} & {ref.model for ref in value.refs})  # type: ignore[attr-defined,unused-ignore]

    def _is_named_by(self, model: Item, values: list[Item]) -> bool:
        """“In the Seafood category”: the value is the name of the thing, and another thing is asked about."""
        others = any(item.kind in (Kind.MODEL, Kind.MEASURE) for item in self.row.items)
        names = {ref for item in values for ref in item.refs if self.references.lexicon.dimension(ref).is_name}  # type: ignore[arg-type,unused-ignore]
        return others and bool({ref.model for ref in names} & {ref.model for ref in model.refs})

    def _column_of(self, values: list[Item], columns: list[Item]) -> DimensionRef | None:
        """The column that stands beside the values and has them all."""
        having = [{(r.model, r.dimension) for r in item.refs if isinstance(r, ValueRef)} for item in values]
        common = set.intersection(*having)
        fits = [
            ref
            for item in columns
            for ref in item.refs
            if isinstance(ref, DimensionRef) and (ref.model, ref.dimension) in common
        ]
        if not fits:  # “集群 hz-2 上在用的环境”: the column of the value right after it
            beside = having[0]
            fits = [ref for ref in self._columns_before(columns, values) if (ref.model, ref.dimension) in beside]
        mentioned = [ref for ref in fits if ref.model in self.references.mentioned]
        return (mentioned or fits)[0] if len(mentioned or fits) == 1 else None

    def _columns_before(self, columns: list[Item], values: list[Item]) -> list[DimensionRef]:
        """The columns that stand before the first of several values."""
        items = self.references.items
        place = self.references.place(values[0])
        return [
            ref
            for item in columns
            if any(item is one for one in items[:place])
            for ref in item.refs
            if isinstance(ref, DimensionRef)
        ]

    def quoted(self, taken: list[Item]) -> None:
        """A quoted name, of the column or of the thing that stands beside it."""
        owner = next(item for item in taken if item.kind in (Kind.DIMENSION, Kind.MODEL))
        values = tuple(item.text for item in taken if item.kind is Kind.QUOTED)
        if owner.kind is Kind.DIMENSION:
            self.row.put_back_owners([owner])
            ref = self.references.dimension(owner)
        else:
            model = self.references.lexicon.model(self.references.model(owner))
            if model.name_dimension is None:
                raise NotUnderstood(f"{owner.text} has no name to look for")
            ref = DimensionRef(model.name, model.name_dimension.name)
        is_not = any(item.kind is Kind.NOT for item in taken)
        parts = [item for item in taken if item.kind is Kind.QUOTED and item.sign]
        if len(parts) > 1 or (parts and len(values) > 1):
            raise NotUnderstood("several parts of a text")
        if parts:
            self.filters.others.append(TextFilter(ref, parts[0].sign, parts[0].text, is_not))  # type: ignore[arg-type]  # one of its words
        else:
            self.filters.values.append(ValueFilter(ref, tuple(self._as_kept(ref, value) for value in values), is_not))

    def _as_kept(self, ref: DimensionRef, text: str) -> str:
        """A quoted text as the column's index has it, in whatever capitals it was typed; itself where it is not there."""
        values = [one.value for one in self.references.lexicon.dimension(ref).values]
        same = [value for value in values if value.lower() == text.lower()]
        return same[0] if len(same) == 1 and text not in values else text


def _is_in(value: Item, column: DimensionRef | None) -> bool:
    return any(
        column is not None and (ref.model, ref.dimension) == (column.model, column.dimension)
        for ref in value.refs
        if isinstance(ref, ValueRef)
    )


def _joins_columns(taken: list[Item], values: list[Item], refs: list[ValueRef]) -> bool:
    """Whether “or” is said between values of different columns: “in Germany or paused”, not “in Brazil or Portugal that Anna leads”.

    Raises NotUnderstood where it is, and another value stands beside them without it.
    """
    column_of = {id(item): (ref.model, ref.dimension) for item, ref in zip(values, refs, strict=True)}
    content = [item for item in taken if item.kind in (Kind.VALUE, Kind.OR, Kind.AND)]
    joined = [
        (column_of.get(id(before)), column_of.get(id(after)))
        for before, item, after in zip(content, content[1:], content[2:], strict=False)
        if item.kind is Kind.OR
    ]
    across = [before != after for before, after in joined]
    if any(across) and len(joined) < len(values) - 1:
        raise NotUnderstood("which of them “or” joins")
    return any(across)


def _says_each(item: Item) -> bool:
    """Whether a word groups by whatever follows, and does not merely say by whom."""
    return any(word in item.text.lower() for word in ("each", "every", "per", "每", "各"))
