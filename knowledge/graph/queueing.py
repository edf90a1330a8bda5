"""A graph follows its documents: after a version is published, its base's graph is filled by a worker of the imports' queue."""

from uuid import UUID

from copilot_site.lib.load.queues import send_on_commit
from knowledge.models import Document, GraphMode, GraphReading

TASK = "knowledge.fill_graph"
QUEUE = "bulk"


def queue_document_on_commit(document_id: UUID) -> None:
    """Queue the filling of the graph when the transaction commits; `knowledge.tend_graphs` makes up for a lost message."""
    GraphReading.objects.filter(
        document_id=document_id
    ).delete()  # read again: the same version may have other text now
    base = (
        Document.unscoped.filter(pk=document_id)
        .exclude(knowledge_base__graph=GraphMode.OFF)
        .values_list("knowledge_base_id", flat=True)
    )
    for base_id in base:
        queue_base_on_commit(base_id)


def queue_base_on_commit(base_id: UUID) -> None:
    send_on_commit(TASK, base_id, queue=QUEUE)
