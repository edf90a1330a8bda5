"""Runs as OpenTelemetry spans, for a configured collector: one per run, and below it one per step, tool and model call.

Spans are made after the run from its records, so that a run costs the same with and without. Without
OTEL_EXPORTER_OTLP_ENDPOINT the library is not even imported. Attribute names follow OpenTelemetry's conventions for
generative AI, which are still in development: they are defined only here. No text is exported, neither of questions nor
of documents or answers, and no name of a person.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

from agent.run import Run
from agent.state import TraceStep
from copilot_site.lib.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

SERVICE = "enterprise-knowledge-copilot"
TIMEOUT_S = 5.0  # of one delivery, in a thread of its own
Value = str | int | float


@dataclass(frozen=True)
class Part:
    """A future span. began_ns, ended_ns: of the wall clock. error: its kind, "" where there was none."""

    name: str
    began_ns: int
    ended_ns: int
    attributes: Mapping[str, Value]
    error: str = ""


def export(run: Run) -> None:
    """Hand the run over to the collector's thread; do nothing where no collector is configured.

    Raises ImportError where the extra `telemetry` is not installed.
    """
    if not settings.OTLP_ENDPOINT:
        return
    from opentelemetry.trace import set_span_in_context

    tracer = provider(settings.OTLP_ENDPOINT, settings.OTLP_HEADERS).get_tracer("agent")
    whole, *below = parts(run)
    root = tracer.start_span(whole.name, start_time=whole.began_ns, attributes=dict(whole.attributes))
    _mark(root, whole.error)
    context = set_span_in_context(root)
    for part in below:
        span = tracer.start_span(part.name, context, start_time=part.began_ns, attributes=dict(part.attributes))
        _mark(span, part.error)
        span.end(part.ended_ns)
    root.end(whole.ended_ns)


@cache
def provider(endpoint: str, headers: str) -> "TracerProvider":
    """Return a provider that sends spans to `endpoint`/v1/traces in batches, from a thread.

    Undeliverable spans are lost, and logged by the library. headers: `name=value`, comma-separated.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = dict(part.strip().split("=", 1) for part in headers.split(",") if "=" in part)
    exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", headers=named, timeout=TIMEOUT_S)
    made = TracerProvider(resource=Resource.create({"service.name": SERVICE, "service.version": VERSION}))
    made.add_span_processor(BatchSpanProcessor(exporter))
    return made


def parts(run: Run) -> Iterator[Part]:
    """Yield the spans: the run first, then its parts."""
    below = [*map(_step, run.state.trace_steps), *_model_calls(run)]
    began = min((part.began_ns for part in below), default=0)
    ended = max((part.ended_ns for part in below), default=0)
    spent = run.spent
    yield Part(
        "invoke_agent copilot",
        began,
        ended,
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": run.profile.name or "copilot",
            "gen_ai.conversation.id": str(run.session_id),
            "gen_ai.usage.input_tokens": spent.input_tokens,
            "gen_ai.usage.output_tokens": spent.output_tokens,
            "copilot.run.id": str(run.message_id),
            "copilot.route": run.state.plan.route.value,
            "copilot.stop_reason": run.stop_reason.value,
            "copilot.evidence.count": len(run.findings),
            "copilot.evidence.cited": len(run.state.output.final_citations),
            "copilot.cost": float(spent.cost),
        },
        error="tool_error" if run.stop_reason.value == "tool_error" else "",
    )
    yield from below


def _step(step: TraceStep) -> Part:
    began = step.ts_ms * 1_000_000
    attributes: dict[str, Value] = {"copilot.step.action": step.action}
    name = step.node
    if step.tool:
        name = f"execute_tool {step.tool}"
        attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": step.tool}
    if "evidence_added" in step.out:
        attributes["copilot.evidence.added"] = step.out["evidence_added"]
    error = step.err["type"] if step.err else ""
    return Part(name, began, began + step.timing_ms * 1_000_000, attributes, error)


def _model_calls(run: Run) -> Iterator[Part]:
    name = run.model.name if run.model else ""
    for call in run.spent.model_calls:
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai_compatible",
            "gen_ai.request.model": name,
            "gen_ai.usage.input_tokens": call.input_tokens,
            "gen_ai.usage.output_tokens": call.output_tokens,
        }
        yield Part(f"chat {name}", call.began_ns, call.ended_ns, attributes, call.error)


def _mark(span: "Span", error: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    if error:
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR))
