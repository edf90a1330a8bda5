"""`list_documents`: knowledge bases and their documents, limited to those visible to the person."""

from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from pydantic import Field

from agent.evidence.fencing import as_written, bounded, fenced_facts
from agent.mcp_server.caller import Caller, Reply
from agent.tools.base import ToolArgs
from audit.actions import Action
from audit.record import record
from authz.rights.checks import get_visible
from copilot_site.lib.text.one_line import one_line
from knowledge.models import Document, KnowledgeBase

MAX = 100


class ListDocumentsArgs(ToolArgs):
    knowledge_base_id: UUID | None = Field(
        default=None, description="List its documents; leave it out to list the knowledge bases."
    )
    limit: int = Field(default=50, ge=1, le=MAX, description="How many to return.")
    offset: int = Field(default=0, ge=0, le=10**9, description="From which one on; the first is 0.")


async def list_documents(caller: Caller, args: ListDocumentsArgs) -> Reply:
    """List what there is: without knowledge_base_id the knowledge bases, with it the documents of that base by name.

    Only what the person may read is listed and counted. Ids of documents (knowledge_id) go into list_knowledge_chunks to read one and
    into get_document_info for its facts.
    """
    return await sync_to_async(_listed)(caller, args)


def _listed(caller: Caller, args: ListDocumentsArgs) -> Reply:
    """List the bases, or the documents of one. Raises NotFound."""
    principal = caller.principal
    rows: list[dict[str, Any]]
    if args.knowledge_base_id is None:
        what, known = "knowledge bases", KnowledgeBase.objects.visible_to(principal).order_by("name", "id")
        total = known.count()
        rows = [
            {"knowledge_base_id": str(base.pk), "name": base.name, "description": base.description}
            for base in known[args.offset : args.offset + args.limit]
        ]
    else:
        base = get_visible(KnowledgeBase, principal, pk=args.knowledge_base_id)
        what, found = "documents of this base", Document.objects.visible_to(principal).filter(knowledge_base=base)
        total = found.count()
        chosen = found.order_by("filename", "id").select_related("folder")[args.offset : args.offset + args.limit]
        rows = [
            {"knowledge_id": str(item.pk), "title": item.title, "file_name": item.filename, "language": item.language}
            for item in chosen
        ]
    record(principal, Action.TOOL_CALLED, detail={"tool": "list_documents", "count": len(rows)})
    lines = (one_line("- " + ", ".join(f"{name}={value}" for name, value in row.items() if value)) for row in rows)
    message = f"{total} {what}; {len(rows)} from {args.offset} on:\n{fenced_facts('list', lines)}"
    return Reply(as_written(bounded(message)), {"total": total, "offset": args.offset, "items": rows})
