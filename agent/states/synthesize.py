"""Show what was found, verbatim: the results of queries, and the closest passages, without a verdict."""

from collections.abc import AsyncIterator
from typing import Any

from asgiref.sync import sync_to_async
from django.utils import timezone
from django.utils.translation import override

from agent import texts
from agent.attribution.disagreement import add_disagreement_notices, add_disagreements
from agent.attribution.standing import add_unapproved_notice, prefer_approved_sources
from agent.budget import HARD
from agent.data_coverage import offer_form
from agent.events import Answer, Event, References, StopReason
from agent.evidence.items import make_hit_finding, make_passage_reference, make_query_reference, make_verified_reference
from agent.passages.answer import (
    Headings,
    append_further_passages,
    build_passages_answer,
    build_results_answer,
    join_passages_and_results,
)
from agent.passages.best import Best, select_best_passages
from agent.revocation import cut_unreadable_quotations, remove_unreadable_evidence
from agent.run_state.cited_answer import CitedAnswer, Draft
from agent.run_state.run import Finding, Goto, Run
from agent.run_state.state import State
from agent.run_state.threads import run_cpu_bound_call
from agent.states.refuse import offer_folders
from agent.tools.knowledge_search import TOP_K
from agent.verified_answers.telling import build_verified_answer, prepend_verified_answer
from agent.workflow import Together, add_trace_step
from knowledge.retrieval.engine import load_sentence_embedder
from knowledge.retrieval.search import search

TOLD = 1.0  # confidence of a result shown verbatim
UNVERIFIED = 0.2  # … of passages: low, so that programs can tell


async def synthesize(run: Run) -> AsyncIterator[Event | Together | Goto]:
    """Show the answer, or go to the refusal."""
    for notice in run.fresh_notices():
        yield notice
    verified = run.verified
    is_same = verified is not None and verified.verified is not None and verified.verified.is_same
    async for item in _show_verified_answer(run, verified) if verified and is_same else _show_findings(run):
        yield item


async def _show_verified_answer(run: Run, finding: Finding) -> AsyncIterator[Event | Together | Goto]:
    """Show a verified answer as it is."""
    with override(run.language):
        answer = build_verified_answer(finding)
    add_trace_step(run, State.SYNTHESIZE, action="tell_verified")
    run.deliver(answer, TOLD)
    yield _make_references(run, answer)
    async for item in _yield_readable_sentences(run, answer):
        yield item
    yield Goto(State.DONE)


async def _show_findings(run: Run) -> AsyncIterator[Event | Together | Goto]:
    """Show results and passages.

    Where a right ends before the first is sent, they are chosen again from the rest; later, the affected ones are left
    out.
    """
    is_search_due = not any(finding.is_result for finding in run.findings.values())
    if run.found is None and is_search_due:  # a model read documents without searching
        run.found = await run_cpu_bound_call(
            search, run.principal, run.asked_of_documents, scope=run.scope, top_k=TOP_K
        )
        run.add(make_hit_finding(hit) for hit in run.found.hits)
    while True:
        run.stop_reason = StopReason.OK
        await sync_to_async(remove_unreadable_evidence)(run)
        answer = _add_verified_above(run, await run_cpu_bound_call(_build_answer, run))
        if answer is None:
            run.answer, run.state.draft = None, Draft()
            yield Goto(State.CLARIFY if run.state.plan.clarifying_questions else State.REFUSE)
            return
        run.deliver(answer, UNVERIFIED if answer.kind else TOLD)
        yield _make_references(run, answer)
        if not run.held_back:
            break
    async for item in _yield_readable_sentences(run, answer):
        yield item
    for notice in run.fresh_notices():
        yield notice
    yield Goto(State.DONE)


def _add_verified_above(run: Run, answer: CitedAnswer | None) -> CitedAnswer | None:
    """Put the answer below a verified one to a similar question, where there is one."""
    if run.verified is None:
        return answer
    with override(run.language):
        near = build_verified_answer(run.verified)
    return prepend_verified_answer(near, answer) if answer is not None else near


def _build_answer(run: Run) -> CitedAnswer | None:
    """Return the run's results, and the best passages where documents were searched; None where there is neither."""
    results = [finding for finding in run.findings.values() if finding.is_result]
    is_both = run.subtask("database_query") is not None
    passages = None if results and run.is_by_words and not is_both else _build_passages_part(run)
    named = [span.number for span in passages.citations if span.chunk_id == run.named_by] if passages else []
    if run.named_by is not None and not named:
        results = []  # a result about what a passage names goes with it
    taken = max((span.number for span in passages.citations), default=0) if passages else 0
    data = build_results_answer(results, first=taken + 1, names=named) if results else None
    with override(run.language):
        return join_passages_and_results(passages, data, _make_headings(run, is_both=is_both))


def _make_headings(run: Run, *, is_both: bool) -> Headings:
    lead = str(texts.BEST_MATCH if run.is_by_words else texts.NO_ANSWER_IN_WHAT_WAS_READ)
    nothing = str(texts.NOTHING_IN_DOCUMENTS) if is_both else ""
    documents = str(texts.FROM_DOCUMENTS) if is_both else ""
    return Headings(lead, documents=documents, data=str(texts.FROM_DATA), nothing=nothing)


def _build_passages_part(run: Run) -> CitedAnswer | None:
    """Return the best passage, those that contradict it, and further ones; None where none is relevant."""
    if run.found is None:
        return None
    question = run.read_as or run.asked_of_documents
    best = select_best_passages(question, run.found, load_sentence_embedder(), any_word=run.searched_cited)
    add_trace_step(run, State.SYNTHESIZE, action="show_passages", out={"note": f"packed={len(best)}"})
    if not best:
        return None
    with override(run.language):
        offer_form(run)
        if folders := offer_folders(run):
            run.tell(folders)
        if run.spent.stopped_by in HARD:
            run.tell(str(texts.LIMIT_CAME_FIRST))
    return append_further_passages(_cite_with_contradictions(run, best[0]), best[1:])


def _cite_with_contradictions(run: Run, best: Best) -> CitedAnswer:
    """Return the best passage with those that contradict it.

    An approved contradicting one replaces an unapproved best one.
    """
    assert run.found is not None
    found = [(hit.passage, hit.scores.final) for hit in run.found.hits]
    passages = {passage.chunk_id: passage for passage, _score in found}
    answer = prefer_approved_sources(
        add_disagreements(build_passages_answer([best]), found, today=timezone.localdate()), passages
    )
    add_disagreement_notices(run, answer)
    add_unapproved_notice(run, answer, passages)
    return answer


def _make_references(run: Run, answer: CitedAnswer) -> References:
    passages = {hit.passage.chunk_id: hit.passage for hit in run.found.hits} if run.found else {}
    known = run.verified if answer.verified else None
    if known is not None and known.verified is not None:
        passages |= {entry.passage.chunk_id: entry.passage for entry in known.verified.cited}
    references = [
        make_passage_reference(span.number, passages[span.chunk_id], span.score, start=span.start, end=span.end)
        for span in answer.citations
    ]
    queries = [make_query_reference(query.number, run.findings[query.evidence_id]) for query in answer.queries]
    verified = [make_verified_reference(1, known)] if known else []
    return References(
        knowledge_references=references, query_references=queries, verified_references=verified, done=True
    )


async def _yield_readable_sentences(run: Run, answer: CitedAnswer) -> AsyncIterator[Together]:
    """Yield the sentences and an empty event that closes the answer, together; where some became unreadable, the rest again."""
    facts: dict[str, Any] = {"provider": answer.provider} | ({"kind": answer.kind} if answer.kind else {})
    closing = facts | ({"confidence": run.state.draft.confidence} if answer.kind else {})
    more = {"readings": run.state.plan.clarifying_questions, "disagreements": answer.disagreements}
    last = Answer(done=True, data=closing | {name: list(value) for name, value in more.items() if value})
    due, is_first = list(enumerate(answer.sentences)), True
    while True:
        events: list[Event] = []
        due = [(slot, sentence) for slot, sentence in due if run.answer and sentence in run.answer.sentences]
        for slot, sentence in due:
            gap = sentence.gap or " " if events or not is_first else ""
            events.append(Answer(content=f"{gap}{sentence.marked}", data=facts | {"slot": slot}))
        yield (*events, last)
        if not run.held_back:
            return
        sent = len(events) + 1 - len(run.held_back)
        due, is_first, last = due[sent:], is_first and not sent, Answer(done=True, data=closing)
        await sync_to_async(cut_unreadable_quotations)(run)
