"""A client of the Enterprise Knowledge Copilot: ask, follow, come back, stop, search. See README.md."""

from copilot_client.aio import AsyncClient
from copilot_client.client import Client
from copilot_client.errors import ClientError, Refused, Unreachable
from copilot_client.events import (
    FunctionCall,
    LLMToolCall,
    QueryReference,
    ResponseType,
    SearchResult,
    StreamResponse,
    Transcript,
    WebReference,
)
from copilot_client.reconnect import Backoff
from copilot_client.requests import KnowledgeQARequest, SearchKnowledgeRequest

__all__ = [
    "AsyncClient",
    "Backoff",
    "Client",
    "ClientError",
    "FunctionCall",
    "KnowledgeQARequest",
    "LLMToolCall",
    "QueryReference",
    "Refused",
    "ResponseType",
    "SearchKnowledgeRequest",
    "SearchResult",
    "StreamResponse",
    "Transcript",
    "Unreachable",
    "WebReference",
]
