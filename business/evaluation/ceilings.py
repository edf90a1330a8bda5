"""What a perfect language model would reply: the gold statement itself, or the logical query that says the same.

What is right then reaches the person; what is not is our own doing, and no model's.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any, Literal

from business.evaluation.from_sql.sources import NotConverted
from business.evaluation.from_sql.statement import query_of
from business.evaluation.questions import MOST_GOLDS, Asked, alternatives
from business.logical_query.catalog import Catalog

Replies = Literal["gold-sql", "gold-query"]


def gold_reply(one: Asked, catalog: Catalog, kind: Replies, today: date) -> Mapping[str, Any]:
    """The reply to a question, as `parsing.model.reply` has it; without one that can be given what is missing."""
    golds = alternatives(one.gold) if one.is_answerable else []
    if not golds:
        return {"missing": "the data do not hold it"}
    return {"sql": golds[0]} if kind == "gold-sql" else _query(golds, catalog, today)


def _query(golds: list[str], catalog: Catalog, today: date) -> Mapping[str, Any]:
    """The first of several equal statements that a logical query says."""
    why = ""
    for sql in golds[:MOST_GOLDS]:
        try:
            query = query_of(sql, catalog, today)
        except NotConverted as error:
            why = why or str(error)
        else:
            return {"query": query.model_dump(mode="json", exclude_defaults=True)}
    return {"missing": f"no logical query says it: {why}"}
