"""Verified statements as examples for the next question, only those that the person's rights would run, and the most similar of them."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from business.guard.grammar import iterate_nodes, parse_query, strip_statement
from business.guard.guard import guard_statement
from business.guard.policy import TablePolicy
from business.guard.refusal import SqlRefused
from business.guard.rewrite import ProjectionTarget
from business.guard.rules import list_name_parts
from business.parsing.base import Example
from business.sources.services import OpenSource

# SQL's own texts: numbers and dates, intervals, fields of a time, and formats of to_char.
_NO_WORD = re.compile(r"[\d\W]*|[-+]?\d*\s*(second|minute|hour|day|week|month|quarter|year)s?|[YMDHISWQ\d\W]+")


def readable_examples(opened: OpenSource, examples: Iterable[Example]) -> list[Example]:
    """Return the examples that the current rights on this source would run.

    Statements that name a table or column that the person may not read or that is out of scope are left out, and those
    that may name a row of other org units: a model sees the examples, and may repeat them.
    """
    return [
        item
        for item in examples
        if is_accepted_statement(item.sql, opened.access.policy) and not _may_name_rows(item, opened)
    ]


@lru_cache(maxsize=4096)
def is_accepted_statement(sql: str, policy: TablePolicy) -> bool:
    """Return whether the guard accepts the statement and its tables have every column that it names."""
    try:
        checked = guard_statement(sql, policy, ProjectionTarget())
    except SqlRefused:
        return False
    found = list(iterate_nodes(parse_query(strip_statement(sql))))
    named = {list_name_parts(node.fields)[-1] for node in found if node.DESCRIPTOR.name == "ColumnRef"} - {
        ""
    }  # "": a star
    defined = {node.name for node in found if node.DESCRIPTOR.name == "ResTarget"}
    defined |= {node.relname for node in found if node.DESCRIPTOR.name == "RangeVar"}
    defined |= {node.aliasname for node in found if node.DESCRIPTOR.name == "Alias"}
    defined |= {node.ctename for node in found if node.DESCRIPTOR.name == "CommonTableExpr"}
    return named <= defined.union(*(table.columns for table in checked.tables))


def _may_name_rows(example: Example, opened: OpenSource) -> bool:
    """Return whether an example over tables restricted by org unit has texts that may be a row's.

    Values that the layer lists as kinds, dates, units of time and formats are not.
    """
    words = _find_possible_row_texts(example.sql, opened.access.policy)
    if words is None:
        return False
    listed = [d for model in opened.layer.semantic_models for d in model.dimensions]
    names = {value.value for d in listed if d.is_name for value in d.values}
    kinds = {value.value for d in listed if not d.is_name for value in d.values}
    return not words <= kinds - names or any(name in example.question for name in names)


@lru_cache(maxsize=4096)
def _find_possible_row_texts(sql: str, policy: TablePolicy) -> frozenset[str] | None:
    """Return the texts in a statement that may be a row's; None where all who may ask its tables see all rows."""
    if not any(table.org_column for table in guard_statement(sql, policy, ProjectionTarget()).tables):
        return None
    texts = {
        node.sval.sval for node in iterate_nodes(parse_query(strip_statement(sql))) if node.DESCRIPTOR.name == "A_Const"
    }
    return frozenset(text for text in texts if not _NO_WORD.fullmatch(text))


MAX_EXAMPLES = 3
MIN_ALIKE = 0.1  # least overlap: examples of other things mislead
_UNIT = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")
_ARTICLES = "a an the of in on at by for to and or"
_QUESTIONS = "is are was were did do does we our us how many much what which who there have has any"
_EMPTY = frozenset(f"{_ARTICLES} {_QUESTIONS}".split())


def select_similar_examples(question: str, examples: Sequence[Example], most: int = MAX_EXAMPLES) -> list[Example]:
    """Return the examples with the most words in common with this question, best last, next to the question."""
    wanted = _extract_grams(question)
    scored = []
    for place, example in enumerate(examples):
        given = _extract_grams(example.question)
        scored.append((len(wanted & given) / max(1, len(wanted | given)), -place))
    best = sorted(one for one in scored if one[0] >= MIN_ALIKE)[-most:]
    return [examples[-place] for _score, place in best]


def _extract_grams(text: str) -> frozenset[tuple[str, ...]]:
    """Return English words and Chinese character pairs, without function words."""
    units = [unit for unit in _UNIT.findall(text.lower()) if unit not in _EMPTY]
    words = [(unit,) for unit in units if unit.isascii()]
    return frozenset([*words, *pairwise(units)])
