"""Verified statements as examples for the next question: those alone that a person's rights would run."""

import re
from collections.abc import Iterable
from functools import lru_cache

from business.guard.grammar import nodes, parse_query
from business.guard.guard import guard
from business.guard.policy import Policy
from business.guard.refusal import SqlRefused
from business.guard.rewrite import Target
from business.guard.rules import strings
from business.guard.text import clean
from business.parsing.base import Example
from business.sources import OpenSource

# Texts of SQL itself: figures and dates, intervals, fields of a time, and formats of to_char.
_NO_WORD = re.compile(r"[\d\W]*|[-+]?\d*\s*(second|minute|hour|day|week|month|quarter|year)s?|[YMDHISWQ\d\W]+")


def readable_examples(opened: OpenSource, examples: Iterable[Example]) -> list[Example]:
    """Return those that the rights of today behind this source would run.

    What names a table or column the person may not read, or one out of the scope, is not there, nor what may name a row of other
    org units. A model is shown them, and repeats them to whoever asks it to.
    """
    return [each for each in examples if passes(each.sql, opened.access.policy) and not _names_rows(each, opened)]


@lru_cache(maxsize=4096)
def passes(sql: str, policy: Policy) -> bool:
    """Return whether the guard lets the statement through and every column it names is among those of its tables."""
    try:
        checked = guard(sql, policy, Target())
    except SqlRefused:
        return False
    found = list(nodes(parse_query(clean(sql))))
    named = {strings(node.fields)[-1] for node in found if node.DESCRIPTOR.name == "ColumnRef"} - {""}  # "": a star
    defined = {node.name for node in found if node.DESCRIPTOR.name == "ResTarget"}
    defined |= {node.relname for node in found if node.DESCRIPTOR.name == "RangeVar"}
    defined |= {node.aliasname for node in found if node.DESCRIPTOR.name == "Alias"}
    defined |= {node.ctename for node in found if node.DESCRIPTOR.name == "CommonTableExpr"}
    return named <= defined.union(*(table.columns for table in checked.tables))


def _names_rows(example: Example, opened: OpenSource) -> bool:
    """Return whether an example over tables of which units see their own rows alone has words that may be a row's.

    Kinds of things that the layer lists, dates, units of time and formats are not.
    """
    words = _words_of_rows(example.sql, opened.access.policy)
    if words is None:
        return False
    listed = [d for model in opened.layer.semantic_models for d in model.dimensions]
    names = {value.value for d in listed if d.is_name for value in d.values}
    kinds = {value.value for d in listed if not d.is_name for value in d.values}
    return not words <= kinds - names or any(name in example.question for name in names)


@lru_cache(maxsize=4096)
def _words_of_rows(sql: str, policy: Policy) -> frozenset[str] | None:
    """Return the texts in a statement that may be a row's; None where everybody who may ask its tables sees all of their rows."""
    if not any(table.org_column for table in guard(sql, policy, Target()).tables):
        return None
    texts = {node.sval.sval for node in nodes(parse_query(clean(sql))) if node.DESCRIPTOR.name == "A_Const"}
    return frozenset(text for text in texts if not _NO_WORD.fullmatch(text))
