"""What a client receives is specification 003 §4.1: one flat `StreamResponse`, its types, and a gapless `seq` beside them."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import pytest
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft4Validator
from pydantic import TypeAdapter

from agent import events
from agent.events import (
    Event,
    FunctionCall,
    KnowledgeReference,
    LLMToolCall,
    QueryReference,
    StreamEvent,
    VerifiedReference,
    WebReference,
)
from business.results.shown_query import QueryShown
from copilot_client import ResponseType, StreamResponse
from tests.goldens import assert_golden

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
KINDS: tuple[type[StreamEvent], ...] = get_args(get_args(Event)[0])
NAMES = [kind.model_fields["response_type"].default for kind in KINDS]
SPECIFIED = {
    "thinking", "tool_call", "tool_result", "answer", "references", "reflection", "agent_query", "session_title",
    "complete", "error",
}  # fmt: skip
ALWAYS = {"id", "response_type", "content", "done", "session_id", "assistant_message_id"}
WHERE_IT_SAYS_SOMETHING = {"knowledge_references", "tool_calls", "data"}
OURS = {"seq", "query_references", "web_references", "verified_references"}
REFERENCE = KnowledgeReference(
    number=1, evidence_id="doc:1", knowledge_base_id=uuid4(), knowledge_id=uuid4(), chunk_id=uuid4(), title="Leave",
    heading_path=["Leave"], page=3, snippet="30 days", score=0.78,
)  # fmt: skip
QUERY = QueryReference(
    number=2, evidence_id="sql:1", source="sales", title="sales", snippet="128",
    result=QueryShown(query_id="q", question="?", statement="SELECT 1", sql="SELECT 1", sha256="0"),
)  # fmt: skip
PAGE = WebReference(
    number=3, evidence_id="web:1", url="https://x.example/", title="Leave", snippet="25 days",
    read_at=datetime(2026, 11, 25, tzinfo=UTC),
)  # fmt: skip
VERIFIED = VerifiedReference(
    number=4, evidence_id="verified:1", verified_answer_id=uuid4(), question="Leave?", by="Lin", verified_on=date(2026, 11, 25),
    snippet="30 days",
)  # fmt: skip
CALL = LLMToolCall(
    id="call_1", function=FunctionCall(name="knowledge_search", arguments='{"queries": ["AI 发展趋势"]}')
)
PARTS: dict[str, dict[str, Any]] = {
    "references": {
        "knowledge_references": [REFERENCE],
        "query_references": [QUERY],
        "web_references": [PAGE],
        "verified_references": [VERIFIED],
    },
    "tool_call": {"tool_calls": [CALL]},
    "tool_result": {"data": {"display_type": "table", "columns": ["a"]}},
    "answer": {"data": {"provider": "Big", "slot": 2}},
    "slot": {"data": {"slot": 3, "state": "checking", "sources": ["Leave"]}},
    "complete": {"data": {"stop_reason": "ok"}},
    "queued": {"data": {"before": 3}},
    "error": {"data": {"retry_after_s": 5}},
}


def made(kind: type[StreamEvent]) -> StreamEvent:
    """An event of this kind with everything it can carry."""
    name = kind.model_fields["response_type"].default
    return kind(content="…", done=True, **PARTS.get(name, {})).placed(7, uuid4(), uuid4())


def test_the_types_are_the_specification_s_and_three_more() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert set(NAMES) == SPECIFIED | {"queued", "slot", "stop"}
    assert set(ResponseType) == set(NAMES), "the client package knows them all"


def test_an_event_is_flat_and_has_the_specification_s_fields() -> None:
    for kind in KINDS:
        body = json.loads(made(kind).model_dump_json())
        assert ALWAYS | {"seq"} <= set(body) <= ALWAYS | WHERE_IT_SAYS_SOMETHING | OURS, kind
        assert (body["done"], body["content"], body["seq"]) == (True, "…", 7), kind
        assert body["id"] == body["assistant_message_id"], kind
        assert EVENT.validate_python(body) == made(kind).model_copy(update={"id": body["id"], "session_id": body["session_id"],
                                                                            "assistant_message_id": body["id"]})  # fmt: skip


def test_the_client_package_reads_every_event() -> None:
    for kind in KINDS:
        event = made(kind)
        read = StreamResponse.of(event.model_dump_json())
        assert read.response_type is ResponseType(kind.model_fields["response_type"].default)
        assert (read.seq, read.content, read.done, read.id) == (7, "…", True, event.id), kind
        assert read.is_last is (read.response_type in {"complete", "error"}), kind
        parts = PARTS.get(read.response_type, {})
        assert dict(read.data) == parts.get("data", {}), kind
        if "tool_calls" in parts:
            (call,) = read.tool_calls
            assert (call.id, call.type, call.function.name) == ("call_1", "function", "knowledge_search"), kind
            assert isinstance(call.function.arguments, str), kind
            assert call.function.parsed() == {"queries": ["AI 发展趋势"]}, kind
        if "knowledge_references" in parts:
            (source,), (query,) = read.knowledge_references, read.query_references
            assert (source.number, source.title, source.content, source.page, source.score) == (
                1,
                "Leave",
                "30 days",
                3,
                0.78,
            ), kind
            assert (source.knowledge_id, source.chunk_id) == (str(REFERENCE.knowledge_id), str(REFERENCE.chunk_id)), (
                kind
            )
            assert (query.number, query.source, query.snippet) == (2, "sales", "128"), kind
            assert query.result is not None, kind
            assert query.result["sql"] == "SELECT 1", kind


def test_a_type_of_a_newer_server_is_passed_on_as_it_is() -> None:
    body = json.loads(made(events.Thinking).model_dump_json()) | {"response_type": "code_execution", "extra": 1}
    read = StreamResponse.of(json.dumps(body))
    assert read.response_type == "code_execution"
    assert not read.is_last


def test_the_schema_of_events_is_the_one_that_was_agreed_on() -> None:
    schema = EVENT.json_schema() | {"version": events.VERSION}
    assert_golden("events.json", json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def test_nobody_is_told_how_sure_an_answer_is() -> None:
    """`confidence` orders sentences and is no probability (ADR 0015): no event, no address and no page has it."""
    root = Path(__file__).parents[2]
    shown = [*(root / "tests" / "golden").glob("*.*"), *(root / "templates").rglob("*.html")]
    assert {path.name for path in shown} >= {"events.json", "openapi.yaml", "_message.html", "_run.html"}
    assert [path.name for path in shown if "confidence" in path.read_text(encoding="utf-8")] == []


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    """The API's description, as it is served; what may be null, in the words of JSON Schema."""
    generator: Any = SchemaGenerator()  # type: ignore[no-untyped-call]
    return dict(_with_null(json.loads(json.dumps(generator.get_schema(request=None, public=True)))))


def _with_null(part: Any) -> Any:
    if isinstance(part, list):
        return [_with_null(item) for item in part]
    if not isinstance(part, dict):
        return part
    given = {name: _with_null(value) for name, value in part.items() if name != "nullable"}
    return {"anyOf": [given, {"type": "null"}]} if part.get("nullable") is True else given


def test_every_event_fits_the_api_s_description_and_what_is_none_does_not(description: dict[str, Any]) -> None:
    known = description["components"]["schemas"]
    assert known["StreamedEvent"]["discriminator"]["mapping"].keys() == set(NAMES)
    for kind in KINDS:
        event = made(kind)
        name = event.response_type  # type: ignore[attr-defined]
        named = known["StreamedEvent"]["discriminator"]["mapping"][name]
        written = json.loads(event.model_dump_json())
        Draft4Validator({"$ref": named, "components": description["components"]}).validate(written)
        fitting = [ref for ref in known["StreamedEvent"]["oneOf"] if _fits(ref, written, description)]
        assert [item["$ref"] for item in fitting] == [named]
        assert not _fits({"$ref": named}, written | {"seq": "7"}, description)
        assert not _fits({"$ref": named}, {k: v for k, v in written.items() if k != "response_type"}, description)


def _fits(ref: dict[str, str], written: Any, description: dict[str, Any]) -> bool:
    return bool(Draft4Validator(ref | {"components": description["components"]}).is_valid(written))


def test_every_stream_says_of_what_it_consists(description: dict[str, Any]) -> None:
    streams = [
        content["text/event-stream"]["schema"]
        for methods in description["paths"].values()
        for operation in methods.values()
        if "text/event-stream" in (content := operation["responses"].get("200", {}).get("content", {}))
    ]
    assert streams == [{"$ref": "#/components/schemas/StreamedEvent"}] * 3
