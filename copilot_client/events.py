"""Events of a stream: the server's flat `StreamResponse`, typed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self


class ResponseType(StrEnum):
    """The type of an event. `COMPLETE` and `ERROR` end a stream, each stream with exactly one of them."""

    QUEUED = "queued"
    AGENT_QUERY = "agent_query"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    REFERENCES = "references"
    ANSWER = "answer"
    SLOT = "slot"
    REFLECTION = "reflection"
    SESSION_TITLE = "session_title"
    STOP = "stop"
    COMPLETE = "complete"
    ERROR = "error"


@dataclass(frozen=True)
class FunctionCall:
    """arguments: a JSON string, as models write it."""

    name: str
    arguments: str

    def parsed(self) -> dict[str, Any]:
        """Return the arguments as an object. Raises ValueError where the model wrote something else."""
        arguments = json.loads(self.arguments)
        if not isinstance(arguments, dict):
            raise ValueError(f"the arguments of {self.name} are no object")  # noqa: TRY004 - what the model wrote is wrong, not the type of ours
        return arguments


@dataclass(frozen=True)
class LLMToolCall:
    id: str
    type: str
    function: FunctionCall


@dataclass(frozen=True)
class SearchResult:
    """A passage: of a search (`content` is all of it) or behind a number of an answer (`content` is what was cited).

    knowledge_id: the document's id. number: of the mark in the answer, 0 in a search. score: higher is better.
    """

    knowledge_base_id: str
    knowledge_id: str
    chunk_id: str
    title: str
    content: str
    score: float
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    number: int = 0

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(
            knowledge_base_id=row["knowledge_base_id"],
            knowledge_id=row["knowledge_id"],
            chunk_id=row["chunk_id"],
            title=row["title"],
            content=row.get("content", row.get("snippet", "")),
            score=row["score"],
            page=row.get("page"),
            heading_path=tuple(row.get("heading_path", ())),
            number=row.get("number", 0),
        )


@dataclass(frozen=True)
class QueryReference:
    """The result of a query behind a number of an answer. source: name of the data source. result: table and meaning as JSON, if kept."""

    number: int
    source: str
    title: str
    snippet: str = ""
    result: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(row["number"], row["source"], row["title"], row.get("snippet", ""), row.get("result"))


@dataclass(frozen=True)
class WebReference:
    """A page from outside behind a number of an answer. read_at: ISO 8601; what it says now may differ."""

    number: int
    url: str
    title: str
    snippet: str = ""
    read_at: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(row["number"], row["url"], row["title"], row.get("snippet", ""), row.get("read_at", ""))


@dataclass(frozen=True)
class StreamResponse:
    """One event. seq: 0, 1, 2, … within an answer; 0 says: drop what you have, it is told from the beginning.

    response_type: a plain string where the server is newer than this package; such an event can be passed over.
    done: this is the last event of its type for now; only `is_last` says that the stream is over.
    """

    id: str
    seq: int
    response_type: ResponseType | str
    content: str = ""
    done: bool = False
    knowledge_references: tuple[SearchResult, ...] = ()
    query_references: tuple[QueryReference, ...] = ()
    web_references: tuple[WebReference, ...] = ()
    session_id: str = ""
    assistant_message_id: str = ""
    tool_calls: tuple[LLMToolCall, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def slot(self) -> int | None:
        """Return the number of the event's slot; None for none."""
        return self.data.get("slot")

    @property
    def is_last(self) -> bool:
        return self.response_type in {ResponseType.COMPLETE, ResponseType.ERROR}

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the event from its JSON."""
        row = json.loads(text)
        calls = row.get("tool_calls") or ()
        return cls(
            id=row["id"],
            seq=row["seq"],
            response_type=_parse_type(row["response_type"]),
            content=row["content"],
            done=row["done"],
            knowledge_references=tuple(SearchResult.of(item) for item in row.get("knowledge_references") or ()),
            query_references=tuple(QueryReference.of(item) for item in row.get("query_references") or ()),
            web_references=tuple(WebReference.of(item) for item in row.get("web_references") or ()),
            session_id=row["session_id"],
            assistant_message_id=row["assistant_message_id"],
            tool_calls=tuple(LLMToolCall(call["id"], call["type"], FunctionCall(**call["function"])) for call in calls),
            data=row.get("data") or {},
        )


def _parse_type(name: str) -> ResponseType | str:
    try:
        return ResponseType(name)
    except ValueError:
        return name


@dataclass
class Transcript:
    """An answer as it grows. text: its slots in order, as far as each is settled. references, queries, pages: the latest lists of sources;
    end: the last event, None while there is none.

    early: what is settled behind a slot that is still checked, by slot; checking: titles of the sources of slots that a model reads now.
    """

    text: str = ""
    references: tuple[SearchResult, ...] = ()
    queries: tuple[QueryReference, ...] = ()
    pages: tuple[WebReference, ...] = ()
    end: StreamResponse | None = None
    early: dict[int, str] = field(default_factory=dict)
    checking: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def take(self, event: StreamResponse) -> None:
        if event.seq == 0:
            self.text, self.references, self.queries, self.pages, self.end = "", (), (), (), None
            self.early, self.checking = {}, {}
        if event.response_type is ResponseType.ANSWER:
            self.text += event.content
            self._drop_slot_text(event.slot)
        elif event.response_type is ResponseType.SLOT and event.slot is not None:
            self._drop_slot_text(event.slot)
            if event.data["state"] == "checking":
                self.checking[event.slot] = tuple(event.data["sources"])
            elif event.data["state"] == "settled":
                self.early[event.slot] = event.content
        elif event.response_type is ResponseType.REFERENCES:
            self.references, self.queries = event.knowledge_references, event.query_references
            self.pages = event.web_references
        elif event.is_last:
            self.end = event

    def _drop_slot_text(self, slot: int | None) -> None:
        """Drop a slot's early text: the slot was settled, left out or revised."""
        if slot is not None:
            self.early.pop(slot, None)
            self.checking.pop(slot, None)
