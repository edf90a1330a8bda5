"""Phrases that ask for things, or for columns of things: “customers in Norway”, “names and prices of the products”."""

import re
from itertools import pairwise

from agent.business.ask.meaning import NotUnderstood, Question, Related
from agent.business.ask.reading.clause import Clause
from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.beside import saying
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.lexicon import DimensionRef, Lexicon


def listed(clause: Clause, *, is_plain: bool) -> Question:
    """A list of things, or of columns of things. In Chinese the thing comes last, in English first."""
    is_distinct = clause.row.drop(Kind.DISTINCT)
    letters = clause.row.letters
    if not letters and clause.filters.numbers and len(clause.filters.models()) > 1:
        base = Joins(clause.references.lexicon.layer).base_for(clause.filters.models())
        if base is not None and base == clause.filters.numbers[0].dimension.model:
            return Question(of=base)  # “dairy products price over 30”
    if not letters and is_plain and len(clause.filters.models()) == 1:
        return Question(
            of=clause.filters.models().pop()
        )  # “which products' prices are above 50”: named with its column
    is_beside = letters == "MM" and any(i.text.lower() in ("and their", "and its") for i in clause.references.items)
    if re.fullmatch("M&M", letters) or is_beside:
        return _beside_one_another(clause)
    if re.fullmatch("M+", letters):
        models = [clause.references.model(item) for item in clause.row.items]
        if clause.is_chinese:
            models = _asked_first(clause, models[::-1])
        if not is_plain and clause.filters.is_empty():
            raise NotUnderstood("a thing, and nothing asked about it")
        return Question(of=models[0], related=tuple(Related(name) for name in models[1:]))
    is_owned = letters.count("M") == 1 or any(item.is_owned for item in clause.row.items)
    # “the e-mails of customers in Brazil”, “regions with more than 5 customers”
    are_several = len(re.findall("[dnt]", letters)) > 1
    is_phrase = bool(clause.filters.having) or (is_owned and (are_several or not clause.filters.is_empty()))
    is_of_one = re.fullmatch("[dnt](?:&?[dnt])*|[dnt]M|M[dnt]", letters) is not None and _is_of_one(clause)
    is_phrase = is_phrase or (letters in ("d", "n") and not clause.filters.is_empty() and _is_key(clause))
    if re.fullmatch("M?&?[dnt](?:&?[dnt])*M?", letters) and (is_plain or is_phrase or is_of_one):
        columns = tuple(
            clause.references.dimension(i) for i in clause.row.items if i.kind not in (Kind.MODEL, Kind.AND)
        )
        _require_side_by_side(clause)
        models = [clause.references.model(item) for item in clause.row.items if item.kind is Kind.MODEL]
        of = models[0] if models else columns[0].model
        name = clause.references.lexicon.model(of).name_dimension
        tells_of_each = letters.startswith("M") or any(
            column.model == of and _varies(clause, column) for column in columns
        )
        is_distinct = is_distinct or _asks_for_values(clause, columns)
        if tells_of_each and name and not is_distinct and DimensionRef(of, name.name) not in columns:
            columns = (DimensionRef(of, name.name), *columns)  # “the cities with their population”
        if not models and len({column.model for column in columns}) > 1:
            raise NotUnderstood("columns of several tables, and none is named")
        return Question(of=of, columns=columns, is_distinct=is_distinct)
    raise NotUnderstood("no known way to ask")


def _require_side_by_side(clause: Clause) -> None:
    """“The population of the capital” is no column of the state, beside its capital. Raises NotUnderstood."""
    columns = [item for item in clause.row.items if item.kind in (Kind.QUANTITY, Kind.DIMENSION, Kind.TIME)]
    items = clause.references.items
    for first, second in pairwise(columns):
        places = [n for n, item in enumerate(items) if item is first or item is second]
        between = [item.text.lower() for item in items[places[0] + 1 : places[-1]]]
        if "of" in between and set(between) <= {"of", "the", "its", "their"}:
            raise NotUnderstood("a column of another column")


def _asked_first(clause: Clause, models: list[str]) -> list[str]:
    """“哪些客户买过这个产品”, “谁负责巴西客户”: what follows 哪些 or 谁 is asked for, wherever the others stand."""
    items = [item for item in clause.references.items if item.kind is not Kind.STOP]
    for which, thing in pairwise(items):
        if which.kind is Kind.LIST and set(which.text) & {"哪", "谁"} and thing.kind is Kind.MODEL:
            asked = clause.references.model(thing)
            return sorted(models, key=lambda name: name != asked)
    return models


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
    """“The e-mail address of Frank Harris”, “of the IT manager”: of the one that is called so, or that has the value."""
    column = clause.references.dimension(
        next(item for item in clause.row.items if item.kind in (Kind.DIMENSION, Kind.QUANTITY, Kind.TIME))
    )
    lexicon = clause.references.lexicon
    said = [one.dimension for one in clause.filters.values if not one.is_not and one.dimension.model == column.model]
    return any(lexicon.dimension(one).is_name for one in said) or (bool(said) and not clause.is_chinese)


def _is_key(clause: Clause) -> bool:
    """“运费超过500的订单号”: the numbers that rows are known by."""
    ref = clause.references.dimension(clause.row.items[0])
    primary = clause.references.lexicon.model(ref.model).primary
    return primary is not None and clause.references.lexicon.dimension(ref).expr == primary.expr


def _asks_for_values(clause: Clause, columns: tuple[DimensionRef, ...]) -> bool:
    """“客户分布在哪几个国家”: which several values there are, not which one each has."""
    if not clause.is_chinese or clause.is_severally or len(columns) != 1 or _varies(clause, columns[0]):
        return False
    items = saying(clause.references.items)
    return any(
        first.kind is Kind.LIST and "哪" in first.text and not first.text.endswith("哪个") and columns[0] in second.refs
        for first, second in pairwise(items)
    )


def _varies(clause: Clause, column: DimensionRef) -> bool:
    return clause.references.lexicon.dimension(column).type in ("number", "time")
