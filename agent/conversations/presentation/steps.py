"""The steps of an answer in plain words: what was searched for, what was found, and how long it took.

Internal states (loading rights, cleaning text) are left out; `agent.runs.report` has them all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agent.run_state.state import Route, State

Said = str | Promise
WAYS: Final[Mapping[str, Said]] = {
    Route.DOC: gettext_lazy("A question about documents"),
    Route.SQL: gettext_lazy("A question about business data"),
    Route.HYBRID: gettext_lazy("A question about documents and business data"),
    Route.CALC: gettext_lazy("Something to calculate"),
    Route.CLARIFY: gettext_lazy("Found several possible meanings"),
    Route.REFUSE: gettext_lazy("Something that is not done here"),
}
TOOLS: Final[Mapping[str, Said]] = {
    "rag_retriever": gettext_lazy("Searched your documents"),
    "knowledge_search": gettext_lazy("Searched your documents"),
    "grep_chunks": gettext_lazy("Looked for exact words"),
    "list_knowledge_chunks": gettext_lazy("Read on in a document"),
    "get_document_info": gettext_lazy("Looked up facts about documents"),
    "database_query": gettext_lazy("Queried the business data"),
    "data_analysis": gettext_lazy("Worked on a table"),
    "data_schema": gettext_lazy("Looked up the tables"),
    "calculate": gettext_lazy("Calculated"),
    "thinking": gettext_lazy("Thought it over"),
    "todo_write": gettext_lazy("Made a plan"),
    "query_knowledge_graph": gettext_lazy("Followed how things are connected"),
    "web_search": gettext_lazy("Searched outside the company"),
    "web_fetch": gettext_lazy("Read a page outside the company"),
    "read_skill": gettext_lazy("Read an instruction"),
    "execute_skill_script": gettext_lazy("Ran a script"),
}
ACTIONS: Final[Mapping[str, Said]] = {
    "validate": gettext_lazy("Checked your access"),
    "show_passages": gettext_lazy("Chose the best passages"),
    "write": gettext_lazy("Wrote the answer and checked each sentence against its source"),
    "clarify": gettext_lazy("Asked back"),
    "refuse": gettext_lazy("Found nothing that confirms an answer"),
}


@dataclass(frozen=True)
class StepSummary:
    """text: what was done. brought: its outcome, "" for none. took: the duration, in words."""

    text: Said
    brought: str
    took: str
    has_failed: bool


def summarise_steps(state: Mapping[str, Any]) -> tuple[StepSummary, ...]:
    """Return the steps of a stored run in order, in the active language; none where the run has no trace."""
    trace: Sequence[Mapping[str, Any]] = state.get("trace_steps", ())
    evidence: Sequence[Mapping[str, Any]] = state.get("evidence_items", ())
    if sum(_count_added_evidence(step) for step in trace) != len(evidence):
        evidence = ()  # some was known before, so pieces cannot be assigned to steps
    found, place = [], 0
    for step in trace:
        added = _count_added_evidence(step)
        if step_text := _describe_step(step):
            brought = ", ".join(_yield_outcomes(step, evidence[place : place + added]))
            found.append(StepSummary(step_text, brought, format_seconds(step["timing_ms"]), step["status"] == "error"))
        place += added
    return tuple(found)


def format_seconds(ms: int) -> str:
    """Format a duration: tenths below ten seconds, whole seconds from there."""
    seconds = ms / 1000
    duration = number_format(max(seconds, 0.1), decimal_pos=1) if seconds < 9.95 else number_format(round(seconds))
    return _("%(seconds)s s") % {"seconds": duration}


def _count_added_evidence(step: Mapping[str, Any]) -> int:
    return int((step.get("out") or {}).get("evidence_added", 0)) if step.get("tool") else 0


def _describe_step(step: Mapping[str, Any]) -> Said:
    """Describe a step, with the skill it served; "" for an internal step.

    Tools of outside services are called by their names.
    """
    if tool := step.get("tool"):
        label = TOOLS.get(tool) or _("Used “%(tool)s”") % {"tool": tool.replace("_", " ")}
        if skill := (step.get("in") or {}).get("skill"):
            return _("Skill: %(skill)s · %(said)s") % {"skill": skill.replace("-", " "), "said": label}
        return label
    if step["node"] == State.ROUTE:
        return WAYS.get((step.get("out") or {}).get("route", ""), "")
    return ACTIONS.get(step["action"], "")


def _yield_outcomes(step: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if step["status"] == "error":
        yield _("did not work")
        return
    if step.get("tool"):
        yield from _yield_search_outcomes(step, evidence)
        return
    noted = _parse_note_figures(step)
    if kept := noted.get("kept", 0):
        yield ngettext("%(count)d sentence confirmed", "%(count)d sentences confirmed", kept) % {"count": kept}
    if dropped := noted.get("dropped", 0):
        yield ngettext("%(count)d left out", "%(count)d left out", dropped) % {"count": dropped}
    if filtered := noted.get("filtered", 0):
        yield ngettext("%(count)d passage taken out", "%(count)d passages taken out", filtered) % {"count": filtered}


def _yield_search_outcomes(step: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the outcomes of a search or a query. evidence: its pieces, where known."""
    passages = sum(item["type"] == "doc_chunk" for item in evidence) if evidence else _count_added_evidence(step)
    documents = len({item["source"].get("doc_id") for item in evidence if item["type"] == "doc_chunk"})
    if documents:
        text = ngettext("%(passages)s in %(count)d document", "%(passages)s in %(count)d documents", documents)
        yield text % {"passages": _format_passage_count(passages), "count": documents}
    elif passages and step["node"] == State.RETRIEVE:
        yield _format_passage_count(passages)
    elif step["node"] in (State.RETRIEVE, State.QUERY) and not _count_added_evidence(step):
        yield _("nothing new")
    if results := sum(item["type"] == "sql_result" for item in evidence):
        yield ngettext("%(count)d result", "%(count)d results", results) % {"count": results}
    if visible := _parse_note_figures(step).get("visible", 0):
        yield ngettext("out of %(count)s passage you can read", "out of %(count)s passages you can read", visible) % {
            "count": number_format(visible, force_grouping=True)
        }


def _format_passage_count(count: int) -> str:
    return ngettext("%(count)d passage", "%(count)d passages", count) % {"count": count}


def _parse_note_figures(step: Mapping[str, Any]) -> dict[str, int]:
    """Return the figures of a step's note, `usable=3 filtered=1`."""
    parts = (word.partition("=") for word in str((step.get("out") or {}).get("note", "")).split())
    return {name: int(number) for name, _sign, number in parts if number.isdecimal()}
