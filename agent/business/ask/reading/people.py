"""Who: whether what is found can be someone, and whose name answers."""

from dataclasses import replace

from agent.business.ask.meaning import NotUnderstood, Question, ValueFilter
from agent.business.ask.reading.clause import Clause
from agent.business.ask.words.lexicon import DimensionRef, Lexicon
from agent.business.ask.words.units import key_of

_PEOPLE_EN = (
    "employee staff person colleague customer client user member contact artist author composer student teacher "
    "supplier vendor shipper carrier company band owner manager"
)
_PEOPLE = frozenset((*_PEOPLE_EN.split(), *"员人客户顾家手商方队司"))


def are_people(clause: Clause, question: Question) -> bool:
    """Whether what is listed can be someone: people, companies, or columns of what is named."""
    lexicon = clause.references.lexicon
    shown = {ref.model for ref in (*question.columns, *question.also)}
    if question.of is None or (question.columns and question.of in clause.references.mentioned):
        return True
    words = {unit for name in (question.of, *shown) for word in lexicon.model(name).words() for unit in key_of(word)}
    return bool(words & _PEOPLE)


def with_names(clause: Clause, question: Question) -> Question:
    """“Who sits in Lethbridge and what is their title”: each by name, not the titles there are."""
    lexicon = clause.references.lexicon
    if is_named(replace(question, columns=()), clause.filters.values, lexicon):
        return _whose(clause, question)
    name = lexicon.model(question.of).name_dimension if question.of else None
    if name is None or not question.columns or question.figures or any(
        lexicon.dimension(column).is_name or column.model != question.of for column in question.columns
    ):  # fmt: skip
        return question
    return replace(question, columns=(DimensionRef(question.of or "", name.name), *question.columns), is_distinct=False)


def _whose(clause: Clause, question: Question) -> Question:
    """“Who owns the project A and which office are they in”: the owner's name, not the project's. Raises NotUnderstood."""
    lexicon = clause.references.lexicon
    asked = tuple(column for column in question.columns if column.model != question.of)
    if not asked and any(_says_people(lexicon.dimension(column).words()) for column in question.columns):
        return question  # “who is our contact at Ernst Handel”
    others = {column.model for column in asked}
    name = lexicon.model(others.pop()).name_dimension if len(others) == 1 else None
    if name is None:
        raise NotUnderstood("who, and it is no one")
    own = DimensionRef(asked[0].model, name.name)
    return replace(question, columns=tuple(dict.fromkeys((own, *asked))))


def _says_people(words: tuple[str, ...]) -> bool:
    return bool({unit for word in words for unit in key_of(word)} & _PEOPLE)


def is_named(question: Question, values: list[ValueFilter], lexicon: Lexicon) -> bool:
    """Whether a list would only repeat the name that the question says: “who owns the project A”."""
    if question.of is None or question.columns:
        return False
    return any(
        one.dimension.model == question.of and lexicon.dimension(one.dimension).is_name
        for one in values
        if not one.is_not
    )
