"""The tools for programs only: `answer_program_question` answers one question, `list_documents` lists what the person may read."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from pydantic import Field

from agent.conversations.sessions import create_session, get_session
from agent.evidence.fencing import fence_facts, truncate_middle, unescape_fenced_text
from agent.models import Session
from agent.profiles.asked_in import MAX_TABLES, FieldSays, TableAsked, build_conditions
from agent.profiles.settings import Options
from agent.runs.start import QUESTION_LENGTH, start_run
from agent.text_answer import TextAnswer, stream_answer_pieces
from agent.tools.base import ToolArgs
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.checks import get_visible
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.text.one_line import fold_to_one_line
from knowledge.models import Document, KnowledgeBase
from knowledge.retrieval.conditions import MAX_CONDITIONS
from knowledge.retrieval.search import Scope


@dataclass(frozen=True)
class Caller:
    """language: of our own words, `en` or `zh-hans`. site: the address of this site, without a trailing slash."""

    principal: Principal
    language: str
    site: str


@dataclass(frozen=True)
class ToolReply:
    """text: for the calling model. data: the same for programs, JSON-serialisable."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False


class AskArgs(ToolArgs):
    question: str = Field(
        min_length=1, max_length=QUESTION_LENGTH, description="One question, complete in itself, in Chinese or English."
    )
    conversation_id: UUID | None = Field(
        default=None, description="To follow up: conversation_id of the answer before. Leave it out to begin anew."
    )
    knowledge_base_ids: list[UUID] = Field(
        default_factory=list, max_length=20, description="Only from these knowledge bases; leave it out for all."
    )
    knowledge_ids: list[UUID] = Field(
        default_factory=list, max_length=20, description="Only from these documents; leave it out for all."
    )
    folder_ids: list[UUID] = Field(
        default_factory=list,
        max_length=20,
        description="Only from these folders, with all that lies below; leave it out for all.",
    )
    metadata: list[FieldSays] = Field(
        default_factory=list,
        max_length=MAX_CONDITIONS,
        description="Only from documents whose fields say this; leave it out for all.",
    )
    tables: list[TableAsked] = Field(
        default_factory=list,
        max_length=MAX_TABLES,
        description="Only from these tables of data sources; leave it out for all. Without documents none is looked at.",
    )


async def answer_program_question(caller: Caller, args: AskArgs) -> ToolReply:
    """Ask the company's knowledge copilot and get a checked answer with numbered sources, or an honest “not found”.

    It searches documents and, where the token allows it, business data, under the rights of the person whose token this is. It may
    take a minute. Use it for a whole question; use knowledge_search where you want to read the passages yourself.
    """
    principal = caller.principal
    scope = Scope(
        knowledge_base_ids=tuple(args.knowledge_base_ids),
        document_ids=tuple(args.knowledge_ids),
        folder_ids=tuple(args.folder_ids),
        metadata=await sync_to_async(build_conditions)(principal, args.metadata, args.knowledge_base_ids),
    )
    session = await sync_to_async(_find_or_begin_conversation)(principal, args.conversation_id)
    options = Options(disable_title=True, tables=tuple(table.named for table in args.tables), channel="mcp")
    try:
        run = await start_run(
            principal, session.pk, args.question, scope=scope, language=caller.language, options=options
        )
    except CopilotError:
        await sync_to_async(_delete_empty_session)(session)
        raise
    answer = TextAnswer(run, caller.site)
    async with aclosing(stream_answer_pieces(principal, answer, is_sent=False)) as grown:
        async for _piece in grown:
            pass
    if answer.error:
        return ToolReply(answer.error, is_error=True)
    answer_text = answer.text
    answer.close()
    cited = {note["url_citation"]["url"]: note["url_citation"]["title"] for note in answer.annotations}
    return ToolReply(
        answer.text,
        {
            "answer": answer_text,
            "conversation_id": str(run.session_id),
            "message_id": str(run.message_id),
            "stop_reason": answer.stop_reason,
            "notices": list(answer.notices),
            "citations": [{"url": url, "title": title} for url, title in cited.items()],
        },
    )


def _find_or_begin_conversation(principal: Principal, pk: UUID | None) -> Session:
    """Find or begin the conversation; a new one has no title, so the chat page does not list it. Raises NotFound."""
    return get_session(principal, pk) if pk else create_session(principal)


def _delete_empty_session(session: Session) -> None:
    if not session.messages.exists():
        session.delete()


class ListDocumentsArgs(ToolArgs):
    knowledge_base_id: UUID | None = Field(
        default=None, description="List its documents; leave it out to list the knowledge bases."
    )
    limit: int = Field(default=50, ge=1, le=100, description="How many to return.")
    offset: int = Field(default=0, ge=0, le=10**9, description="From which one on; the first is 0.")


async def list_documents(caller: Caller, args: ListDocumentsArgs) -> ToolReply:
    """List what there is: without knowledge_base_id the knowledge bases, with it the documents of that base by name.

    Only what the person may read is listed and counted. Ids of documents (knowledge_id) go into list_knowledge_chunks to read one and
    into get_document_info for its facts.
    """
    return await sync_to_async(_list_bases_or_documents)(caller, args)


def _list_bases_or_documents(caller: Caller, args: ListDocumentsArgs) -> ToolReply:
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
    record_action(principal, Action.TOOL_CALLED, detail={"tool": "list_documents", "count": len(rows)})
    lines = (
        fold_to_one_line("- " + ", ".join(f"{name}={value}" for name, value in row.items() if value)) for row in rows
    )
    message = f"{total} {what}; {len(rows)} from {args.offset} on:\n{fence_facts('list', lines)}"
    return ToolReply(
        unescape_fenced_text(truncate_middle(message)), {"total": total, "offset": args.offset, "items": rows}
    )
