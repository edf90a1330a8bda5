"""Write the answer from the evidence alone: by the model, sentence by checked sentence, or out of the documents' own ones."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

from asgiref.sync import sync_to_async
from django.utils import timezone
from django.utils.translation import override

from agent import texts
from agent.attribution.disagreement import tell_disagreements, with_disagreements
from agent.attribution.standing import tell_unapproved, with_approved
from agent.budget import HARD
from agent.cited_answer import CitedAnswer, CitedSentence, Draft
from agent.data_coverage import tell_unread_beside_passages
from agent.events import Answer, Event, References, StopReason
from agent.evidence import cited_query, found_hit, query_reference, reference, result_told, verified_reference
from agent.extractive.candidates import covered, of_the_matter, term_ids
from agent.quotations import answers as extractive
from agent.quotations.cross_lingual import look_across
from agent.revocation import cut_answer, keep_visible
from agent.run import Finding, Goto, Run
from agent.state import State
from agent.states.refuse import askable
from agent.threads import worked
from agent.tools.knowledge_search import TOP_K
from agent.verified_answers.telling import above, referred, told
from agent.workflow import Together, add_trace
from knowledge.embedding.base import Embedder
from knowledge.retrieval.engine import sentence_embedder
from knowledge.retrieval.search import search
from knowledge.retrieval.term_weights import matter_weights

Confirming = Callable[[Run, str, Embedder], Awaitable[tuple[CitedAnswer | None, float]]]
"""The sentences that answer, and how sure that is; None where none is believed."""
TOLD = 1.0  # confidence of a result that is told as it is
SAID_BY_MODEL = 0.9  # for ordering answers alone; by hand
NAMED = 0.5  # share of what a follow-up asks about that an answer says


async def synthesize(run: Run) -> AsyncIterator[Event | Together | Goto]:
    """The answer, or the way to say that the evidence does not confirm the matter."""
    for notice in run.fresh_notices():
        yield notice
    if run.verified is not None and run.verified.verified and run.verified.verified.is_same:
        async for item in _verified(run, run.verified):
            yield item
        return
    results = [finding for finding in run.findings.values() if finding.is_result]
    result = results[0] if results else None
    confirmed = _confirmed if run.is_by_words else _nothing
    async for item in _told(run, result) if result and run.found is None else _quoted(run, result, confirmed):
        yield item


async def _told(run: Run, finding: Finding) -> AsyncIterator[Event | Goto]:
    """The result of a query: its value in one line where it has a table of its own, or as it is; nobody puts it into words."""
    answer = CitedAnswer("database", (_sentence_of(finding, (1,)),), (), (cited_query(1, finding),))
    add_trace(run, State.SYNTHESIZE, action="tell_result")
    run.deliver(answer, TOLD)
    yield _referred(run, answer)
    yield Answer(content=answer.sentences[0].marked, done=True, data={"provider": "database"})
    yield Goto(State.DONE)


async def _verified(run: Run, finding: Finding) -> AsyncIterator[Event | Goto]:
    """An answer that somebody verified, as it is."""
    with override(run.language):
        answer = told(finding)
    add_trace(run, State.SYNTHESIZE, action="tell_verified")
    run.deliver(answer, TOLD)
    yield referred(finding, answer)
    async for event in _sentences(run, answer):
        yield event
    yield Goto(State.DONE)


async def _quoted(run: Run, result: Finding | None, confirmed: Confirming) -> AsyncIterator[Event | Goto]:
    """Sentences of the documents themselves, and after them the result of a query that was asked besides; where none is confirmed,
    the passages that come closest. Where a right ends before the first of them leaves, they are
    chosen again from the rest; where it ends later, those that stood on it are left out.
    """
    if run.found is None:  # a model read documents without searching
        run.found = await worked(search, run.principal, run.asked_of_documents, scope=run.scope, top_k=TOP_K)
    embedder = await sync_to_async(sentence_embedder)()
    is_whole = not run.is_follow_up and run.subtask("knowledge_search") is None
    question = run.read_as or (run.question if is_whole else run.asked_of_documents)
    while True:
        run.is_held_back, run.stop_reason = False, StopReason.OK
        await sync_to_async(keep_visible)(run)
        answer, confidence = await confirmed(run, question, embedder)
        if result is not None:
            is_open = answer is None and run.subtask("knowledge_search") is not None
            answer = _with_result(run, answer, result)
            if is_open and answer is not None:
                answer = await worked(_with_open_half, run, answer, question, embedder)
            confidence = confidence or TOLD
        if answer is None and run.state.plan.clarifying_questions:
            yield Goto(State.CLARIFY)
            return
        if answer is not None:
            answer = await worked(_compared, run, answer)
        if answer is None:
            answer = await worked(_closest, run, question, embedder)
        answer = _below_verified(run, answer)
        if answer is None:
            run.answer, run.state.draft = None, Draft()
            yield Goto(State.REFUSE)
            return
        run.deliver(answer, confidence)
        yield _referred(run, answer)
        if not run.is_held_back:
            break
    async for event in _sentences(run, answer):
        yield event
    for notice in run.fresh_notices():
        yield notice
    yield Goto(State.DONE)


def _below_verified(run: Run, answer: CitedAnswer | None) -> CitedAnswer | None:
    """The answer below a verified one to a question near to it, where there is any."""
    if run.verified is None:
        return answer
    with override(run.language):
        near = told(run.verified)
    return above(near, answer) if answer is not None else near


async def _confirmed(run: Run, question: str, embedder: Embedder) -> tuple[CitedAnswer | None, float]:
    """The sentences that answer, and how sure that is; None where none is believed."""
    assert run.found is not None
    answer, verdict = await worked(extractive.quote, question, run.found, embedder)
    confidence = round(verdict.score, 4)
    add_trace(run, State.SYNTHESIZE, action="quote", out={"confidence": confidence, "doubt": verdict.doubt})
    return (answer, confidence) if answer is not None and _is_about(run, answer) else (None, 0.0)


async def _nothing(_run: Run, _question: str, _embedder: Embedder) -> tuple[CitedAnswer | None, float]:
    return None, 0.0


def _compared(run: Run, answer: CitedAnswer) -> CitedAnswer:
    """The answer beside what else was found: what contradicts it is shown, too, and quoted instead where that alone is approved."""
    assert run.found is not None
    found = [(hit.passage, hit.scores.final) for hit in run.found.hits]
    passages = {passage.chunk_id: passage for passage, _score in found}
    answer = with_approved(with_disagreements(answer, found, today=timezone.localdate()), passages)
    tell_disagreements(run, answer)
    tell_unapproved(run, answer, passages)
    return answer


def _closest(run: Run, question: str, embedder: Embedder) -> CitedAnswer | None:
    """What speaks of the matter without confirming an answer, said to be no more than that; and what the data understood of it."""
    with override(run.language):
        answer = _nearest(run, question, embedder, str(texts.NOT_CONFIRMED))
        answer = _with_unused_results(run, answer)
        if answer is None:
            return None
        run.stop_reason = StopReason.NOT_CONFIRMED
        tell_unread_beside_passages(run)
        if folders := askable(run):
            run.tell(folders)
        if run.spent.stopped_by in HARD:
            run.tell(str(texts.LIMIT_CAME_FIRST))
    add_trace(run, State.SYNTHESIZE, action="quote_closest", out={"note": f"packed={len(answer.citations)}"})
    return answer


def _nearest(run: Run, question: str, embedder: Embedder, lead: str) -> CitedAnswer | None:
    """The passages that come closest, in the other language, too; None where none speaks of the matter."""
    assert run.found is not None
    first, across = run.found, _looked_across(run, question, embedder)
    return extractive.closest_of(question, first, embedder, lead=lead, across=across)


def _with_open_half(run: Run, told: CitedAnswer, question: str, embedder: Embedder) -> CitedAnswer:
    """The result that answers one half of the question, and below it what comes closest to the other, which nothing confirms."""
    with override(run.language):
        near = _nearest(run, question, embedder, str(texts.FIRST_PART_CLOSEST))
        if near is None:
            run.tell(str(texts.FIRST_PART_NOT_CONFIRMED))
            return told
    return _below(told, near, gap="\n")


def _with_unused_results(run: Run, closest: CitedAnswer | None) -> CitedAnswer | None:
    """What comes closest, and the results that a model asked for and did not write from: a table stays, whatever is made of it."""
    results = [finding for finding in run.findings.values() if finding.is_result]
    if not results:
        return closest
    if closest is None:
        lead = CitedSentence(str(texts.RESULT_NOT_CONFIRMED), ())
        closest = CitedAnswer(extractive.NAME, (lead,), (), separator="\n")
    numbered = list(enumerate(results, len(closest.citations) + 1))
    told = tuple(_sentence_of(finding, (number,)) for number, finding in numbered)
    queries = tuple(cited_query(number, finding) for number, finding in numbered)
    return replace(closest, sentences=(*closest.sentences, *told), queries=queries)


def _is_about(run: Run, answer: CitedAnswer) -> bool:
    """Whether the first sentence says, with its headings, what a follow-up names of its own; else it answers the question before."""
    if not run.asks_about or run.found is None or run.found.asked is None:
        return True
    asked = run.found.asked
    own = of_the_matter(run.asks_about, matter_weights(run.asks_about, asked.frequencies, asked.corpus_chunks))
    first = answer.sentences[0]
    headings = {hit.passage.chunk_id: (hit.passage.title, *hit.passage.heading_path) for hit in run.found.hits}
    under = [part for span in answer.citations if span.number in first.citations for part in headings[span.chunk_id]]
    return covered(own, term_ids("\n".join([*under, first.text]))) >= NAMED


def _looked_across(run: Run, question: str, embedder: Embedder) -> CitedAnswer | None:
    """Without a model, what the documents of the other language say of it; the run has read them, then."""
    if run.found is None or not run.is_by_words:
        return None
    query = run.read_as or run.asked_of_documents
    second = look_across(run.principal, question, embedder, first=run.found, query=query, scope=run.scope, top_k=TOP_K)
    if second is None:
        return None
    run.found = second.found
    run.add(found_hit(hit) for hit in second.found.hits)
    confidence = round(second.verdict.score, 4)
    add_trace(run, State.SYNTHESIZE, action="quote_across", out={"confidence": confidence, "doubt": None})
    return second.answer if _is_about(run, second.answer) else None


def _with_result(run: Run, quoted: CitedAnswer | None, result: Finding) -> CitedAnswer | None:
    """The quotations and the result as one answer. A result about what a passage names stands on that passage, too: it goes with it."""
    spans = quoted.citations if quoted else ()
    named_by = [span.number for span in spans if span.chunk_id == run.named_by]
    if run.named_by is not None and not named_by:
        return quoted
    if quoted is None or run.subtask("knowledge_search") is None:
        return _beside(result, quoted)
    number = len(spans) + 1
    told = _sentence_of(result, (*named_by, number))
    return CitedAnswer(quoted.provider, (*quoted.sentences, told), spans, (cited_query(number, result),))


def _beside(result: Finding, quoted: CitedAnswer | None) -> CitedAnswer:
    """The result of a query that read the whole question, and below it what documents say of it, too."""
    told = CitedAnswer("database", (_sentence_of(result, (1,)),), (), (cited_query(1, result),))
    return told if quoted is None else _below(told, quoted)


def _below(told: CitedAnswer, quoted: CitedAnswer, *, gap: str = "") -> CitedAnswer:
    """What is told of one result, and the quotations in a paragraph below it. gap: between these, "" for their own."""
    moved = [
        replace(
            each, citations=tuple(number + 1 for number in each.citations), gap=(gap or each.gap) if place else "\n\n"
        )
        for place, each in enumerate(quoted.sentences)
    ]
    spans = tuple(replace(span, number=span.number + 1) for span in quoted.citations)
    return CitedAnswer(quoted.provider, (*told.sentences, *moved), spans, told.queries)


def _sentence_of(result: Finding, numbers: tuple[int, ...]) -> CitedSentence:
    return CitedSentence(result_told(result), numbers)


def _referred(run: Run, answer: CitedAnswer) -> References:
    passages = {hit.passage.chunk_id: hit.passage for hit in run.found.hits} if run.found else {}
    known = run.verified if answer.verified else None
    if known is not None and known.verified is not None:
        passages |= {each.passage.chunk_id: each.passage for each in known.verified.cited}
    references = [
        reference(span.number, passages[span.chunk_id], span.score, start=span.start, end=span.end)
        for span in answer.citations
    ]
    queries = [query_reference(query.number, run.findings[query.evidence_id]) for query in answer.queries]
    verified = [verified_reference(1, known)] if known else []
    return References(
        knowledge_references=references, query_references=queries, verified_references=verified, done=True
    )


async def _sentences(run: Run, answer: CitedAnswer) -> AsyncIterator[Event]:
    """The answer's sentences one by one, as long as each still stands; last of all an empty one that says it is done."""
    provider: dict[str, Any] = {"provider": answer.provider}
    asked = run.state.plan.clarifying_questions
    gap = ""
    for sentence in answer.sentences:
        while run.answer and sentence in run.answer.sentences:
            yield Answer(content=f"{gap and (sentence.gap or gap)}{sentence.marked}", data=provider)
            if not run.is_held_back:
                gap = answer.separator
                break
            await sync_to_async(cut_answer)(run)
    more = {"readings": asked, "disagreements": answer.disagreements}
    yield Answer(done=True, data=provider | {name: list(value) for name, value in more.items() if value})
    while run.is_held_back:
        await sync_to_async(cut_answer)(run)
        yield Answer(done=True, data=provider)
