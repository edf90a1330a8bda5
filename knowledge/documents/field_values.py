"""Values in the fields of the documents that a person may read, to narrow a question by."""

import json
import re
from dataclasses import dataclass

from django.db import connection

from authz.principal import Principal
from knowledge.retrieval.conditions import Value
from knowledge.retrieval.plan import documents_in
from knowledge.retrieval.search import Scope

_BETWEEN = re.compile(r"[\s:：=]+")
_VALUES = """
SELECT e.key, e.value, count(*) FROM knowledge_document d
CROSS JOIN LATERAL jsonb_each(d.metadata) e
JOIN knowledge_documentfield f ON f.knowledge_base_id = d.knowledge_base_id AND f.name = e.key
WHERE d.metadata <> '{{}}' AND d.id IN ({documents}){words}
GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT %s"""
_WORD = " AND strpos(lower(e.key || ' ' || (e.value #>> '{}')), lower(%s)) > 0"


@dataclass(frozen=True)
class FieldValue:
    """A value as `Document.metadata` holds it. count: documents with it that the person's answers may use."""

    field: str
    value: Value
    count: int


def field_values(principal: Principal, words: str, *, most: int) -> list[FieldValue]:
    """Return the values whose field and value together hold all the words, the most frequent first. Documents that the person may not read
    give no values and count nothing: one statement decides both.
    """
    documents, values = documents_in(principal, Scope()).order_by().values("pk").query.sql_with_params()
    asked = [word for word in _BETWEEN.split(words) if word]
    with connection.cursor() as cursor:
        cursor.execute(_VALUES.format(documents=documents, words=_WORD * len(asked)), [*values, *asked, most])
        return [FieldValue(name, json.loads(value), count) for name, value, count in cursor.fetchall()]
