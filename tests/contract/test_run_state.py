"""The run's state is specification 002 §4.2's, field by field: its own JSON examples are read and written back unchanged."""

from copy import deepcopy
from typing import Any

import pytest

from agent.events import StopReason
from agent.run_state.cited_answer import Draft, Output
from agent.run_state.state import (
    Authz,
    EvidenceItem,
    Plan,
    RunInput,
    RunState,
    State,
    ToolProblem,
    ToolSummaries,
    TraceStep,
)

CITED = [
    {"evidence_id": "doc:deploy_spec_v3:chunk_001:a1b2c3d4"},
    {"evidence_id": "doc:k8s_handbook:chunk_114:9f8e7d6c"},
]
EXAMPLES: dict[str, tuple[Any, dict[str, Any]]] = {
    "trace_steps": (
        TraceStep,
        {
            "step_id": "step_0001",
            "ts_ms": 1735267200123,
            "node": "DocRAGTool",
            "action": "retrieve_and_pack",
            "status": "ok",
            "timing_ms": 186,
            "in": {"q": "k8s rolling update default strategy", "route": "DOC", "user": "u_123"},
            "out": {"evidence_added": 3, "note": "retrieved=8 packed=3"},
            "tool": "rag_retriever",
            "err": {"type": "ValidationError", "msg": "tenant/org filter is required"},
        },
    ),
    "evidence_items": (
        EvidenceItem,
        {
            "evidence_id": "doc:deploy_spec_v3:chunk_001:a1b2c3d4",
            "type": "doc_chunk",
            "text": "Deployment rolling update 默认策略为 ...",
            "score": 0.78,
            "source": {
                "doc_id": "deploy_spec_v3",
                "title": "Internal Deployment Spec",
                "page": 3,
                "chunk_id": "chunk_001",
                "uri": "kb://team-a/deploy/spec",
            },
            "authz": {"result": "allow", "perm_snapshot_id": "perm_20251227_001"},
            "by": "retriever",
            "hash": "a1b2c3d4",
        },
    ),
    "evidence_items of SQL": (
        EvidenceItem,
        {
            "evidence_id": "sql:q_20251227_0009:rowset:3c2b1a00",
            "type": "sql_result",
            "text": "cnt=128",
            "score": 1.0,
            "source": {"title": "", "db": "analytics", "table": "users", "query_id": "q_20251227_0009"},
            "authz": {"result": "filtered", "perm_snapshot_id": "perm_20251227_001"},
            "by": "sql",
            "hash": "3c2b1a00",
        },
    ),
    "input": (
        RunInput,
        {
            "query": "Kubernetes 中 Deployment 的 rolling update 默认策略是什么？",
            "normalized_query": "kubernetes deployment rolling update 默认策略是什么",
            "session_id": "sess_001",
            "user_id": "admin",
            "attachments": [{"type": "file", "file_id": "f_123", "name": "spec.pdf"}],
        },
    ),
    "authz": (
        Authz,
        {
            "user_id": "u_123",
            "roles": ["engineer"],
            "org_units": ["team-a", "project-x"],
            "perm_snapshot_id": "perm_20251227_001",
        },
    ),
    "plan": (
        Plan,
        {
            "route": "DOC",
            "intent": "ask_policy_from_docs",
            "clarifying_questions": ["你是想查询内部文档内容，还是想统计数据库里的业务数据？"],
            "validation": {"ok": True, "reason": None},
        },
    ),
    "tools": (
        ToolSummaries,
        {
            "rag": {
                "query": "kubernetes deployment rolling update 默认策略是什么",
                "top_k": 8,
                "filters": {"scope": ["team-a", "project-x"]},
                "returned_evidence_ids": [item["evidence_id"] for item in CITED],
            },
            "sql": {
                "generated_sql": "SELECT COUNT(*) AS cnt FROM users WHERE tenant_id=? AND created_at>=? AND created_at<? LIMIT 50",
                "result_preview": "cnt=128",
                "returned_evidence_ids": ["sql:q_20251227_0009:rowset:3c2b1a00"],
            },
            "errors": [{"tool": "sql_tool", "type": "ValidationError", "msg": "tenant/org filter is required"}],
        },
    ),
    "draft": (
        Draft,
        {
            "answer": "根据内部部署规范，Deployment 的 rolling update 默认策略是 ...",
            "citations": CITED,
            "confidence": 0.78,
            "followups": ["你想查看对应的配置示例吗？"],
        },
    ),
    "output": (
        Output,
        {
            "final_answer": "根据内部部署规范，Deployment 的 rolling update 默认策略是 ...",
            "final_citations": CITED,
            "rendered_sources": [
                {
                    "evidence_id": "doc:deploy_spec_v3:chunk_001:a1b2c3d4",
                    "title": "Internal Deployment Spec",
                    "page": 3,
                    "uri": "kb://team-a/deploy/spec",
                }
            ],
            "stop_reason": "ok",
        },
    ),
}


ROOM = {
    "plan": {"subtasks", "clarifying_queries", "explore", "approval", "leans_on", "leans_on_results"},
    "tools": {"web"},  # what left the house
    "output": {
        "kind",
        "is_declined",
        "disagreements",
    },  # best passages, and that a model found no answer in them;  # sources that contradict each other, left out where there are none
}  # "to be added for HYBRID"; what a choice means, the form of a question that was not read, both left out where there is none


def without_nothing(value: Any) -> Any:
    """A null says the same as a field that is not there."""
    if isinstance(value, dict):
        return {key: without_nothing(item) for key, item in value.items() if item is not None}
    return [without_nothing(item) for item in value] if isinstance(value, list) else value


def test_a_part_has_the_specification_s_fields_and_no_others() -> None:
    for name, (kind, example) in EXAMPLES.items():
        ours = {field.alias or key for key, field in kind.model_fields.items()}
        assert ours >= set(example), name
        others = {key for other, (also, more) in EXAMPLES.items() if also is kind for key in more}
        assert ours == others | ROOM.get(name, set())


def test_the_whole_state_is_read_and_written_back() -> None:
    parts = {name: example for name, (_kind, example) in EXAMPLES.items() if name in RunState.model_fields}
    lists = {
        "messages": [{"role": "user", "content": parts["input"]["query"]}],
        "trace_steps": [parts["trace_steps"]],
        "evidence_items": [parts["evidence_items"], EXAMPLES["evidence_items of SQL"][1]],
    }
    whole = without_nothing(parts | lists)
    written = RunState.model_validate(whole).model_dump(mode="json", by_alias=True, exclude_none=True)
    written["messages"] = [{key: value for key, value in turn.items() if value} for turn in written["messages"]]
    assert written == whole


def test_the_parts_are_those_of_the_specification() -> None:
    assert set(RunState.model_fields) == {
        "messages", "trace_steps", "evidence_items", "input", "authz", "plan", "tools", "draft", "output",
    }  # fmt: skip


def test_stop_reasons_are_the_specification_s_and_the_three_that_were_added() -> None:
    named = {"ok", "need_clarify", "no_evidence", "permission_denied", "tool_error"}
    assert set(StopReason.values) == named | {"cancelled", "budget_exhausted", "refused"}


def test_the_specification_s_words_are_ours() -> None:
    assert {
        "Preprocess",
        "LoadAuthz",
        "Route",
        "DocRAGTool",
        "SQLTool",
        "Clarify",
        "ValidateEvidence",
        "Synthesize",
    } <= {state.value for state in State}
    assert set(ToolProblem.model_fields) == {"tool", "type", "msg"}


WORDS: list[tuple[str, tuple[str, ...], set[Any]]] = [
    ("trace_steps", ("status",), {"ok", "error", "skipped"}),
    ("evidence_items", ("type",), {"doc_chunk", "sql_result"}),
    ("evidence_items", ("by",), {"retriever", "sql", "user"}),
    ("evidence_items", ("authz", "result"), {"allow", "deny", "filtered"}),
    ("plan", ("route",), {"DOC", "SQL", "CALC", "HYBRID", "CLARIFY", "REFUSE"}),
    ("plan", ("validation", "reason"), {"no_evidence", "permission_denied", None}),
    ("output", ("stop_reason",), {*StopReason.values}),
]


@pytest.mark.parametrize(("part", "path", "known"), WORDS, ids=[".".join((part, *path)) for part, path, _ in WORDS])
def test_a_field_takes_the_specification_s_words_and_no_others(
    part: str, path: tuple[str, ...], known: set[Any]
) -> None:
    kind, example = EXAMPLES[part]

    def given(word: Any) -> dict[str, Any]:
        changed: dict[str, Any] = deepcopy(example)
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = word
        return changed

    for word in known:
        assert kind.model_validate(given(word)).model_dump(mode="json", by_alias=True)[path[0]] is not None
    with pytest.raises(ValueError, match=path[-1]):
        kind.model_validate(given("something else"))
