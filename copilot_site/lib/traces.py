"""OpenTelemetry spans of requests, runs and tasks, for a configured collector. What has one request id is one trace.

Spans are made afterwards from records, so that work costs the same with and without. Without OTEL_EXPORTER_OTLP_ENDPOINT,
or without the extra `telemetry`, nothing is made.
"""

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest

from copilot_site.lib.http.request_ids import compute_request_seconds, find_current_id
from copilot_site.lib.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

SERVICE = "enterprise-knowledge-copilot"
TIMEOUT_S = 5.0  # of one delivery, in a thread of its own
Value = str | int | float


@dataclass(frozen=True)
class SpanPart:
    """A future span. began_ns, ended_ns: of the wall clock. error: its kind, "" where there was none."""

    name: str
    began_ns: int
    ended_ns: int
    attributes: Mapping[str, Value] = field(default_factory=dict)
    error: str = ""


def send_spans(whole: SpanPart, below: Iterable[SpanPart] = ()) -> None:
    """Hand a span and those below it to the collector's thread; do nothing where no collector is configured."""
    if not is_tracing_enabled():
        return
    from opentelemetry.trace import set_span_in_context

    tracer = build_provider(settings.OTLP_ENDPOINT, settings.OTLP_HEADERS).get_tracer("copilot")
    attributes = {"copilot.request.id": find_current_id(), **whole.attributes}
    root = tracer.start_span(whole.name, start_time=whole.began_ns, attributes=attributes)
    _mark_error(root, whole.error)
    context = set_span_in_context(root)
    for part in below:
        span = tracer.start_span(part.name, context, start_time=part.began_ns, attributes=dict(part.attributes))
        _mark_error(span, part.error)
        span.end(part.ended_ns)
    root.end(whole.ended_ns)


def send_ended_span(name: str, seconds: float, attributes: Mapping[str, Value], error: str = "") -> None:
    """Send a span that ends now and took so many seconds."""
    now = time.time_ns()
    send_spans(SpanPart(name, now - round(seconds * 1e9), now, attributes, error))


def send_request_span(sender: object, request: HttpRequest, log_kwargs: dict[str, Any], **_: Any) -> None:
    """Receive django_structlog's signals about the end of a request."""
    match = request.resolver_match
    code = log_kwargs.get("code", 500)
    name = f"{request.method} {match.route if match else ''}".rstrip()
    attributes = {"http.request.method": request.method or "", "http.response.status_code": code}
    send_ended_span(name, compute_request_seconds(request), attributes, str(code) if code >= 500 else "")


def is_tracing_enabled() -> bool:
    return bool(settings.OTLP_ENDPOINT) and _is_exporter_installed()


@cache
def _is_exporter_installed() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


@cache
def build_provider(endpoint: str, headers: str) -> "TracerProvider":
    """Return a provider that sends spans to `endpoint`/v1/traces in batches, from a thread.

    Undeliverable spans are lost, and logged by the library. headers: `name=value`, comma-separated.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class ByRequest(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            named = find_current_id()
            return _hash_to_number(named) if named else super().generate_trace_id()

    named = dict(part.strip().split("=", 1) for part in headers.split(",") if "=" in part)
    exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", headers=named, timeout=TIMEOUT_S)
    resource = Resource.create({"service.name": SERVICE, "service.version": VERSION})
    made = TracerProvider(resource=resource, id_generator=ByRequest())
    made.add_span_processor(BatchSpanProcessor(exporter))
    return made


def _hash_to_number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:16])


def _mark_error(span: "Span", error: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    if error:
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR))
