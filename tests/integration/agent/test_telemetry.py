"""Runs as spans: delivered to a real receiver over HTTP, without a word of anybody's; nothing at all where none is configured."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from celery import current_app
from django.contrib.auth.models import User
from django.test import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pytest_django import DjangoCaptureOnCommitCallbacks
from structlog.contextvars import bound_contextvars

from agent.events import StopReason
from copilot_site.lib import traces
from tests.contract.test_outgoing_clients import Heard, http_server
from tests.integration.agent.conversations import LEAVE, Handbook, asked, make_reader, stored
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.modelserver import Step, says
from tests.ports import closed_port

pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver() -> Iterator[Heard]:
    """A collector: keeps what it is sent."""
    with http_server() as heard:
        yield heard


def spans_at(receiver: Heard) -> list[dict[str, Any]]:
    """Name, attributes and ids of every span, in the order they came."""
    found = []
    for _method, _path, _headers, body in receiver.requests:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                pairs = {attribute.key: attribute.value for attribute in span.attributes}
                values = {key: getattr(value, value.WhichOneof("value")) for key, value in pairs.items()}
                known = {"name": span.name, "span": span, "id": span.span_id, "parent": span.parent_span_id}
                found.append(known | values)
    return found


@contextmanager
def reported(settings: Any, endpoint: str) -> Iterator[None]:
    """Runs within it are reported; at the end everything is delivered, or given up."""
    settings.OTLP_ENDPOINT, settings.OTLP_HEADERS = endpoint, "x-key=k1,x-team=a=b"
    provider = traces.build_provider(endpoint, settings.OTLP_HEADERS)
    try:
        yield
        provider.force_flush()
    finally:
        provider.shutdown()
        traces.build_provider.cache_clear()


def test_a_run_is_a_trace_of_steps_tools_and_model_calls(
    reader: User, settings: Any, receiver: Heard, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with (
        reported(settings, f"{receiver.url}/"),
        modelled(SEARCH, says(THIRTY)),
        django_capture_on_commit_callbacks(execute=True),
    ):
        row = stored(asked(reader, LEAVE))
    (whole,) = [span for span in spans_at(receiver) if not span["parent"]]
    assert whole["name"] == "invoke_agent copilot"
    assert whole["gen_ai.operation.name"] == "invoke_agent"
    assert whole["gen_ai.conversation.id"] == str(row.session_id)
    assert whole["copilot.run.id"] == str(row.pk)
    assert (whole["gen_ai.usage.input_tokens"], whole["gen_ai.usage.output_tokens"]) == (20, 10)
    assert (whole["copilot.stop_reason"], whole["copilot.route"], whole["copilot.evidence.cited"]) == ("ok", "DOC", 1)
    below = [span for span in spans_at(receiver) if span["parent"]]
    assert {span["parent"] for span in below} == {whole["id"]}
    assert [span["name"] for span in below].count("chat default") == 2
    *_first, tool = [span for span in below if span.get("gen_ai.operation.name") == "execute_tool"]
    assert (tool["name"], tool["gen_ai.tool.name"]) == ("execute_tool knowledge_search", "knowledge_search")
    assert {"Preprocess", "LoadAuthz", "Route", "Act"} <= {s["name"] for s in below}
    for span in below:
        assert whole["span"].start_time_unix_nano <= span["span"].start_time_unix_nano
        assert span["span"].end_time_unix_nano <= whole["span"].end_time_unix_nano
    _method, path, headers, _body = receiver.requests[0]
    assert (path, headers["x-key"], headers["x-team"]) == ("/v1/traces", "k1", "a=b")
    everything = b"".join(body for *_rest, body in receiver.requests)
    for text in (b"annual", b"30 days", b"manual", LEAVE.encode(), row.session.user.username.encode()):
        assert text not in everything


def test_request_run_model_call_and_task_of_one_request_id_are_one_trace(
    reader: User, settings: Any, receiver: Heard, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with reported(settings, receiver.url), modelled(SEARCH, says(THIRTY)) as server:
        Client().get("/sign-in/", headers={"X-Request-ID": "r-7"})
        with bound_contextvars(request_id="r-7"):
            with django_capture_on_commit_callbacks(execute=True):
                asked(reader, LEAVE)
            current_app.tasks["copilot_site.heartbeat"].apply()
        current_app.tasks["copilot_site.heartbeat"].apply()
    whole = [span for span in spans_at(receiver) if not span["parent"]]
    assert [(span["name"], span["copilot.request.id"]) for span in whole] == [
        ("GET sign-in/", "r-7"),
        ("invoke_agent copilot", "r-7"),
        ("run copilot_site.heartbeat", "r-7"),
        ("run copilot_site.heartbeat", ""),
    ]
    traces_of = [span["span"].trace_id for span in whole]
    assert len(set(traces_of[:3])) == 1
    assert traces_of[3] != traces_of[0]
    assert whole[0]["http.response.status_code"] == 200
    assert all(b"x-request-id: r-7" in head.lower() for head in server.heads)


def test_what_failed_is_marked_and_a_collector_that_is_not_there_harms_nobody(
    handbook: Handbook,
    settings: Any,
    receiver: Heard,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    base, _manual, _secret = handbook
    with django_capture_on_commit_callbacks(execute=True):
        asked(make_reader(base), LEAVE)
    assert traces.build_provider.cache_info().currsize == 0, "nothing is made where nothing is configured"
    with (
        reported(settings, receiver.url),
        modelled(chooses=lambda _request: Step(status=401)),
        django_capture_on_commit_callbacks(execute=True),
    ):
        asked(make_reader(base), LEAVE)
    failed = {span["name"]: span["error.type"] for span in spans_at(receiver) if "error.type" in span}
    assert failed == {"chat default": "ModelMisconfigured"}
    with reported(settings, f"http://127.0.0.1:{closed_port()}"), django_capture_on_commit_callbacks(execute=True):
        assert stored(asked(make_reader(base), LEAVE)).stop_reason == StopReason.OK


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None  # as where the extra is not installed
import django
from django.test import override_settings
django.setup()
import agent.runs.run
from agent.runs.telemetry import export_spans
from copilot_site.checks import runs_can_be_reported
export_spans(None)
assert runs_can_be_reported() == []
with override_settings(OTLP_ENDPOINT="http://127.0.0.1:4318"):
    print(runs_can_be_reported()[0].msg)
"""


def test_without_the_extra_everything_works_and_a_check_says_what_does_not() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("nothing is reported."), done.stderr
