"""Store the result of a tool call in the run and its trace."""

from agent.evidence.fencing import remove_fences
from agent.run_state.outside import WebSummary
from agent.run_state.run import Run
from agent.run_state.state import ExploreForm, MeantQuery, RagSummary, Route, State, ToolProblem
from agent.tools.base import ToolOutput as Result
from agent.tools.calling import UNREAD, CallOutcome
from agent.tools.knowledge_search import TOP_K
from agent.workflow import add_trace_step

PROBLEMS = {  # stored texts of failed calls: the tool's own sentence may repeat a title or a cell
    "InvalidArguments": "the arguments do not fit the tool",
    "TimeoutError": "the tool did not finish in time",
    "NotFound": "what it was asked for is not there, or not theirs",
    "InsideFirst": "the web is asked after the company's own documents",
    "KeptInside": "the question held what was read inside, and did not leave",
    "SearchFailed": "the search of the web did not answer",
    "ToolMistake": "the tool could not do what it was asked for",
    "ServiceUnusable": "the service of the tool did not answer",
    "NeedsApproval": "the person is asked first",
}


def store_call_result(run: Run, called: CallOutcome, *, ms: int) -> None:
    """Add findings and readings to the run; the trace gets ids and counts only."""
    result = called.result
    known = len(run.findings)
    run.add(result.findings)
    if result.found is not None:
        _store_search(run, called)
    if result.sql is not None:
        run.state.tools.sql = result.sql
    if result.web is not None:
        before = run.state.tools.web or WebSummary()
        run.state.tools.web = WebSummary(
            asked=[*before.asked, *result.web.asked], fetched=[*before.fetched, *result.web.fetched]
        )
    if called.tool is not None and called.tool.brings == "inside":
        texts = [f"{finding.item.source.title}\n{finding.item.text}" for finding in result.findings]
        run.inside_texts += [*texts, remove_fences(result.output)]  # the output has truncated passages, and names
    if called.tool and called.tool.node is State.QUERY and not run.state.plan.subtasks:
        form = result.data.get("explore")
        run.state.plan.explore = (
            ExploreForm.model_validate(form) if form and run.state.plan.route is Route.SQL else None
        )
        _store_readings(run, result)
    if called.tool and called.tool.node is State.CALCULATE and result.success:
        run.workings.append(result.output)
        run.expression = str(called.arguments.get("expression", ""))
    skill = result.data.get("skill_name")  # of an existing skill
    err = None
    out: dict[str, object] = {"evidence_added": len(run.findings) - known}
    if called.is_error:
        err = {"type": called.problem, "msg": PROBLEMS.get(called.problem, PROBLEMS["ToolMistake"])}
        run.state.tools.errors.append(ToolProblem(tool=called.name, **err))
    add_trace_step(
        run,
        called.tool.node if called.tool else State.ACT,
        action="call_tool",
        tool=called.name,
        timing_ms=max(ms, 1),
        status="error" if err else "ok",
        in_={"skill": skill} if skill else {},
        out=out | ({"note": UNREAD[called.problem]} if called.problem in UNREAD else {}),
        err=err,
    )


def _store_search(run: Run, called: CallOutcome) -> None:
    """Store the findings of a search, and its query."""
    run.found = called.result.found
    run.state.tools.rag = RagSummary(
        query=" | ".join(called.arguments.get("queries", [])),
        top_k=called.arguments.get("top_k", TOP_K),
        filters=list_search_filters(run),
        returned_evidence_ids=[finding.item.evidence_id for finding in called.result.findings],
    )


def _store_readings(run: Run, result: Result) -> None:
    """Store the readings that the person must choose from, until they answer."""
    plan = run.state.plan
    queries = result.data.get("queries", {})
    plan.clarifying_questions = list(result.data.get("readings", ()))
    plan.clarifying_queries = {text: MeantQuery.model_validate(query) for text, query in queries.items()}


def list_search_filters(run: Run) -> dict[str, list[str]]:
    """Return the filters of a search: ids and names of fields, never their values.

    `scope` names the asker's org units, as in the specification.
    """
    narrowed = {
        "knowledge_base_ids": run.scope.knowledge_base_ids,
        "folder_ids": run.scope.folder_ids,
        "knowledge_ids": run.scope.document_ids,
        "tables": [f"{table.source}.{table.table}" for table in run.tables or ()],
        "fields": [item.field for item in run.scope.metadata],
    }
    scope = {"scope": sorted(run.principal.org_units)} if run.principal.org_units else {}
    return scope | {name: [str(pk) for pk in ids] for name, ids in narrowed.items() if ids}
