"""A run as OpenTelemetry spans: one, and below it one per step, tool and model call.

Attribute names follow OpenTelemetry's conventions for generative AI, which are still in development. No text is exported,
neither of questions nor of documents or answers, and no name of a person.
"""

from collections.abc import Iterator

from agent.run_state.run import Run
from agent.run_state.state import TraceStep
from copilot_site.lib.traces import SpanPart, Value, is_tracing_enabled, send_spans


def export_spans(run: Run) -> None:
    if is_tracing_enabled():
        whole, *below = yield_spans(run)
        send_spans(whole, below)


def yield_spans(run: Run) -> Iterator[SpanPart]:
    """Yield the spans: the run first, then its parts."""
    below = [*map(_make_step_span, run.state.trace_steps), *_yield_model_call_spans(run)]
    began = min((part.began_ns for part in below), default=0)
    ended = max((part.ended_ns for part in below), default=0)
    spent = run.spent
    yield SpanPart(
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


def _make_step_span(step: TraceStep) -> SpanPart:
    began = step.ts_ms * 1_000_000
    attributes: dict[str, Value] = {"copilot.step.action": step.action}
    name = step.node
    if step.tool:
        name = f"execute_tool {step.tool}"
        attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": step.tool}
    if "evidence_added" in step.out:
        attributes["copilot.evidence.added"] = step.out["evidence_added"]
    error = step.err["type"] if step.err else ""
    return SpanPart(name, began, began + step.timing_ms * 1_000_000, attributes, error)


def _yield_model_call_spans(run: Run) -> Iterator[SpanPart]:
    name = run.model.name if run.model else ""
    for call in run.spent.model_calls:
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai_compatible",
            "gen_ai.request.model": name,
            "gen_ai.usage.input_tokens": call.input_tokens,
            "gen_ai.usage.output_tokens": call.output_tokens,
        }
        yield SpanPart(f"chat {name}", call.began_ns, call.ended_ns, attributes, call.error)
