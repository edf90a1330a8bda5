"""Phrases that ask for numbers: “how many customers”, “total freight”, “revenue and units sold”."""

import re

from agent.business.ask.clause import Clause
from agent.business.ask.figures import model_of_figure
from agent.business.ask.function_words import Kind
from agent.business.ask.items import Item
from agent.business.ask.joins import Joins
from agent.business.ask.lexicon import MeasureRef, ModelRef
from agent.business.ask.list_phrases import named_beside
from agent.business.ask.meaning import Aggregate, Figure, NotUnderstood, Question, Related, Rows
from agent.business.ask.references import References

_AGGREGATIONS = {Kind.SUM: "sum", Kind.AVG: "avg", Kind.MAX: "max", Kind.MIN: "min"}
_FIGURE = "(?:CU?M|MC|Cm|mC|[SV]?m|m[SV]|[SVXN][nt]|[nt][SVXN]|CU[dnt]|Cd)"


def figures_in(clause: Clause, *, is_list: bool) -> Question | None:
    """One figure, or several joined by “and”; tables named beside them must be related.

    “Customers by region” counts them; so does “how many” of values of one table alone, such as engineers.
    """
    letters = clause.row.letters
    if letters == "M" and len(clause.groups) == 1 and isinstance(of := clause.groups[0], ModelRef):
        one = clause.references.model(clause.row.items[0])
        if one != of.model and Joins(clause.references.lexicon.layer).up(of.model, one) is not None:
            return named_beside([of.model, one], clause.references.lexicon)  # “the owner of each project”: there is one
    if letters == "M" and clause.groups and not is_list:
        return Question(figures=(Rows(clause.references.model(clause.row.items[0])),), groups=tuple(clause.groups))
    if re.fullmatch("MM+C", letters) and not clause.is_chinese:  # “orders from customers in Brazil, how many?”
        names = [clause.references.model(item) for item in clause.row.items[:-1]]
        beside = [name for name in names[1:] if name != names[0]]
        return Question(
            figures=(Rows(names[0]),), groups=tuple(clause.groups), related=tuple(Related(name) for name in beside)
        )
    if letters == "C":
        return Question(figures=(Rows(_only_filtered(clause)),), groups=tuple(clause.groups))
    found = re.fullmatch(rf"(?P<before>M*)(?P<figures>{_FIGURE}(?:&?{_FIGURE})*)(?P<after>M*)", letters)
    if found is None:
        return None
    figures: list[Figure] = []
    for piece in re.finditer(_FIGURE, found["figures"]):
        start = found.start("figures")
        figures.append(figure_of(clause.references, clause.row.items[start + piece.start() : start + piece.end()]))
    named = [
        clause.references.model(item)
        for group in ("before", "after")
        for item in clause.row.items[found.start(group) : found.end(group)]
    ]
    related = [Related(name) for name in named if all(name != model_of_figure(figure) for figure in figures)]
    return Question(figures=tuple(figures), groups=tuple(clause.groups), related=tuple(related))


def _only_filtered(clause: Clause) -> str:
    """The one table that values are about where none is named. Raises NotUnderstood, too where the value is itself a thing."""
    models = clause.filters.models()
    lexicon = clause.references.lexicon
    named = any(lexicon.dimension(condition.dimension).is_name for condition in clause.filters.values)
    if len(models) != 1 or named or not clause.filters.values:
        raise NotUnderstood("how many of what")
    return models.pop()


def figure_of(references: References, items: list[Item]) -> Figure:
    """The figure that items say: a measure, a number of rows or of values, a column added up."""
    kinds = {item.kind: item for item in items}
    if Kind.MEASURE in kinds:
        return _measure(references, kinds)
    if Kind.MODEL in kinds:
        return Rows(references.model(kinds[Kind.MODEL]))
    column = next(item for item in items if item.kind in (Kind.QUANTITY, Kind.DIMENSION, Kind.TIME))
    ref = references.dimension(column)
    if Kind.COUNT in kinds:
        return Aggregate("count_distinct", ref)
    way = next(kind for kind in kinds if kind in _AGGREGATIONS)
    if column.kind is Kind.TIME and way in (Kind.SUM, Kind.AVG):
        raise NotUnderstood("times are not added")
    return Aggregate(_AGGREGATIONS[way], ref)  # type: ignore[arg-type]  # one of _AGGREGATIONS


def _measure(references: References, kinds: dict[Kind, Item]) -> MeasureRef:
    ref = references.measure(kinds[Kind.MEASURE])
    agg = references.lexicon.measure(ref).agg
    if Kind.AVG in kinds and agg != "avg":
        raise NotUnderstood("an average of a total: over what?")
    if Kind.SUM in kinds and agg not in ("sum", "count", "count_distinct"):
        raise NotUnderstood("a total of an average")
    return ref
