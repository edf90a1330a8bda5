"""The chat page's socket: accepts or refuses, checks what comes in, starts a run, forwards its events."""

import json
from typing import Any, Literal
from uuid import UUID

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from pydantic import BaseModel, ConfigDict, ValidationError

from agent.events import Error
from agent.runs import ask
from agent.sessions import get_session
from audit.actions import Action, Outcome
from audit.record import record
from authz.principal import Principal
from authz.sockets import principal_of
from copilot_site.lib.errors import CopilotError, NotFound
from copilot_site.lib.sockets import message_of
from knowledge.retrieval.search import Scope

NOT_YOURS = 4404  # close code: no such conversation, or somebody else's
SIGNED_OUT = 4401


class Ask(BaseModel):
    """What a client may send."""

    model_config = ConfigDict(extra="forbid")

    query: str
    knowledge_base_ids: list[UUID] = []
    knowledge_ids: list[UUID] = []
    language: Literal["en", "zh-hans"] = "en"


class ChatConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    async def connect(self) -> None:
        self.session_id: UUID = self.scope["url_route"]["kwargs"]["session_id"]
        await self.accept()
        principal = await self._principal()
        if principal.is_nobody:
            await self.close(SIGNED_OUT)
            return
        try:
            await sync_to_async(get_session)(principal, self.session_id)
        except NotFound:
            with message_of(self.scope):
                await sync_to_async(record)(
                    principal,
                    Action.ACCESS_DENIED,
                    outcome=Outcome.DENY,
                    reason="missing or hidden",
                    detail={"route": "chat socket", "asked": {"session_id": str(self.session_id)}},
                )
            await self.close(NOT_YOURS)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Answer one question. The person is read again from the database: whoever is disabled or signed out is nobody by now."""
        principal = await self._principal()
        if principal.is_nobody:
            await self.close(SIGNED_OUT)
            return
        try:
            asked = Ask.model_validate(content)
            scope = Scope(knowledge_base_ids=tuple(asked.knowledge_base_ids), document_ids=tuple(asked.knowledge_ids))
            async for event in ask(
                principal,
                session_id=self.session_id,
                question=asked.query,
                scope=scope,
                language=asked.language,
            ):
                await self.send_json(event.model_dump(mode="json"))
        except ValidationError as problem:
            first = problem.errors()[0]
            await self._refuse(f"{'.'.join(map(str, first['loc'])) or 'message'}: {first['msg']}")
        except CopilotError as problem:
            await self._refuse(str(problem))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """An empty or binary frame is a wrong message like others; Channels would end the socket with an exception."""
        with message_of(self.scope):
            await self.receive_json(await self.decode_json(text_data or ""))

    @classmethod
    async def decode_json(cls, text_data: str) -> Any:
        """What is not JSON is an empty message: the answer then names the missing field."""
        try:
            return json.loads(text_data)
        except (ValueError, RecursionError):  # the latter: nested without end
            return {}

    async def _refuse(self, sentence: str) -> None:
        await self.send_json(
            Error(content=sentence, done=True, session_id=str(self.session_id)).model_dump(mode="json")
        )

    async def _principal(self) -> Principal:
        return await sync_to_async(principal_of)(self.scope)
