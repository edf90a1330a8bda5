"""A verified answer shown without a model: verbatim, with its author and its sources."""

from dataclasses import replace

from agent.evidence.items import cite_passage, cite_verified_answer
from agent.run_state.cited_answer import CitedAnswer, CitedSentence
from agent.run_state.run import Finding
from agent.run_state.verified_match import PROVIDER


def build_verified_answer(finding: Finding) -> CitedAnswer:
    """Return who verified it, then its text; each part cites the answer and all of its sources."""
    match = finding.verified
    assert match is not None
    spans = tuple(
        cite_passage(number, item.passage, 1.0, start=item.start, end=item.end)
        for number, item in enumerate(match.cited, 2)
    )
    numbers = (1, *(span.number for span in spans))
    parts = [part.strip() for part in match.text.split("\n\n") if part.strip()]
    sentences = [CitedSentence(part, numbers, gap="\n\n") for part in parts]
    lead = CitedSentence(match.heading, (1,))
    return CitedAnswer(PROVIDER, (lead, *sentences), spans, verified=(cite_verified_answer(1, finding),))


def prepend_verified_answer(first: CitedAnswer, rest: CitedAnswer) -> CitedAnswer:
    """Return the answer with search results below it; their numbers continue."""
    last = max([citation.number for citation in first.citations] + [item.number for item in first.verified])
    moved = [
        replace(one, citations=tuple(number + last for number in one.citations), gap=one.gap if place else "\n\n")
        for place, one in enumerate(rest.sentences)
    ]
    return replace(
        rest,
        sentences=(*first.sentences, *moved),
        citations=(*first.citations, *(replace(one, number=one.number + last) for one in rest.citations)),
        queries=tuple(replace(query, number=query.number + last) for query in rest.queries),
        verified=first.verified,
        disagreements=tuple((one + last, other + last) for one, other in rest.disagreements),
    )
