"""How many statements a request costs: the same for one row and for many, and the number a person has agreed to."""

import json
from collections.abc import Callable

from django.db import connection
from django.test.utils import CaptureQueriesContext

from agent.conversations.sessions import create_session
from authz.principal import Principal
from authz.tokens.api_tokens import issue_token
from tests.factories import allow, make_base, make_document, make_folder
from tests.goldens import assert_golden
from tests.integration.rest.world import World


def statements(world: World, path: str) -> int:
    client = world.client("all")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


def more_bases(world: World) -> None:
    for _number in range(3):
        allow(world.people["all"], make_base())


def more_documents(world: World) -> None:
    for _number in range(3):
        make_document(make_folder(world.folder))
        make_document(world.folder)


def more_versions(world: World) -> None:
    for number in range(3):
        make_document(world.folder, world.document.filename, f"# Version {number}\n\nText.")


def more_of_ones_own(world: World) -> None:
    owner = Principal.of(world.people["all"])
    for _number in range(3):
        create_session(owner)
        issue_token(owner, name="another", days=1)


LISTS: list[tuple[str, Callable[[World], None]]] = [
    ("knowledge-bases", more_bases),
    ("folders", more_documents),
    ("documents", more_documents),
    ("documents/{document}/versions", more_versions),
    ("documents/{document}/status", more_versions),
    ("documents/{document}", more_versions),
    ("sessions", more_of_ones_own),
    ("tokens", more_of_ones_own),
]


def test_more_rows_cost_no_more_statements(world: World) -> None:
    counts = {}
    for route, add in LISTS:
        path = f"/api/v1/{route.format(document=world.document.pk)}"
        few = statements(world, path)
        add(world)
        assert statements(world, path) == few, route
        counts[route] = few
    assert_golden("query_counts_rest.json", json.dumps(counts, indent=1) + "\n")


def test_passages_and_messages_cost_no_more_with_more_rows(world: World) -> None:
    long = "\n\n".join(
        f"## Part {number}\n\n" + "A rule that is long enough to stand alone. " * 30 for number in range(6)
    )
    document = make_document(world.folder, "long.md", long, ingested=True)
    client, counts = world.client("all"), {}
    path = f"/api/v1/documents/{document.pk}/chunks"
    assert client.get(path).json()["count"] > 2
    counts["documents/{document}/chunks"] = statements(world, path)
    assert statements(world, f"{path}?limit=1") == counts["documents/{document}/chunks"]
    path = f"/api/v1/sessions/{world.session.pk}/messages"
    client.post(path, {"query": "What is a rule?"}, format="json")
    counts["sessions/{session}/messages"] = statements(world, path)
    for _number in range(2):
        client.post(path, {"query": "What is a rule?"}, format="json")
    assert statements(world, path) == counts["sessions/{session}/messages"]
    assert_golden("query_counts_rest_text.json", json.dumps(counts, indent=1) + "\n")
