"""The conditions that were taken out of a question, by their kinds."""

from dataclasses import dataclass, field
from itertools import combinations

from agent.business.ask.meaning import (
    FigureFilter,
    Missing,
    NotUnderstood,
    NumberFilter,
    Rarer,
    Related,
    TimeFilter,
    ValueFilter,
)
from agent.business.ask.words.lexicon import DimensionRef


@dataclass
class Filters:
    values: list[ValueFilter] = field(default_factory=list)
    numbers: list[NumberFilter] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    having: list[FigureFilter] = field(default_factory=list)
    related: list[Related] = field(default_factory=list)
    times: list[TimeFilter] = field(default_factory=list)
    others: list[Rarer] = field(default_factory=list)
    both: set[DimensionRef] = field(default_factory=set)  # whose values were said with “and”

    def models(self) -> set[str]:
        """The tables whose columns the conditions are about."""
        dated = {condition.dimension.model for condition in self.times if condition.dimension}
        numbered = {condition.dimension.model for condition in self.numbers}
        return {condition.dimension.model for condition in self.values} | numbered | dated

    def merge_values(self) -> None:
        """Values of one column, said apart and compared, are several values of it."""
        merged: dict[tuple[DimensionRef, bool], tuple[str, ...]] = {}
        for one in self.values:
            key = (one.dimension, one.is_not)
            merged[key] = (*merged.get(key, ()), *one.values)
        self.values = [ValueFilter(column, values, is_not) for (column, is_not), values in merged.items()]

    def is_empty(self) -> bool:
        return not (
            self.values or self.numbers or self.missing or self.having or self.related or self.times or self.others
        )

    def require_possible(self) -> None:
        """“杭州有多少工程师，鹿特丹呢”: nobody is of both; they are two questions. Raises NotUnderstood."""
        for first, second in combinations([one for one in self.values if not one.is_not], 2):
            if first.dimension == second.dimension and not set(first.values) & set(second.values):
                raise NotUnderstood("two values of one column")
