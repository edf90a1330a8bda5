"""The grant of an administrator's sign-in to a service: stored sealed with the service, renewed on demand."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.core.cache import cache

from agent.connections import service_keys
from agent.models import McpService

if TYPE_CHECKING:
    import httpx2

    from agent.mcp_client.authorization_code import Grant

KIND = "mcp service sign-in"  # that is sealed
RENEWS_S = 60  # longest renewal before another process takes over
LOOKS_S = 0.2  # between two checks for another process's renewal


@dataclass(eq=False)
class SignedIn:
    """The grant of one service, for one connection. place: that the sign-in is bound to."""

    service_id: int
    place: str
    _stored: str = field(default="", init=False, repr=False)

    def auth(self, url: str) -> "httpx2.Auth":
        """Return the authentication that adds the service's token."""
        from agent.mcp_client.authorization_code import Renewing

        return Renewing(url, read=sync_to_async(self.read), keep=sync_to_async(self.keep), alone=self._alone)

    def read(self) -> "Grant":
        """Read the stored grant. Raises Refused where nobody is signed in."""
        from agent.mcp_client.authorization_code import Grant, Refused

        kept = McpService.objects.filter(pk=self.service_id).values_list("encrypted_sign_in", flat=True)
        self._stored = kept.first() or ""
        try:
            opened = service_keys.opened(self._stored, self.place, of=KIND)
        except service_keys.KeyLost:
            opened = ""
        if not opened:
            raise Refused("nobody is signed in")
        return Grant.model_validate_json(opened)

    def keep(self, grant: "Grant") -> None:
        """Store the renewed grant, unless somebody signed out or in again meanwhile."""
        read = McpService.objects.filter(pk=self.service_id, encrypted_sign_in=self._stored)
        read.update(encrypted_sign_in=sealed(grant, self.place))

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Let one process renew at a time: many issuers accept a refresh token only once."""
        key = f"mcp-sign-in-renewal:{self.service_id}"
        while not await cache.aadd(key, 1, RENEWS_S):  # noqa: ASYNC110 - held by another process
            await asyncio.sleep(LOOKS_S)
        try:
            yield
        finally:
            await cache.adelete(key)


def sealed(grant: "Grant", place: str) -> str:
    """Seal a grant for this place alone."""
    return service_keys.sealed(grant.model_dump_json(), place, of=KIND)
