"""The chat page's socket: checks connections and messages, starts and stops runs, and forwards their events.

A run does not depend on the socket: it continues when the page is closed, and a page that reconnects can resume it.
"""

import asyncio
from typing import Any, Final, Literal
from uuid import UUID

import structlog
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.db import InterfaceError, OperationalError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from redis.exceptions import RedisError

from agent.conversations.sessions import get_session
from agent.events import Error
from agent.profiles.asked_in import MAX_TABLES, FieldSays, TableAsked, build_conditions
from agent.profiles.settings import Options
from agent.run_state.threads import run_front_call
from agent.runs.follow import follow_run, require_answer
from agent.runs.leases import request_stop
from agent.runs.run import launch_run
from agent.runs.start import find_answer_id, start_run
from audit.actions import Action, Outcome
from audit.record import record_action
from authz.principal import Principal
from authz.tokens.sockets import find_socket_principal
from copilot_site.lib.errors import CopilotError, NotFound, translate_error
from copilot_site.lib.http.sockets import bind_message_context
from copilot_site.lib.http.strict_serializers import MAX
from copilot_site.lib.load.concurrency_limit import AtMost, HoldsTooMuch
from copilot_site.lib.text.json_input import load_json
from knowledge.retrieval.conditions import MAX_CONDITIONS
from knowledge.retrieval.search import Scope
from knowledge.services.attachments import MAX_FILES

NOT_YOURS = 4404  # close code: no such conversation, or somebody else's
SIGNED_OUT = 4401
SOCKETS: Final = AtMost(50)  # of one person
TRY_AGAIN = 1013  # the page reconnects and asks for the missing events

log = structlog.get_logger(__name__)


class Ask(BaseModel):
    """A question.

    id: made by the client, which repeats it where delivery is uncertain. folder_ids: including their subfolders.
    metadata: conditions on document fields. tables: of data sources; with tables only, no documents are searched.
    follows: the answer before it; None: the last one. instead_of: the question that it replaces. is_wide: use more
    passages, because the first ones had no answer. agent_id: of the chosen assistant; None: the default one.
    attachment_ids: of the conversation's files to search.
    """

    model_config = ConfigDict(extra="forbid")

    query: str
    id: UUID | None = None
    agent_id: UUID | None = None
    knowledge_base_ids: list[UUID] = []
    folder_ids: list[UUID] = []
    knowledge_ids: list[UUID] = []
    metadata: list[FieldSays] = Field(default=[], max_length=MAX_CONDITIONS)
    tables: list[TableAsked] = Field(default=[], max_length=MAX_TABLES)
    attachment_ids: list[UUID] = Field(default=[], max_length=MAX_FILES)
    follows: UUID | None = None
    instead_of: UUID | None = None
    is_wide: bool = False
    language: Literal["en", "zh-hans"] = "en"


class Continue(BaseModel):
    """A request to resume an answer. after: the last `seq` that the page saw."""

    model_config = ConfigDict(extra="forbid")

    continue_message: UUID
    after: int = Field(default=-1, ge=-1, le=MAX)


class StopMessage(BaseModel):
    """An answer that is no longer wanted."""

    model_config = ConfigDict(extra="forbid")

    stop_message: UUID


FORMS: Final[dict[str, type[Ask | Continue | StopMessage]]] = {
    "continue_message": Continue,
    "stop_message": StopMessage,
}


class ChatConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.readers: set[asyncio.Task[None]] = set()
        self.counted_for = 0  # the person whose socket is counted
        try:
            await super().__call__(scope, receive, send)
        finally:  # Channels calls `disconnect` only where nothing failed
            for reader in self.readers:
                reader.cancel()
            if self.counted_for:
                SOCKETS.give_back(self.counted_for)

    async def connect(self) -> None:
        self.session_id: UUID = self.scope["url_route"]["kwargs"]["session_id"]
        await self.accept()
        principal = await self._load_principal()
        if principal.is_nobody:
            await self.close(SIGNED_OUT)
            return
        try:
            SOCKETS.take(principal.user_id)
            self.counted_for = principal.user_id
        except HoldsTooMuch:
            await self.close(TRY_AGAIN)
            return
        try:
            await run_front_call(get_session, principal, self.session_id)
        except NotFound:
            with bind_message_context(self.scope):
                await run_front_call(
                    record_action,
                    principal,
                    Action.ACCESS_DENIED,
                    outcome=Outcome.DENY,
                    reason="missing or hidden",
                    detail={"route": "chat socket", "asked": {"session_id": str(self.session_id)}},
                )
            await self.close(NOT_YOURS)

    async def disconnect(self, code: int) -> None:
        """Cancel the readers of this socket; runs continue."""
        for reader in self.readers:
            reader.cancel()
        await asyncio.gather(*self.readers, return_exceptions=True)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Handle a message.

        The person is read from the database again, so that a disabled or signed-out account has no access.
        """
        principal = await self._load_principal()
        if principal.is_nobody:
            await self.close(SIGNED_OUT)
            return
        named = [form for name, form in FORMS.items() if isinstance(content, dict) and name in content]
        try:
            asked = (named or [Ask])[0].model_validate(content)
            if isinstance(asked, Ask):
                heard = asked.id and await run_front_call(find_answer_id, principal, self.session_id, asked.id)
                self._start_forwarding(
                    principal, heard or await self._start_run(principal, asked), -1, is_own=not heard
                )
            elif isinstance(asked, Continue):
                await run_front_call(require_answer, principal, self.session_id, asked.continue_message)
                self._start_forwarding(principal, asked.continue_message, asked.after)
            else:
                await run_front_call(require_answer, principal, self.session_id, asked.stop_message)
                await request_stop(asked.stop_message)
        except ValidationError as problem:
            first = problem.errors()[0]
            await self._send_refusal(f"{'.'.join(map(str, first['loc'])) or 'message'}: {first['msg']}")
        except Exception as error:
            ours = translate_error(error)
            if not isinstance(ours, CopilotError):
                raise
            await self._send_refusal(str(ours), getattr(ours, "retry_after_s", None))

    async def _start_run(self, principal: Principal, asked: Ask) -> UUID:
        """Start a run and return the id of its answer."""
        scope = Scope(
            knowledge_base_ids=tuple(asked.knowledge_base_ids),
            folder_ids=tuple(asked.folder_ids),
            document_ids=tuple(asked.knowledge_ids),
            metadata=await run_front_call(build_conditions, principal, asked.metadata, asked.knowledge_base_ids),
        )
        run = await start_run(
            principal,
            self.session_id,
            asked.query,
            scope=scope,
            language=asked.language,
            options=Options(
                profile_id=str(asked.agent_id or ""),
                asked_as=asked.id,
                follows=asked.follows,
                instead_of=asked.instead_of,
                is_wide=asked.is_wide,
                attachments=tuple(asked.attachment_ids),
                tables=tuple(table.named for table in asked.tables),
            ),
        )
        return launch_run(run)

    def _start_forwarding(self, principal: Principal, message_id: UUID, after: int, *, is_own: bool = False) -> None:
        """Forward a run's events while the socket serves other messages.

        is_own: the run was begun just now, over this socket.
        """
        reader = asyncio.create_task(self._forward_events(principal, message_id, after, is_own))
        self.readers.add(reader)
        reader.add_done_callback(self.readers.discard)

    async def _forward_events(self, principal: Principal, message_id: UUID, after: int, is_own: bool) -> None:
        try:
            async for entry in follow_run(
                principal, session_id=self.session_id, message_id=message_id, after=after, is_own=is_own
            ):
                if entry is not None:
                    await self.send(text_data=entry.body)
        except CopilotError as problem:
            await self._send_refusal(str(problem), getattr(problem, "retry_after_s", None))
        except (RedisError, OperationalError, InterfaceError):
            log.warning("socket.cannot_follow", run=str(message_id), exc_info=True)
            await self.close(TRY_AGAIN)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Treat an empty or binary frame as an invalid message; Channels would close the socket with an exception."""
        with bind_message_context(self.scope):
            await self.receive_json(await self.decode_json(text_data or ""))

    @classmethod
    async def decode_json(cls, text_data: str) -> Any:
        """Parse JSON; return an empty message for anything else, so that the answer names the missing field."""
        try:
            return load_json(text_data)
        except ValueError:
            return {}

    async def _send_refusal(self, sentence: str, retry_after_s: int | None = None) -> None:
        """Send an error event. retry_after_s: for a question that was not accepted and may be asked again."""
        data = {} if retry_after_s is None else {"retry_after_s": retry_after_s}
        error = Error(content=sentence, data=data, done=True, session_id=str(self.session_id))
        await self.send_json(error.model_dump(mode="json"))

    async def _load_principal(self) -> Principal:
        return await run_front_call(find_socket_principal, self.scope)
