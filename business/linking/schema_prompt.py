"""The linked part of a layer as a prompt for a language model.

A line begins with the name in logical queries (`orders.revenue`), followed by type, column or formula in SQL, values,
labels and description in both languages.
"""

from collections.abc import Mapping, Sequence

from business.guard.rewrite import quote_literal
from business.linking.linker import Linked, list_required_columns, may_show_column_values
from business.semantic_layer.model import Dimension, Measure, NamedPart, SemanticModel

SAMPLE_VALUES = 6  # of an indexed column without a value named in the question
NAMED_VALUES = 12
VALUE_SYNONYMS = 2
SYNONYMS = 3
DESCRIPTION_CHARS = 200


def build_schema_prompt(linked: Linked) -> str:
    """Return a block per table: its names, a line for each shown column and measure, keys, default filters."""
    named: dict[str, list[str]] = {}
    for value in linked.values:
        named.setdefault(value.dimension, []).append(value.value)
    return "\n\n".join(_format_table(model, linked, named) for model in linked.models)


def _format_table(model: SemanticModel, linked: Linked, named: Mapping[str, Sequence[str]]) -> str:
    lines = [f"table {model.name}: {model.full_name}{_format_words(model)}"]
    for one in model.dimensions:
        name = f"{model.name}.{one.name}"
        if name in linked.columns:
            values = _format_values(one, named.get(name, ()), model)
            lines.append(f"  {name}: {_format_column(one, model)}{values}{_format_words(one)}")
    for measure in model.measures:
        name = f"{model.name}.{measure.name}"
        if name in linked.measures:
            lines.append(f"  measure {name}: {_format_measure(measure)}{_format_words(measure)}")
    keys = set(list_required_columns(model, linked.models))
    primary = {other.primary.name: other for other in linked.models if other.primary}
    for entity in model.entities:
        if entity.expr in keys:
            to = primary.get(entity.name) if entity.type == "foreign" else None
            target = f" -> {to.name}.{to.primary.expr}" if to and to.primary else ""
            lines.append(f"  {entity.type} key {entity.expr}{target}")
    if model.default_filter:
        lines.append(f"  always: {_format_filter(model.default_filter)}")
    return "\n".join(lines)


def _format_column(dimension: Dimension, model: SemanticModel) -> str:
    details = [f"time by {dimension.time_granularity}" if dimension.type == "time" else dimension.type]
    details += [f"= {dimension.expr}"] if dimension.expr != dimension.name else []
    details += [dimension.unit] if dimension.unit else []
    details += ["what a row is called"] if dimension.is_name else []
    details += ["counted by"] if dimension.name == model.defaults.agg_time_dimension else []
    return ", ".join(details)


def _format_values(dimension: Dimension, named: Sequence[str], model: SemanticModel) -> str:
    """Return the values that the question names, else some, spelled as in the table."""
    if not may_show_column_values(dimension, model):
        return ""
    known = {value.value: value for value in dimension.values}
    chosen = [known[value] for value in named[:NAMED_VALUES]] or dimension.values[:SAMPLE_VALUES]
    literals = [
        quote_literal(v.value) + (f" ({', '.join(v.synonyms[:VALUE_SYNONYMS])})" if v.synonyms else "") for v in chosen
    ]
    more = ", …" if len(chosen) < len(dimension.values) else ""
    return f"; values {', '.join(literals)}{more}" if literals else ""


def _format_measure(measure: Measure) -> str:
    where = f" where {_format_filter(measure.filter)}" if measure.filter else ""
    unit = f", {measure.unit}" if measure.unit else ""
    time = f", counted by {measure.time}" if measure.time else ""
    return f"{measure.agg}({measure.expr or '*'}){where}{unit}{time}"


def _format_filter(columns: Mapping[str, Sequence[str]]) -> str:
    return " and ".join(f"{column} in ({', '.join(map(quote_literal, values))})" for column, values in columns.items())


def _format_words(named: NamedPart) -> str:
    spoken = named.name.replace("_", " ")
    words = [word for word in dict.fromkeys([*named.label.all(), *named.synonyms[:SYNONYMS]]) if word != spoken]
    description = " ".join(named.description.all())[:DESCRIPTION_CHARS]
    text = ": ".join(filter(None, [" / ".join(words), description]))
    return f" -- {text}" if text else ""
