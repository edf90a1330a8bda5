"""Phrases that ask for things, or for columns of things: “customers in Norway”, “names and prices of the products”."""

import re

from agent.business.ask.clause import Clause
from agent.business.ask.function_words import Kind
from agent.business.ask.joins import Joins
from agent.business.ask.lexicon import DimensionRef, Lexicon
from agent.business.ask.meaning import NotUnderstood, Question, Related


def listed(clause: Clause, *, is_plain: bool) -> Question:
    """A list of things, or of columns of things. In Chinese the thing comes last, in English first."""
    is_distinct = clause.row.drop(Kind.DISTINCT)
    letters = clause.row.letters
    if not letters and is_plain and len(clause.filters.models()) == 1:
        return Question(
            of=clause.filters.models().pop()
        )  # “which products' prices are above 50”: named with its column
    if re.fullmatch("M&M", letters):
        return _beside_one_another(clause)
    if re.fullmatch("M+", letters):
        models = [clause.references.model(item) for item in clause.row.items]
        if clause.is_chinese:
            models.reverse()
        if not is_plain and clause.filters.is_empty():
            raise NotUnderstood("a thing, and nothing asked about it")
        return Question(of=models[0], related=tuple(Related(name) for name in models[1:]))
    is_owned = letters.count("M") == 1 or any(item.is_owned for item in clause.row.items)
    # “the e-mails of customers in Brazil”, “regions with more than 5 customers”
    are_several = len(re.findall("[dnt]", letters)) > 1
    is_phrase = bool(clause.filters.having) or (is_owned and (are_several or not clause.filters.is_empty()))
    is_of_one = letters in ("d", "dM", "Md") and _is_of_one(clause)
    if re.fullmatch("M?&?[dnt](?:&?[dnt])*M?", letters) and (is_plain or is_phrase or is_of_one):
        columns = tuple(
            clause.references.dimension(i) for i in clause.row.items if i.kind not in (Kind.MODEL, Kind.AND)
        )
        models = [clause.references.model(item) for item in clause.row.items if item.kind is Kind.MODEL]
        of = models[0] if models else columns[0].model
        name = clause.references.lexicon.model(of).name_dimension
        tells_of_each = letters.startswith("M") or any(
            column.model == of and _varies(clause, column) for column in columns
        )
        if tells_of_each and name and not is_distinct and DimensionRef(of, name.name) not in columns:
            columns = (DimensionRef(of, name.name), *columns)  # “the cities with their population”
        if not models and len({column.model for column in columns}) > 1:
            raise NotUnderstood("columns of several tables, and none is named")
        return Question(of=of, columns=columns, is_distinct=is_distinct)
    raise NotUnderstood("no known way to ask")


def _beside_one_another(clause: Clause) -> Question:
    """“Projects and their owners”: what each is called, beside what the one it points to is called."""
    return named_beside(
        [clause.references.model(i) for i in clause.row.items if i.kind is Kind.MODEL], clause.references.lexicon
    )


def named_beside(names: list[str], lexicon: Lexicon) -> Question:
    """What each thing is called beside what the one it points to is called. Raises NotUnderstood."""
    base = Joins(lexicon.layer).base_for(names)
    titles = [(name, lexicon.model(name).name_dimension) for name in names]
    columns = tuple(DimensionRef(name, title.name) for name, title in titles if title)
    if base is None or len(columns) != len(names):
        raise NotUnderstood("two kinds of things that do not belong together")
    return Question(of=base, columns=columns)


def by_figure(clause: Clause, question: Question) -> Question:
    """“Which offices have more than 10 employees”: values of a column by their figure, not rows by theirs."""
    having, columns = clause.filters.having, question.columns
    if not having or not columns or question.figures:
        return question
    lexicon = clause.references.lexicon
    if any(lexicon.dimension(column).is_name for column in columns):
        return question
    if len(having) > 1 or question.order or question.related:
        raise NotUnderstood("several figures of a column")
    return Question(figures=(having[0].figure,), groups=columns)


def _is_of_one(clause: Clause) -> bool:
    """“The e-mail address of Frank Harris”: of the one that is called so."""
    column = clause.references.dimension(next(item for item in clause.row.items if item.kind is Kind.DIMENSION))
    names = [condition.dimension for condition in clause.filters.values if not condition.is_not]
    lexicon = clause.references.lexicon
    return any(name.model == column.model and lexicon.dimension(name).is_name for name in names)


def _varies(clause: Clause, column: DimensionRef) -> bool:
    return clause.references.lexicon.dimension(column).type in ("number", "time")
