"""Columns of things with a number of other things beside them: “the names of authors and the number of papers”."""

import re

from agent.business.ask.meaning import NotUnderstood, Question
from agent.business.ask.reading.clause import Clause
from agent.business.ask.reading.figure_phrases import figure_of
from agent.business.ask.sql.figures import model_of_figure
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.lexicon import DimensionRef, ModelRef

_COLUMNS = (Kind.DIMENSION, Kind.QUANTITY)


def counted_beside(clause: Clause) -> Question | None:
    """Every one of the things, by its key, with the number; None for another kind of question.

    A column that is neither the name nor the key of the thing is grouped by alone: “states and number of customers”.
    """
    letters = clause.row.letters
    found = re.fullmatch(
        "(?:(?P<columns>[dn](?:&?[dn])*)(?P<of>M?)&?|(?P<thing>M)&)(?P<figure>CM|C?m)(?P<again>M?)", letters
    )
    if found is None or clause.is_chinese or clause.groups:
        return None
    if found["thing"] and any(item.text.lower() in ("which", "who") for item in clause.references.items):
        return None  # those that have none would be missing
    items = clause.row.items
    columns = [clause.references.dimension(i) for i in items[: found.start("figure")] if i.kind in _COLUMNS]
    figure = figure_of(clause.references, items[found.start("figure") : found.end("figure")])
    owners = {column.model for column in columns}
    for place in ("of", "thing", "again"):
        if found[place]:
            owners.add(clause.references.model(items[found.start(place)]))
    known = {ref for ref in columns if _tells_apart(clause, ref)}
    is_of_things = bool(known or found["thing"])
    if len(owners) != 1 or (is_of_things and model_of_figure(figure) in owners):
        raise NotUnderstood("a number of what beside what")
    if not is_of_things:
        return Question(figures=(figure,), groups=tuple(dict.fromkeys(columns)))
    shown = [ref for ref in columns if not clause.references.lexicon.dimension(ref).is_name]
    return Question(figures=(figure,), groups=(ModelRef(owners.pop()), *dict.fromkeys(shown)))


def _tells_apart(clause: Clause, ref: DimensionRef) -> bool:
    """Whether a column is the name of a thing, a part of it, or its key."""
    lexicon = clause.references.lexicon
    model, own = lexicon.model(ref.model), lexicon.dimension(ref)
    name, key = model.name_dimension, model.primary
    is_part = name is not None and set(own.columns) <= set(name.columns)
    return is_part or (key is not None and own.columns == (key.expr,))
