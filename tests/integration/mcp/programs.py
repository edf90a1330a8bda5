"""A program that uses our tools: the SDK's own client over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx2
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

T = TypeVar("T")


@asynccontextmanager
async def program(url: str, secret: str, *, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    """mode: `legacy` begins with the handshake of 2025, `auto` with what the newest protocol has instead."""
    sent = {"Authorization": f"Bearer {secret}"} | headers
    async with (
        httpx2.AsyncClient(headers=sent, timeout=300) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def used(url: str, secret: str, use: Callable[[Client], Awaitable[T]], **how: Any) -> T:
    """What `use` does with the client of a program."""

    async def run() -> T:
        async with program(url, secret, **how) as client:
            return await use(client)

    return asyncio.run(run())


def called(url: str, secret: str, name: str, arguments: dict[str, Any], **how: Any) -> types.CallToolResult:
    return used(url, secret, lambda client: client.call_tool(name, arguments), **how)


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))


def names(url: str, secret: str, **how: Any) -> list[str]:
    """The tools that a token is offered."""
    listed = used(url, secret, lambda client: client.list_tools(), **how)
    return [tool.name for tool in listed.tools]
