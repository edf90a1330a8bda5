"""Values that a text names, such as a passage of a document: “these environments” become a condition of the query."""

from dataclasses import replace

from agent.business.ask.meaning import Aggregate, NotUnderstood, Question, ValueFilter
from agent.business.ask.words.function_words import FUNCTION_WORDS, LONGEST, Kind
from agent.business.ask.words.lexicon import SPOKEN_VALUE_CHARS, DimensionRef, Lexicon
from agent.business.ask.words.units import key_of, units_of
from agent.business.layer.model import Dimension


def among_named(question: Question, text: str, lexicon: Lexicon) -> Question:
    """The question about those rows only whose value the text names, by the one column whose values it names most of.

    Raises NotUnderstood where it names fewer than two (“these” are several: the rest would stand elsewhere), where two columns
    fit as well, and where it says what is not meant.
    """
    name = _table(question)
    taken = {condition.dimension.dimension for condition in question.values if condition.dimension.model == name}
    columns = [d for d in lexicon.model(name).dimensions if d.values and d.name not in taken]
    found = {d.name: values for d in columns if (values := _named(d, text))}
    most = max((len(places) for places in map(_places, found.values())), default=0)
    best = [column for column, values in found.items() if len(_places(values)) == most]
    if len(best) != 1:
        raise NotUnderstood("the text names no values of the table" if not best else "the text fits several columns")
    if any(not _places(values) <= _places(found[best[0]]) for values in found.values()):
        raise NotUnderstood("the text names values of several columns")
    if any(FUNCTION_WORDS.get((unit.text,)) is Kind.NOT for unit in units_of(text)):
        raise NotUnderstood("the text also says what is not meant")
    named = tuple(dict.fromkeys(value for value, _at in found[best[0]]))
    if len(named) == 1:
        raise NotUnderstood("the text names one value alone")
    return replace(question, values=(*question.values, ValueFilter(DimensionRef(name, best[0]), named)))


def _table(question: Question) -> str:
    """The table whose rows are asked about."""
    if question.of:
        return question.of
    models = {figure.of.model if isinstance(figure, Aggregate) else figure.model for figure in question.figures}
    if len(models) != 1:
        raise NotUnderstood("several tables are asked about")
    return models.pop()


def _named(dimension: Dimension, text: str) -> list[tuple[str, int]]:
    """The values of a column that a text has, each with the place of its words; the longer phrase wins."""
    phrases = {
        key_of(word): value.value
        for value in dimension.values
        for word in (value.value, *value.synonyms)
        if len(word) >= SPOKEN_VALUE_CHARS and not word.replace(".", "").isdigit()
    }
    units = [unit.text for unit in units_of(text)]
    found, at = [], 0
    while at < len(units):
        length = next((n for n in range(LONGEST, 0, -1) if tuple(units[at : at + n]) in phrases), 0)
        if length:
            found.append((phrases[tuple(units[at : at + length])], at))
        at += length or 1
    return found


def _places(values: list[tuple[str, int]]) -> set[int]:
    return {at for _value, at in values}
