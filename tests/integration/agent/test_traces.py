"""What is kept of a run: how it went, in ids, counts and times; no text of a document, and none of a title."""

import json

import pytest

from agent.events import ToolResult
from agent.models import StopReason
from agent.state import RunState, TraceStep
from tests.factories import allow, make_base, make_document
from tests.integration.agent.conversations import LEAVE, UNKNOWN, Judged, asked, make_library, make_reader, stored
from tests.integration.agent.modelled import DONE, SEARCH, THIRTY, modelled, of, routes
from tests.modelserver import calls, says

pytestmark = pytest.mark.django_db

CELL = "Bluebird"
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


def test_quotations_leave_no_text_in_the_state(judged: Judged) -> None:
    base, _manual, _secret = make_library()
    reader = make_reader(base)
    assert not [word for word in WORDS if word in kept(asked(reader, LEAVE))]
    judged(confirms=False)
    events = asked(reader, UNKNOWN)
    assert stored(events).stop_reason == StopReason.NO_EVIDENCE
    assert not [word for word in WORDS if word in kept(events)]


def test_a_model_s_run_leaves_no_text_in_the_state_where_tools_fail_over_a_cell() -> None:
    base, _manual, _secret = make_library()
    sheets = make_base("Sheets")
    sheet = make_document(sheets, "sales.csv", f"Region,Sales\n{CELL},120\nNorthern,80\n", ingested=True)
    reader = make_reader(base)
    allow(reader, sheets)
    ids = [str(sheet.pk)]
    wrong = calls(("data_analysis", {"knowledge_ids": ids, "sql": 'SELECT CAST("Region" AS INTEGER) FROM t1'}))
    right = calls(("data_analysis", {"knowledge_ids": ids, "sql": 'SELECT "Region" FROM t1'}))
    with modelled(routes(intent=f"ask 420,000 {CELL}!"), SEARCH, wrong, right, DONE, says(THIRTY)):
        events = asked(reader, LEAVE)
    results = of(events, ToolResult)
    assert [result.data["success"] for result in results] == [True, False, True]
    assert CELL in results[1].content, "the tool's own sentence repeats a cell"
    assert CELL in results[2].content
    assert not [word for word in WORDS if word in kept(events)]
    row = stored(events)
    assert row.state["plan"]["intent"] == f"ask_{CELL.lower()}"
    (problem,) = row.state["tools"]["errors"]
    assert (problem["tool"], problem["type"]) == ("data_analysis", "ToolMistake")
    failed = [step for step in row.state["trace_steps"] if step["status"] == "error"]
    assert [(step["node"], step["err"]["type"]) for step in failed if "err" in step] == [("SQLTool", "ToolMistake")]


def test_what_a_run_cost_and_how_passages_were_ranked_is_kept_beside_the_state() -> None:
    base, _manual, _secret = make_library()
    with modelled(routes(), SEARCH, DONE, says(THIRTY)):
        row = stored(asked(make_reader(base), LEAVE))
    assert row.state["spent"] == {
        "steps": 2, "tool_calls": 1, "input_tokens": 40, "output_tokens": 20, "cost": "0.0008", "stopped_by": "",
    }  # fmt: skip
    (scores,) = row.state["scores"].values()
    assert set(scores) == {"dense", "lexical", "fused", "rerank"}
    assert set(row.state["scores"]) == {item["evidence_id"] for item in row.state["evidence_items"]}
    assert row.state["versions"]["model"] == "default"
    assert set(row.prompts) == {"route.en", "act.en", "answer.en"}
