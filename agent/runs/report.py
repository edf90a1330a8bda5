"""The report on how an answer was made, for reviewers: steps, times, cost, scores.

Documents are named under the viewer's rights of today; hidden ones are counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agent.conversations.presentation.visibility import cited_source_of
from agent.models import Message
from agent.run_state.state import State
from authz.principal import Principal
from business.results.visibility import Queried, visible_queries
from knowledge.selectors import ShownPassage, list_visible_passages

Label = str | Promise
STAGES: Mapping[str, Label] = {
    "dense": _("by meaning"),
    "lexical": _("by words"),
    "fused": _("both together"),
    "rerank": _("reranked"),
}
NAMES: Mapping[str, Label] = {
    "extractive": _("Quoted, no language model"),
    "database": _("Calculated by the database"),
    "calculate": _("Calculated"),
    "bundled": _("comes with the product"),
    "default": _("standard"),
    "none": _("none"),
}  # what settings and code call it; a model's own name stays
LABELS: Mapping[str, Label] = {
    State.PREPROCESS: _("Clean the question"),
    State.LOAD_AUTHZ: _("Read the asker and their rights"),
    State.ROUTE: _("Choose the way"),
    State.ACT: _("Let the model answer"),
    State.RETRIEVE: _("Search documents"),
    State.QUERY: _("Ask tables and data sources"),
    State.CALCULATE: _("Calculate"),
    State.CLARIFY: _("Ask back"),
    State.VALIDATE_EVIDENCE: _("Check that the evidence may be used"),
    State.SYNTHESIZE: _("Write the answer"),
    State.REFUSE: _("State that there is no answer"),
}
COUNTS: Mapping[str, Label] = {
    "visible": _("passages in reach"),
    "packed": _("passages taken"),
    "usable": _("pieces of evidence"),
    "filtered": _("taken out by rights"),
    "kept": _("sentences kept"),
    "unchecked": _("of them not checked"),
    "dropped": _("sentences left out"),
    "calls": _("tool calls"),
}


@dataclass(frozen=True)
class ShownStep:
    """A step of the trace. start, width: per cent of the run's time. counts: its results, as label and number."""

    label: Label
    detail: str
    status: str
    problem: str
    timing_ms: int
    start: float
    width: float
    counts: tuple[tuple[Label, str], ...]


@dataclass(frozen=True)
class ShownEvidence:
    """A piece of evidence that the viewer may see today. is_result: of a query rather than a passage.

    is_outside: of a web page.

    scores: one for each of STAGES, None where a stage did not score it.
    """

    title: str
    is_result: bool
    page: int | None
    is_cited: bool
    scores: tuple[float | None, ...]
    is_outside: bool = False


@dataclass(frozen=True)
class RunReport:
    """filtered: number of pieces removed during the run for lack of rights.

    hidden: pieces that the viewer may not see today.

    facts: versions and costs, as label and value; outside: queries sent outside and pages read there. prompts: name and
    hash. steps: empty for answers older than traces.
    """

    message: Message
    steps: tuple[ShownStep, ...]
    evidence: tuple[ShownEvidence, ...]
    filtered: int
    hidden: int
    facts: tuple[tuple[Label, Label], ...]
    prompts: tuple[tuple[str, str], ...]
    outside: tuple[tuple[Label, Label], ...] = ()
    stages: tuple[Label, ...] = tuple(STAGES.values())


def build_run_report(principal: Principal, message: Message) -> RunReport:
    """Return the report of an answer's run, as this person may see it now.

    The caller checks whether they may see it at all.
    """
    state = message.state
    items = state.get("evidence_items", ())
    used = [item for item in items if item["authz"]["result"] == "allow"]
    cited = {row.evidence_id: cited_source_of(row) for row in message.queries.all()}
    shown = tuple(_yield_visible_evidence(principal, state, used, cited))
    return RunReport(
        message=message,
        steps=tuple(_yield_steps(state.get("trace_steps", ()))),
        evidence=shown,
        filtered=len(items) - len(used),
        hidden=len(used) - len(shown),
        facts=tuple(_yield_report_facts(message, state)),
        prompts=tuple(sorted(message.prompts.items())),
        outside=tuple(_yield_web_exchanges(state)),
    )


def _yield_steps(trace: Sequence[Mapping[str, Any]]) -> Iterator[ShownStep]:
    began = min((step["ts_ms"] for step in trace), default=0)
    whole = max((step["ts_ms"] + step["timing_ms"] for step in trace), default=0) - began or 1
    for step in trace:
        detail = step.get("tool") or step["action"]
        out = step.get("out") or {}
        yield ShownStep(
            label=LABELS.get(step["node"], step["node"]),
            detail=detail,
            status=step["status"],
            problem=(step.get("err") or {}).get("type", ""),
            timing_ms=step["timing_ms"],
            start=round(100 * (step["ts_ms"] - began) / whole, 2),
            width=round(max(100 * step["timing_ms"] / whole, 0.5), 2),
            counts=(*_yield_skill(step), *_yield_step_counts(out)),
        )


def _yield_skill(step: Mapping[str, Any]) -> Iterator[tuple[Label, str]]:
    if skill := (step.get("in") or {}).get("skill"):
        yield _("skill"), skill


def _yield_step_counts(out: Mapping[str, Any]) -> Iterator[tuple[Label, str]]:
    """Yield a step's results: its own figures, and those of its note, `usable=3 filtered=1`."""
    if "route" in out:
        yield _("way"), str(out["route"])
    if "evidence_added" in out:
        yield _("new evidence"), str(out["evidence_added"])
    for word in str(out.get("note", "")).split():
        name, _sign, number = word.partition("=")
        if name in COUNTS and number.isdecimal():
            yield COUNTS[name], number


def _yield_visible_evidence(
    principal: Principal, state: Mapping[str, Any], items: Sequence[Mapping[str, Any]], kept: Mapping[str, Queried]
) -> Iterator[ShownEvidence]:
    """Yield the pieces visible today, in the order found. kept: sources of the cited results."""
    queried = {
        item["evidence_id"]: kept.get(item["evidence_id"]) or _make_source_key(item)
        for item in items
        if _is_query_result(item)
    }
    cited = {entry["evidence_id"] for entry in (state.get("output") or {}).get("final_citations", ())}
    ranked = state.get("scores") or {}
    chunks = {UUID(item["source"]["chunk_id"]) for item in items if item["source"].get("chunk_id")}
    visible = {passage.chunk_id: passage for passage in list_visible_passages(principal, chunks)}
    results = visible_queries(principal, set(queried.values()))
    for item in items:
        chunk_id = item["source"].get("chunk_id")
        passage = visible.get(UUID(chunk_id)) if chunk_id else None
        is_open = passage is not None or _is_web_page(item)
        if not is_open and not (_is_query_result(item) and queried[item["evidence_id"]] in results):
            continue
        scores = ranked.get(item["evidence_id"], {})
        yield ShownEvidence(
            title=_find_title(item, passage),
            is_result=_is_query_result(item),
            page=item["source"].get("page"),
            is_cited=item["evidence_id"] in cited,
            scores=tuple(scores.get(stage) for stage in STAGES),
            is_outside=_is_web_page(item),
        )


def _is_query_result(item: Mapping[str, Any]) -> bool:
    """Return whether it is the result of a data source and not from a document."""
    return not item["source"].get("chunk_id") and not _is_web_page(item)


def _is_web_page(item: Mapping[str, Any]) -> bool:
    return bool(item["type"] == "web_page")


def _find_source_name(item: Mapping[str, Any]) -> str:
    return str(item["source"].get("db", ""))


def _make_source_key(item: Mapping[str, Any]) -> Queried:
    """Return the source key of an uncited result, of which only its tables are stored."""
    return Queried.of_tables(_find_source_name(item), tuple(filter(None, item["source"].get("table", "").split(", "))))


def _find_title(item: Mapping[str, Any], passage: ShownPassage | None) -> str:
    return passage.title if passage else str(item["source"].get("title") or _find_source_name(item))


def _yield_web_exchanges(state: Mapping[str, Any]) -> Iterator[tuple[Label, Label]]:
    """Yield the queries sent outside, and the pages read there."""
    web = (state.get("tools") or {}).get("web") or {}
    for asked in web.get("asked", ()):
        yield _("Asked outside"), f"“{asked['query']}” → {asked['to']}"
    for page in web.get("fetched", ()):
        yield _("Page from outside"), f"{page['url'][:200]} ({page['code']})"


def _yield_report_facts(message: Message, state: Mapping[str, Any]) -> Iterator[tuple[Label, Label]]:
    """Yield the available facts as label and value."""
    made, spent = state.get("versions") or {}, state.get("spent") or {}
    tokens = spent.get("input_tokens", 0) + spent.get("output_tokens", 0)
    if message.duration_ms is not None:
        yield _("Time"), f"{message.duration_ms:,} ms"
    yield _("Written by"), NAMES.get(message.provider, message.provider) or "–"
    if made.get("model"):
        yield _("Language model"), made["model"]
    if tokens:
        yield _("Tokens sent and received"), f"{spent['input_tokens']:,} + {spent['output_tokens']:,}"
        if spent.get("cached_tokens"):
            yield _("Of the tokens sent, kept by the service"), f"{spent['cached_tokens']:,}"
        yield _("Cost, in the currency of the model's prices"), spent["cost"]
    if spent.get("stopped_by"):
        yield _("Limit that was reached"), spent["stopped_by"]
    for label, name in ((_("Embedder"), "embedder"), (_("Reranker"), "reranker"), (_("Assistant"), "profile")):
        if made.get(name):
            yield label, NAMES.get(made[name], made[name])
