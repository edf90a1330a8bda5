"""The linked part of a layer as a model is told of it: tables, columns, keys, measures, and what they mean."""

from agent.business.ask.words.lexicon import DimensionRef, ValueRef
from agent.business.layer.model import Dimension, Measure, Named, SemanticModel
from agent.business.ways.linking import Linked

ALL_COLUMNS = (
    14  # a table of so many is told whole; of a wider one its keys, its name, its time and what the question names
)
SAMPLE_VALUES = 6  # of a column with an index, where the question names none of them


def told(linked: Linked) -> str:
    """One block a table: its name as SQL writes it, then a line for each column and measure, then its keys."""
    return "\n\n".join(_table(model, linked) for model in linked.models)


def _table(model: SemanticModel, linked: Linked) -> str:
    lines = [f"table {model.table_schema}.{model.table}{_words(model)}"]
    dimensions = [d for d in model.dimensions if _is_told(d, model, linked)]
    lines += [f"  {d.expr} ({d.type}){_words(d)}{_values(d, model, linked)}" for d in dimensions]
    lines += [f"  measure {_measure(measure)}{_words(measure)}" for measure in model.measures]
    shown = {other.name: other for other in linked.models}
    for entity in model.entities:
        lines.append(f"  {entity.expr}: {entity.type} key{_target(entity.name, entity.type, shown)}")
    if model.default_filter:
        lines.append(f"  always: {_filter(model.default_filter)}")
    return "\n".join(lines)


def _is_told(dimension: Dimension, model: SemanticModel, linked: Linked) -> bool:
    if len(model.dimensions) <= ALL_COLUMNS or dimension.is_name:
        return True
    is_time = dimension.name == model.defaults.agg_time_dimension
    return is_time or DimensionRef(model.name, dimension.name) in linked.columns


def _values(dimension: Dimension, model: SemanticModel, linked: Linked) -> str:
    """The values that the question names, else some, as they are written in the table.

    What rows are called is not among those: a row may be one that the person does not see.
    """
    is_told = not dimension.is_name or (model.org_unit is not None and model.org_unit.shared_with is not None)
    named = [v for v in dimension.values if ValueRef(model.name, dimension.name, v.value) in linked.values]
    chosen = named or (dimension.values[:SAMPLE_VALUES] if is_told else ())
    more = " …" if len(chosen) < len(dimension.values) else ""
    told = ", ".join(f"'{v.value}'{f' ({chr(44).join(v.synonyms[:2])})' if v.synonyms else ''}" for v in chosen)
    return f"; values: {told}{more}" if told else ""


def _measure(measure: Measure) -> str:
    where = f" where {_filter(measure.filter)}" if measure.filter else ""
    return f"{measure.name} = {measure.agg}({measure.expr or '*'}){where}"


def _filter(columns: dict[str, tuple[str, ...]]) -> str:
    return " and ".join(f"{column} in ({', '.join(map(repr, values))})" for column, values in columns.items())


def _target(entity: str, kind: str, shown: dict[str, SemanticModel]) -> str:
    if kind != "foreign":
        return ""
    for model in shown.values():
        if model.primary and model.primary.name == entity:
            return f" -> {model.table_schema}.{model.table}.{model.primary.expr}"
    return ""


def _words(named: Named) -> str:
    description = " ".join(named.description.all())
    words = " / ".join(dict.fromkeys([*named.label.all(), *named.synonyms[:3]]))
    return f" -- {words}{f': {description}' if description else ''}" if words or description else ""
