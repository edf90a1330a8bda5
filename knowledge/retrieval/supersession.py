"""Documents that another one holds instead of: where both are found, only the one that holds answers."""

from collections.abc import Sequence

from knowledge.models import Document
from knowledge.retrieval.ranking import Ranked


def without_superseded(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The passages, without those of documents whose successor is among them, too.

    A successor that was not found, or that this person may not see, takes nothing away: it is not among what they may read.
    """
    found = {row.document_id for row in ranked}
    if len(found) < 2:
        return list(ranked)
    out = set(Document.unscoped.filter(pk__in=found, superseded_by__in=found).values_list("pk", flat=True))
    return [row for row in ranked if row.document_id not in out]
