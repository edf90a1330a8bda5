"""What is kept of a run: how it went, in ids, counts and times; no text of a document, and none of a title."""

import json
from contextlib import nullcontext
from itertools import pairwise

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from agent.conversations.sessions import create_session
from agent.events import StopReason, ToolResult
from agent.profiles.settings import Options
from agent.revocation import iterate_readable_events
from agent.run_state.run import Run
from agent.run_state.state import RunState, TraceStep
from agent.runs.start import prepare_run
from agent.states import STATES
from agent.workflow import walk_states
from authz.models import UnitKind
from authz.people.units import create_unit
from authz.principal import Principal
from knowledge.retrieval.search import Scope
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import LEAVE, UNKNOWN, Floor, Handbook, asked, make_reader, stored
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled, of
from tests.modelserver import calls, says

pytestmark = pytest.mark.django_db

CELL = "Bluebird"
ENTITLED = "What is the annual leave of employees?"
WORDS = ("30 days", "sick note", "Employees have", CELL, "Northern")  # of the documents, and of no question


def kept(events: list) -> str:  # type: ignore[type-arg]
    """The answer's stored state, less what the specification shows of sources: their titles."""
    state = dict(stored(events).state)
    RunState.model_validate(state | {"evidence_items": [{"text": "", **item} for item in state["evidence_items"]]})
    for step in state["trace_steps"]:
        TraceStep.model_validate(step)
        assert set(step) <= {"step_id", "ts_ms", "node", "action", "status", "timing_ms", "in", "out", "tool", "err"}
    assert [step["step_id"] for step in state["trace_steps"]] == [
        f"step_{number:04d}" for number in range(1, len(state["trace_steps"]) + 1)
    ]
    return json.dumps(state, ensure_ascii=False)


def test_quotations_leave_no_text_in_the_state(reader: User, floor: Floor) -> None:
    assert not [word for word in WORDS if word in kept(asked(reader, LEAVE))]
    floor(near=False)
    events = asked(reader, UNKNOWN)
    assert stored(events).stop_reason == StopReason.NO_EVIDENCE
    assert not [word for word in WORDS if word in kept(events)]


def test_a_model_s_run_leaves_no_text_in_the_state_where_tools_fail_over_a_cell(reader: User) -> None:
    sheets = make_base("Sheets")
    sheet = make_document(sheets, "sales.csv", f"Region,Sales\n{CELL},120\nNorthern,80\n", ingested=True)
    allow(reader, sheets)
    ids = [str(sheet.pk)]
    wrong = calls(("data_analysis", {"knowledge_ids": ids, "sql": 'SELECT CAST("Region" AS INTEGER) FROM t1'}))
    right = calls(("data_analysis", {"knowledge_ids": ids, "sql": 'SELECT "Region" FROM t1'}))
    with modelled(wrong, right, says(THIRTY)):
        events = asked(reader, LEAVE)
    results = of(events, ToolResult)
    assert [result.data["success"] for result in results] == [False, True]
    assert "Conversion Error" in results[0].content
    assert CELL not in results[0].content
    assert CELL in results[1].content
    assert not [word for word in WORDS if word in kept(events)]
    row = stored(events)
    (problem,) = row.state["tools"]["errors"]
    assert (problem["tool"], problem["type"]) == ("data_analysis", "ToolMistake")
    failed = [step for step in row.state["trace_steps"] if step["status"] == "error"]
    assert [(step["node"], step["err"]["type"]) for step in failed if "err" in step] == [("SQLTool", "ToolMistake")]


def test_three_parts_of_the_state_only_grow(handbook: Handbook) -> None:
    """Between any two events of a run: what stands in `messages`, `trace_steps` and `evidence_items` stays, in its place."""
    base, _manual, _secret = handbook
    reader = Principal.of(make_reader(base))

    async def seen(run: Run) -> list[tuple[list[object], ...]]:
        parts = run.state.messages, run.state.trace_steps, run.state.evidence_items
        moments = [
            tuple(list[object](part) for part in parts)
            async for _event in iterate_readable_events(run, walk_states(run, STATES))
        ]
        if run.model:
            await run.model.aclose()
        now = run.state.messages, run.state.trace_steps, run.state.evidence_items
        assert all(after is part for after, part in zip(now, parts, strict=True)), "the lists themselves"
        return [*moments, tuple(list[object](part) for part in parts)]

    with modelled(SEARCH, says(THIRTY)):
        session = create_session(reader)
        run = prepare_run(reader, session.pk, LEAVE, scope=Scope(), language="en", options=Options())
        moments = async_to_sync(seen)(run)
    for before, after in pairwise(moments):
        for was, grown in zip(before, after, strict=True):
            assert all(old is new for old, new in zip(was, grown, strict=False))
            assert len(grown) >= len(was)
    assert [bool(part) for part in moments[-1]] == [True, True, True]


@pytest.mark.parametrize("has_model", [False, True])
def test_a_run_fills_the_specification_s_state(handbook: Handbook, has_model: bool, floor: Floor) -> None:
    """Not the shape alone: what a run really writes into each field of 002 §4.2, and which state traced what (§4.3)."""
    base, manual, _secret = handbook
    reader = make_user()
    unit = create_unit(None, name="Platform", kind=UnitKind.DEPARTMENT)
    unit.group.user_set.add(reader)
    allow(reader, base)
    with modelled(SEARCH, says(THIRTY)) if has_model else nullcontext():
        row = stored(asked(reader, f"  {ENTITLED}\u200b ", scope=Scope(knowledge_base_ids=(base.pk,))))
    state = row.state
    session, name = str(row.session_id), reader.username
    assert state["input"] == {
        "query": ENTITLED, "normalized_query": ENTITLED, "session_id": session, "user_id": name, "attachments": [],
    }  # fmt: skip
    assert [message["content"] for message in state["messages"]] == [ENTITLED]
    authz = state["authz"]
    assert (authz["user_id"], authz["org_units"]) == (name, ["Platform"])
    assert authz["perm_snapshot_id"]
    assert state["plan"]["route"] == "DOC"
    assert state["plan"]["validation"] == {"ok": True}
    ids = [item["evidence_id"] for item in state["evidence_items"]]
    rag = state["tools"]["rag"]
    assert (rag["top_k"], rag["returned_evidence_ids"]) == (8, ids)
    assert rag["filters"] == {"scope": ["Platform"], "knowledge_base_ids": [str(base.pk)]}
    first = state["evidence_items"][0]
    assert first["evidence_id"].split(":")[:2] == ["doc", str(manual.pk)]
    assert first["evidence_id"].endswith(first["hash"][:8])
    assert (first["type"], first["by"], first["authz"]["result"]) == ("doc_chunk", "retriever", "allow")
    assert first["authz"]["perm_snapshot_id"] == authz["perm_snapshot_id"]
    assert set(first["source"]) == {"doc_id", "title", "chunk_id", "uri"}
    cited = [entry["evidence_id"] for entry in state["output"]["final_citations"]]
    assert cited == [entry["evidence_id"] for entry in state["draft"]["citations"]]
    assert cited
    assert set(cited) <= set(ids)
    assert [entry["evidence_id"] for entry in state["output"]["rendered_sources"]] == cited
    assert 0 <= state["draft"]["confidence"] <= 1
    assert state["output"]["stop_reason"] == "ok"
    steps = state["trace_steps"]
    nodes = list(dict.fromkeys(step["node"] for step in steps))
    assert [node for node in nodes if node != "Act"] == [
        "Preprocess", "LoadAuthz", "Route", "DocRAGTool", *([] if has_model else ["ValidateEvidence", "Synthesize"]),
    ]  # fmt: skip
    search = next(step for step in steps if step["node"] == "DocRAGTool")
    assert search["tool"] == "rag_retriever"
    assert search["out"]["evidence_added"] == len(ids)
    route = next(step for step in steps if step["node"] == "Route")
    assert (route["in"]["user"], route["out"]["route"]) == (name, "DOC")
    assert [step["ts_ms"] for step in steps] != []
    assert all(step["status"] == "ok" and step["timing_ms"] >= 0 for step in steps)
    if has_model:  # what it cost and how passages were ranked is kept beside the state
        assert state["spent"] == {
            "steps": 2, "tool_calls": 1, "input_tokens": 20, "output_tokens": 10, "cached_tokens": 0, "cost": "0.0004",
            "stopped_by": "",
        }  # fmt: skip
        assert state["versions"]["model"] == "default"
        assert set(row.prompts) == {"answer.en", "tools.en"}
    assert set(state["scores"]) == set(ids)
    for scores in state["scores"].values():
        assert set(scores) == {"dense", "lexical", "fused", "rerank"}
