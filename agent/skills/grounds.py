"""The sources of a script's output: all of its input. Without the right to all of it nobody sees the output."""

import json
from collections.abc import Collection, Iterable, Sequence

from agent.evidence.document_facts import make_documents_source
from agent.evidence.items import hash_text
from agent.run_state.run import Finding
from agent.run_state.state import EvidenceItem, EvidenceSource, Turn
from authz.principal import Principal
from business.results.shown_query import QueryShown, ResultMeaning, TableReach
from business.results.visibility import Queried, visible_queries
from copilot_site.lib.errors import NotFound
from knowledge.models import Document
from knowledge.selectors import list_visible_passages

SOURCE = "skill output"  # never a data source's name: those have no spaces
HEADLINE = 1_200  # characters, when shown without a model


def list_grounds(findings: Iterable[Finding], documents: Collection[Document]) -> list[Queried]:
    """Return the sources of these, each once."""
    pages = [document.pk for document in documents]
    found = []
    for finding in findings:
        if finding.queried is not None:  # of data, or of a verified answer
            found.append(finding.queried)
        elif finding.passage is not None:
            pages.append(finding.passage.document_id)
    found += [make_documents_source([pk]) for pk in dict.fromkeys(pages)]
    return list(dict.fromkeys(found))


def list_run_grounds(principal: Principal, findings: Iterable[Finding], history: Iterable[Turn]) -> list[Queried]:
    """Return the sources of everything that the run's model has read. Raises NotFound where one is no longer readable."""
    turns = list(history)
    ids = {pk for turn in turns for pk in turn.stands_on}
    read = list_visible_passages(principal, ids)
    if {passage.chunk_id for passage in read} != ids:
        raise NotFound("Something that was said before may not be read any more.")
    found = list_grounds(findings, ())
    found += [make_documents_source([pk]) for pk in dict.fromkeys(passage.document_id for passage in read)]
    found += [queried for turn in turns for queried in turn.queried]
    return list(dict.fromkeys(found))


def are_grounds_visible(principal: Principal, grounds: Collection[Queried]) -> bool:
    return visible_queries(principal, grounds) >= set(grounds)


def build_output_finding(name: str, output: str, grounds: Sequence[Queried]) -> Finding:
    """Return a script's output as evidence with the sources of its input. name: of the script, for people."""
    reach = tuple(TableReach(table=entry.key, columns=()) for entry in grounds)
    digest = hash_text(json.dumps([name, output]))
    query = QueryShown(
        query_id=f"s_{digest[:12]}",
        question="",
        statement="",
        sql="",
        sha256=hash_text(output),
        reach=reach,
        meaning=ResultMeaning(headline=output[:HEADLINE]),
    )
    item = EvidenceItem(
        evidence_id=query.evidence_id,
        type="sql_result",
        text=output,
        score=1.0,
        source=EvidenceSource(title=name, db=SOURCE, query_id=query.query_id),
        by="sql",
        hash=hash_text(output),
    )
    return Finding(item, query=query)


def select_visible_outputs(principal: Principal, queried: Collection[Queried]) -> set[Queried]:
    """Return the outputs whose sources are all visible to this person now."""
    parts = {
        one: {_parse_ground(reach) for reach in one.reach} for one in queried if one.source == SOURCE and one.reach
    }
    visible = visible_queries(principal, {ground for grounds in parts.values() for ground in grounds})
    return {one for one, grounds in parts.items() if grounds <= visible}


def _parse_ground(reach: TableReach) -> Queried:
    return Queried.model_validate_json(reach.table)
