"""Columns of things with a number of other things beside them: “the names of authors and the number of papers”."""

import re

from agent.business.ask.meaning import NotUnderstood, Question
from agent.business.ask.reading.clause import Clause
from agent.business.ask.reading.figure_phrases import figure_of
from agent.business.ask.sql.figures import model_of_figure
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.lexicon import DimensionRef, ModelRef


def counted_beside(clause: Clause) -> Question | None:
    """Every one of the things, by its key, with the number; None for another kind of question.

    A column that is neither the name nor the key of the thing is grouped by alone: “states and number of customers”.
    """
    found = re.fullmatch("(?P<columns>[dn](?:&?[dn])*)(?P<of>M?)&(?P<figure>CM|C?m)", clause.row.letters)
    if found is None or clause.is_chinese or clause.groups:
        return None
    items = clause.row.items
    columns = [clause.references.dimension(i) for i in items[: found.end("columns")] if i.kind is not Kind.AND]
    figure = figure_of(clause.references, items[found.start("figure") : found.end("figure")])
    owners = {column.model for column in columns}
    owners |= {clause.references.model(item) for item in items[found.start("of") : found.end("of")]}
    if len(owners) != 1 or model_of_figure(figure) in owners:
        raise NotUnderstood("a number of what beside what")
    model = clause.references.lexicon.model(owners.pop())
    known = {ref for ref in columns if _tells_apart(clause, ref)}
    if not known:
        return Question(figures=(figure,), groups=tuple(dict.fromkeys(columns)))
    shown = [ref for ref in columns if not clause.references.lexicon.dimension(ref).is_name]
    return Question(figures=(figure,), groups=(ModelRef(model.name), *dict.fromkeys(shown)))


def _tells_apart(clause: Clause, ref: DimensionRef) -> bool:
    """Whether a column is the name of a thing, a part of it, or its key."""
    lexicon = clause.references.lexicon
    model, own = lexicon.model(ref.model), lexicon.dimension(ref)
    name, key = model.name_dimension, model.primary
    is_part = name is not None and set(own.columns) <= set(name.columns)
    return is_part or (key is not None and own.columns == (key.expr,))
