"""What a person sees of a graph is what a graph of the documents that they may read would show: names, kinds, relations, passages and
scores. Whatever else the base holds neither shows, nor leads anywhere, nor counts; and what is taken back is gone at once.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights, revoke_rights
from knowledge.graph import traversal
from knowledge.graph.building import fill_base_graph
from knowledge.graph.traversal import WalkLimits, traverse_from_question
from knowledge.models import Chunk, Document, KnowledgeBase
from knowledge.retrieval.search import Scope
from tests.factories import make_base, make_document, make_folder, make_user

pytestmark = pytest.mark.django_db

LINES = (
    "| Service | Team |\n|---|---|\n| track-api | Team Falcon |\n| billing-api | Team Heron |",
    "| Team name | Lead |\n|---|---|\n| Team Falcon | Sun Rui |\n| Team Heron | Ada Berg |",
    "“Error budget” means the share of requests that may fail.",
    "The service level objective (SLO) of track-api is 99.9 %.",
    "An SLO that is missed twice uses up the error budget.",
    "Runbook KG-400 belongs to Team Falcon, as “Fifth file” says.",
    "Sun Rui wrote that billing-api waits for KG-400.",
    "Nothing of note happened.",
)
TITLES = ("First file", "Second file", "Third file", "Fourth file", "Fifth file")
QUESTIONS = (
    "Who leads the team of track-api?",
    "What does KG-400 have to do with the error budget and Fifth file?",
    "SLO",
)

files = st.lists(st.sets(st.integers(0, len(LINES) - 1), min_size=1, max_size=4), min_size=3, max_size=len(TITLES))


def write(folder: Any, number: int, lines: set[int]) -> Document:
    text = "\n\n".join(LINES[line] for line in sorted(lines))
    return make_document(folder, f"file-{number}.md", f"# {TITLES[number]}\n\n{text}\n", ingested=True)


def seen(principal: Principal, base: KnowledgeBase, question: str) -> tuple[object, object, object]:
    """Everything that comes back, without ids."""
    found = traverse_from_question(
        principal, question, Scope(knowledge_base_ids=(base.pk,)), reach=WalkLimits(3, 500, 500)
    )
    name = {entity.id: entity.name for entity in found.entities}
    text = dict(Chunk.unscoped.values_list("id", "text"))
    return (
        {(item.name, item.kind, item.hops, item.passages) for item in found.entities},
        {
            (name[relation.subject_id], relation.kind, name[relation.object_id], len(relation.chunk_ids))
            for relation in found.relations
        },
        {text[pk] for pk, _score in found.passages},
    )


@pytest.mark.parametrize("examples", [pytest.param(2, id="few"), pytest.param(10, id="many")])
def test_what_is_seen_is_what_a_graph_of_ones_own_documents_shows(
    examples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It walks farther than any question, maybe on a busy machine.
    monkeypatch.setattr(traversal, "STATEMENT_MS", 60_000)
    booleans = st.lists(st.booleans(), min_size=len(TITLES), max_size=len(TITLES))
    checked = given(contents=files, shown=booleans)(compare)
    quiet = list(HealthCheck)
    settings(max_examples=examples, derandomize=True, database=None, suppress_health_check=quiet)(checked)()


def compare(contents: list[set[int]], shown: list[bool]) -> None:
    whole, own = make_base(), make_base()
    mine, others = make_folder(whole, "mine"), make_folder(whole, "others")
    for number, lines in enumerate(contents):
        write(mine if shown[number] else others, number, lines)
        if shown[number]:
            write(own, number, lines)
    fill_base_graph(whole.pk)
    fill_base_graph(own.pk)
    user = make_user()
    principal = Principal.of(user)
    grant_rights(None, [Right.VIEW], mine, to=user)
    grant_rights(None, [Right.VIEW], own, to=user)
    for question in QUESTIONS:
        assert seen(principal, whole, question) == seen(principal, own, question)
    revoke_rights(None, [Right.VIEW], mine, of=user)
    assert all(seen(principal, whole, question) == (set(), set(), set()) for question in QUESTIONS)
