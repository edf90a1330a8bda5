"""Which of several tables a shared word means: the one that the question names, else the only one there is."""

from collections.abc import Sequence
from typing import TypeVar

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.sql.joins import Joins, Step
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef, Ref, ValueRef

R = TypeVar("R", ModelRef, MeasureRef, DimensionRef, ValueRef)


class References:
    """The references of one question. mentioned: tables that it names, directly or by a measure of theirs."""

    def __init__(self, lexicon: Lexicon, items: list[Item]) -> None:
        self.lexicon = lexicon
        self.items = items
        direct = [item.refs[0] for item in items if _is_one_measure(item.refs)]
        direct += [ref for item in items for ref in item.refs if isinstance(ref, ModelRef)]
        sole = [item.refs[0] for item in items if len(item.refs) == 1]
        self.mentioned = frozenset(ref.model for ref in direct)
        self.hinted = self.mentioned | {ref.model for ref in sole}

    def place(self, item: Item) -> int:
        """Where an item stands in the question as it was put; 0 for one that was made of others."""
        return next((place for place, other in enumerate(self.items) if other is item), 0)

    def model(self, item: Item) -> str:
        return self._one(item, [ref for ref in item.refs if isinstance(ref, ModelRef)]).model

    def measure(self, item: Item) -> MeasureRef:
        """Measures of one name in several tables are one figure: the first stands for all."""
        refs = [ref for ref in item.refs if isinstance(ref, MeasureRef)]
        if len({ref.measure for ref in refs}) == 1:
            return refs[0]
        return self._one(item, refs)

    def dimension(self, item: Item, near: str = "") -> DimensionRef:
        """near: the table whose word stands beside it, which decides."""
        refs = [ref for ref in item.refs if isinstance(ref, DimensionRef)]
        if len(refs) > 1 and not {ref.model for ref in refs} & {*self.hinted, near}:
            refs = self._nearest(refs)
        if len({ref.model for ref in refs} & self.mentioned) > 1:
            refs = self._keys_of_themselves(refs)
        return self._one(item, refs, near)

    def _keys_of_themselves(self, refs: list[DimensionRef]) -> list[DimensionRef]:
        """“The customer id” of customers and of their orders is the same: the customers’ own."""
        lexicon = self.lexicon
        steps = {(step.many, step.column, step.one) for step in Joins(lexicon.layer).steps}
        for own in refs:
            primary = lexicon.model(own.model).primary
            is_key = primary is not None and lexicon.dimension(own).columns == (primary.expr,)
            others = [ref for ref in refs if ref != own]
            if is_key and all((r.model, *lexicon.dimension(r).columns, own.model) in steps for r in others):
                return [own]
        return refs

    def _nearest(self, refs: list[DimensionRef]) -> list[DimensionRef]:
        """Of columns of several tables the one that the fewest keys lead to: the city of sales is that of the customers."""
        joins = Joins(self.lexicon.layer)
        ways = {ref: [len(way) for start in self.mentioned if (way := _way(joins, start, ref.model))] for ref in refs}
        if any(not found for found in ways.values()):
            return refs
        least = min(map(min, ways.values()))
        nearest = [ref for ref, found in ways.items() if min(found) == least]
        return nearest if len(nearest) == 1 else refs

    def value(self, item: Item, near: str = "", column: DimensionRef | None = None) -> ValueRef:
        """column: a column that is named beside the value, which decides."""
        refs = [ref for ref in item.refs if isinstance(ref, ValueRef)]
        if column is None and len(refs) > 1 and not {ref.model for ref in refs} & {*self.mentioned, near}:
            refs = self._reached(refs, near)
        if column is not None:
            refs = [ref for ref in refs if (ref.model, ref.dimension) == (column.model, column.dimension)]
        return self._one(item, refs, near)

    def _reached(self, refs: list[ValueRef], near: str) -> list[ValueRef]:
        """Of values of several tables the one that a key of what is asked about leads to: a classical track has that genre."""
        joins = Joins(self.lexicon.layer)
        starts = {near} if near else self.mentioned
        reached = [ref for ref in refs if any(_leads(joins, start, ref.model) for start in starts)]
        return reached if len(reached) == 1 else refs

    def _one(self, item: Item, refs: list[R], near: str = "") -> R:
        for names in ({near}, self.mentioned, self.hinted):
            chosen = [ref for ref in refs if ref.model in names]
            if len(chosen) == 1:
                return chosen[0]
            if chosen:
                break
        if len(refs) == 1:
            return refs[0]
        choices = tuple(sorted({_spoken(ref) for ref in refs}))
        raise NotUnderstood(f"{item.text} means several things", choices=choices)


def _leads(joins: Joins, start: str, goal: str) -> bool:
    """Whether keys lead from a table to another, in one way alone."""
    try:
        return joins.up(start, goal) is not None
    except NotUnderstood:
        return False


def _way(joins: Joins, start: str, goal: str) -> tuple[Step, ...] | None:
    """The way from a table to another; None where there is none, or several."""
    try:
        return joins.up(start, goal)
    except NotUnderstood:
        return None


def _is_one_measure(refs: Sequence[Ref]) -> bool:
    """Whether a word is a measure, kept in one table or several: one of two measures would be a guess."""
    return (
        bool(refs)
        and isinstance(refs[0], MeasureRef)
        and len({r.measure for r in refs if isinstance(r, MeasureRef)}) == 1
    )


def _spoken(ref: Ref) -> str:
    if isinstance(ref, ModelRef):
        return ref.model
    return f"{ref.model}.{ref.measure if isinstance(ref, MeasureRef) else ref.dimension}"
