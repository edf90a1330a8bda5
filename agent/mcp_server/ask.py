"""`ask`: answer one question with its sources, as in the chat."""

from contextlib import aclosing
from uuid import UUID

from asgiref.sync import sync_to_async
from pydantic import Field

from agent.conversations.sessions import create_session, get_session
from agent.mcp_server.caller import Caller, Reply
from agent.models import Session
from agent.profiles.asked_in import MAX_TABLES, FieldSays, TableAsked, conditions
from agent.profiles.settings import Options
from agent.runs.start import QUESTION_LENGTH, start
from agent.text_answer import TextAnswer, pieces
from agent.tools.base import ToolArgs
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError
from knowledge.retrieval.conditions import MAX_CONDITIONS
from knowledge.retrieval.search import Scope

NAME = "ask"


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


async def ask(caller: Caller, args: AskArgs) -> Reply:
    """Ask the company's knowledge copilot and get a checked answer with numbered sources, or an honest “not found”.

    It searches documents and, where the token allows it, business data, under the rights of the person whose token this is. It may
    take a minute. Use it for a whole question; use knowledge_search where you want to read the passages yourself.
    """
    principal = caller.principal
    scope = Scope(
        knowledge_base_ids=tuple(args.knowledge_base_ids),
        document_ids=tuple(args.knowledge_ids),
        folder_ids=tuple(args.folder_ids),
        metadata=await sync_to_async(conditions)(principal, args.metadata, args.knowledge_base_ids),
    )
    session = await sync_to_async(_conversation)(principal, args.conversation_id)
    options = Options(disable_title=True, tables=tuple(table.named for table in args.tables), channel="mcp")
    try:
        run = await start(principal, session.pk, args.question, scope=scope, language=caller.language, options=options)
    except CopilotError:
        await sync_to_async(_forget_empty)(session)
        raise
    answer = TextAnswer(run, caller.site)
    async with aclosing(pieces(principal, answer, is_sent=False)) as grown:
        async for _piece in grown:
            pass
    if answer.error:
        return Reply(answer.error, is_error=True)
    answer_text = answer.text
    answer.close()
    cited = {note["url_citation"]["url"]: note["url_citation"]["title"] for note in answer.annotations}
    return Reply(
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


def _conversation(principal: Principal, pk: UUID | None) -> Session:
    """Find or begin the conversation; a new one has no title, so the chat page does not list it. Raises NotFound."""
    return get_session(principal, pk) if pk else create_session(principal)


def _forget_empty(session: Session) -> None:
    if not session.messages.exists():
        session.delete()
