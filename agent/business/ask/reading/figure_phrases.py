"""Phrases that ask for numbers: “how many customers”, “total freight”, “revenue and units sold”."""

import re
from itertools import pairwise

from agent.business.ask.meaning import Aggregate, Figure, NotUnderstood, Question, Related, Rows
from agent.business.ask.reading.clause import Clause
from agent.business.ask.reading.list_phrases import named_beside
from agent.business.ask.reading.references import References
from agent.business.ask.sql.figures import counted, model_of_figure
from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, MeasureRef, ModelRef
from agent.business.ask.words.units import key_of, stem

_DATES = frozenset(("date", "time", "day", "timestamp", "birthday"))
_AGGREGATIONS = {Kind.SUM: "sum", Kind.AVG: "avg", Kind.MAX: "max", Kind.MIN: "min"}
FIGURE = "(?:CU?M|MC|Cm|mC|[SV]?m|m[SV]|[SVXN][nt]|[nt][SVXN]|CU[dnt]|Cd)"


def figures_in(clause: Clause, *, is_list: bool) -> Question | None:
    """One figure, or several joined by “and”; tables named beside them must be related.

    “Customers by region” counts them; so does “how many” of values of one table alone, such as engineers.
    """
    _drop_how_much(clause)
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
    found = re.fullmatch(rf"(?P<before>M*)(?P<figures>{FIGURE}(?:&?{FIGURE})*)(?P<after>M*)", letters)
    if found is None:
        return None
    figures: list[Figure] = []
    for piece in re.finditer(FIGURE, found["figures"]):
        start = found.start("figures")
        figures.append(figure_of(clause.references, clause.row.items[start + piece.start() : start + piece.end()]))
    _require_said_of(clause, clause.row.items[: found.end("before")], clause.row.items[found.start("figures")])
    named = [
        clause.references.model(item)
        for group in ("before", "after")
        for item in clause.row.items[found.start(group) : found.end(group)]
    ]
    _require_what_is_found(clause, named, figures)
    _require_apart(clause)
    related = [Related(name) for name in named if all(name != model_of_figure(figure) for figure in figures)]
    return Question(figures=tuple(figures), groups=tuple(clause.groups), related=tuple(related))


def _require_apart(clause: Clause) -> None:
    """“The number of enrolled students” is no column and students besides. Raises NotUnderstood."""
    left = [id(item) for item in clause.row.items]
    for column, thing in pairwise(clause.references.items):
        if clause.is_chinese or (column.kind, thing.kind) != (Kind.QUANTITY, Kind.MODEL) or id(thing) not in left:
            continue
        if clause.references.model(thing) not in {r.model for r in column.refs if isinstance(r, DimensionRef)}:
            raise NotUnderstood("a column, and a thing beside it")


def _require_what_is_found(clause: Clause, named: list[str], figures: list[Figure]) -> None:
    """“The owner of the project with the largest budget” is no budget. Raises NotUnderstood."""
    are_extreme = any(isinstance(figure, Aggregate) and figure.agg in ("max", "min") for figure in figures)
    known = {model_of_figure(figure) for figure in figures} | clause.filters.models()
    if are_extreme and not clause.groups and not set(named) <= known:
        raise NotUnderstood("which of them")


def thing_of_value(clause: Clause) -> Question | None:
    """“The cheapest condiment”, “最便宜的调味品”: the thing that the value is said of, not its price alone."""
    found = re.fullmatch("L?(?:[XN][nt]|[XN]#[nt]|#[XN][nt])", clause.row.letters)
    items = clause.references.items
    if found is None or clause.groups or not clause.filters.values:
        return None
    column = clause.row.items[-1]
    content = items if not clause.is_chinese else [item for item in items if item.text != "的"]
    place = next((n for n, item in enumerate(content) if item is column), len(content))
    value = content[place + 1] if place + 1 < len(content) else None
    is_alone = not any(item.kind in (Kind.QUANTITY, Kind.TIME) for item in content[place + 1 :])
    is_alone = is_alone and all(item.kind is not Kind.MUCH for item in content)
    if value is None or value.kind is not Kind.VALUE or not is_alone:
        return None
    number = next((int(item.number) for item in clause.row.items if item.kind is Kind.NUMBER), 1)
    if number == 1 and not clause.is_chinese and value.text.lower().split()[-1] != stem(value.text.lower().split()[-1]):
        raise NotUnderstood("how many of the first")
    ref = clause.references.dimension(column)
    is_ascending = Kind.MIN.value in clause.row.letters
    return Question(of=ref.model, order=ref, is_ascending=is_ascending, limit=number)


def _require_said_of(clause: Clause, before: list[Item], counted: Item) -> None:
    """“媒体类型曲目数”: of each of the one, or of all that have one? Raises NotUnderstood where nothing says it."""
    if not clause.is_chinese or not before or counted.kind not in (Kind.MODEL, Kind.MEASURE) or clause.groups:
        return
    items = clause.references.items
    at = clause.references.place(counted)
    of = clause.references.model(before[-1])
    about = clause.references.model(counted) if counted.kind is Kind.MODEL else clause.references.measure(counted).model
    said = next((item for item in reversed(items[: max(0, at - 1)]) if item.kind is not Kind.STOP), None)
    if said is not None and said.kind is Kind.VALUE:
        return  # “海鲜类产品销售额”: of those
    is_bare = at > 0 and items[at - 1] is before[-1] and of != about
    if is_bare and of not in clause.filters.models():
        raise NotUnderstood("the number of each, or of all")


def _drop_how_much(clause: Clause) -> None:
    """“预算合计多少”, “各月的开票金额”: how much of what is added; an amount of groups, or of all, is added up."""
    _add_up_numbers(clause)
    items = clause.row.items
    letters = clause.row.letters
    if re.search("[SVXN]nC|n[SVXN]C|[SV]mC", letters):
        clause.row.drop(Kind.COUNT)
    elif re.fullmatch("M*(?:nC?|Cn)", letters) and (clause.is_all or clause.groups):
        column = next(item for item in items if item.kind is Kind.QUANTITY)
        if clause.references.lexicon.is_amount(clause.references.dimension(column)):
            clause.row.drop(Kind.COUNT)
            clause.row.items.insert(clause.row.items.index(column), Item(Kind.SUM, column.text))


def _add_up_numbers(clause: Clause) -> None:
    """“The number of likes”, “how many engines”: a column that holds how many there are is added up."""
    while not clause.is_chinese and (found := re.search("(?P<by>[SVXN])?(?P<count>C)n", clause.row.letters)):
        column = clause.row.items[found.end() - 1]
        last = column.text.lower().split()[-1]
        if stem(last) == last:
            raise NotUnderstood("how many of a number")
        added = [] if found["by"] else [Item(Kind.SUM, column.text)]
        clause.row.items[found.start("count") : found.end("count")] = added


def _only_filtered(clause: Clause) -> str:
    """The one table that values are about where none is named. Raises NotUnderstood, too where the value is itself a thing."""
    models = clause.filters.models()
    lexicon = clause.references.lexicon
    base = Joins(lexicon.layer).base_for(
        sorted(models)
    )  # “饮料类在售的有几种”: what is said of products and of their category
    named = any(
        lexicon.dimension(condition.dimension).is_name
        for condition in clause.filters.values
        if condition.dimension.model == base
    )
    if base is None or named or not clause.filters.values:
        raise NotUnderstood("how many of what")
    return base


def figure_of(references: References, items: list[Item]) -> Figure:
    """The figure that items say: a measure, a number of rows or of values, a column added up."""
    kinds = {item.kind: item for item in items}
    if Kind.MEASURE in kinds:
        return counted(_measure(references, kinds), references.lexicon)
    if Kind.MODEL in kinds:
        return Rows(references.model(kinds[Kind.MODEL]))
    column = next(item for item in items if item.kind in (Kind.QUANTITY, Kind.DIMENSION, Kind.TIME))
    ref = references.dimension(column)
    if Kind.COUNT in kinds:
        if Kind.DISTINCT not in kinds and references.lexicon.dimension(ref).type == "number":
            raise NotUnderstood("how many of a number")  # “the number of credits” may be what is added up
        return Aggregate("count_distinct", ref)
    way = next(kind for kind in kinds if kind in _AGGREGATIONS)
    if column.kind is Kind.TIME and way in (Kind.SUM, Kind.AVG):
        raise NotUnderstood("times are not added")
    if column.kind is Kind.TIME and column.text.isascii() and not set(key_of(column.text)) & _DATES:
        raise NotUnderstood("the first of what")  # “most recent hires” are people
    return Aggregate(_AGGREGATIONS[way], ref)  # type: ignore[arg-type]  # one of _AGGREGATIONS


def _measure(references: References, kinds: dict[Kind, Item]) -> MeasureRef:
    ref = references.measure(kinds[Kind.MEASURE])
    agg = references.lexicon.measure(ref).agg
    if Kind.AVG in kinds and agg != "avg":
        raise NotUnderstood("an average of a total: over what?")
    if Kind.SUM in kinds and agg not in ("sum", "count", "count_distinct"):
        raise NotUnderstood("a total of an average")
    return ref
