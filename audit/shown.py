"""The index of which document was shown to whom: derived from entries, so it can be filled again and is no part of the chain."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connections, transaction
from django.db.models import Count, Q, QuerySet
from django.db.utils import DEFAULT_DB_ALIAS

from audit.actions import SHOWING, How
from audit.models import Entry, Shown
from copilot_site.lib.database import open_prepared_cursor

# An entry names a document as its target, in `documents`, or in an evidence id, `doc:<id>:chunk_0007:1a2b3c4d`. An answer
# that read a document and neither cites nor lists it did not show it. The statement of migration 0002 is this one, as of then.
FILL = f"""
WITH entry AS (
    SELECT e.id, e.at, e.actor_id, e.target_type, e.target_id, e.detail, showing.how
    FROM public.audit_entry e
    JOIN (VALUES {", ".join(f"('{action}', '{how}')" for action, how in SHOWING.items())}) AS showing (action, how) USING (action)
    WHERE e.id = %s
), named AS (
    SELECT id, at, actor_id, how, list.name, value
    FROM entry
    CROSS JOIN (VALUES ('documents'), ('cited'), ('evidence')) AS list (name)
    CROSS JOIN LATERAL jsonb_array_elements_text(
        CASE jsonb_typeof(detail -> list.name) WHEN 'array' THEN detail -> list.name ELSE '[]' END) AS value
    UNION ALL
    SELECT id, at, actor_id, how, 'target', target_id FROM entry WHERE target_type = 'document'
)
INSERT INTO public.audit_shown (entry_id, document_id, how, at, person_id)
SELECT id, document_id::uuid, CASE WHEN how = '{How.QUOTED}' AND bool_and(name = 'evidence') THEN '{How.READ}' ELSE how END, at, actor_id
FROM named CROSS JOIN LATERAL
    substring(value FROM '^(?:doc:)?([0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}})(?::|$)') AS document_id
WHERE document_id IS NOT NULL
GROUP BY id, document_id, how, at, actor_id
ON CONFLICT DO NOTHING
"""  # noqa: S608 - words of our own


def index_entry(entry: Entry) -> None:
    """Add a stored entry to the index, in the caller's transaction; do nothing for an action that shows no document."""
    if entry.action in SHOWING:
        connection = connections[DEFAULT_DB_ALIAS]
        with transaction.mark_for_rollback_on_error(DEFAULT_DB_ALIAS), open_prepared_cursor(connection) as cursor:
            cursor.execute(FILL, [entry.pk])


@dataclass(frozen=True)
class ShownFilter:
    """A choice of the index. documents: sets of ids, None for all; person: None for everybody; until is exclusive.

    how: "" for everything but `How.READ`, which was not shown.
    """

    documents: Sequence[QuerySet[Any, UUID] | Collection[UUID]] | None = None
    person: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    how: str = ""

    def rows(self) -> QuerySet[Shown]:
        """Return the rows, the latest first."""
        found = Shown.objects.order_by("-at", "-entry_id", "document_id")
        found = found.filter(how=self.how) if self.how else found.exclude(how=How.READ)
        if self.documents is not None:
            found = found.filter(Q(*(("document_id__in", ids) for ids in self.documents), _connector=Q.OR))
        if self.person is not None:
            found = found.filter(person_id=self.person)
        if self.since:
            found = found.filter(at__gte=self.since)
        return found.filter(at__lt=self.until) if self.until else found


def compute_shown_totals(rows: QuerySet[Shown]) -> tuple[int, int, int]:
    """Return how many times, to how many people, and how many documents."""
    found = rows.order_by().aggregate(
        times=Count("entry_id"),
        people=Count("person_id", distinct=True),
        documents=Count("document_id", distinct=True),
    )
    return found["times"], found["people"], found["documents"]
