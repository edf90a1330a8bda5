"""Re-indexing cuts passages again where their size has changed."""

from io import StringIO
from uuid import UUID

import pytest
from django.core.management import call_command
from django.test import override_settings

from authz.principal import Principal
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import Chunk, DocumentVersion, ParseStatus
from knowledge.retrieval.search import search
from knowledge.services.folders import find_root_folder
from tests.factories import allow, make_base, make_document, make_user, newest_version, prepare_embedder

pytestmark = pytest.mark.django_db
TEXT = "# Rules\n\nLeave is thirty days a year.\n\n" + "\n\n".join(
    f"Rule {n} says that rooms close at {n}." for n in range(60)
)
SMALL = {"CHUNK_TOKENS": 60, "CHUNK_MAX_TOKENS": 90}


def passages(version: DocumentVersion) -> dict[UUID, int]:
    return dict(Chunk.unscoped.filter(version=version, is_retired=False).values_list("id", "length_tokens"))


def reindexed() -> str:
    out = StringIO()
    call_command("reindex", "--chunks", stdout=out)
    return out.getvalue()


@pytest.fixture
def version() -> DocumentVersion:
    prepare_embedder()
    version = newest_version(make_document(find_root_folder(make_base()), "rules.md", TEXT))
    run_ingestion(version.pk)
    return version


def test_a_smaller_size_cuts_smaller_passages_of_what_is_there(version: DocumentVersion) -> None:
    reader = make_user()
    allow(reader, version.document.knowledge_base)
    before = passages(version)
    assert reindexed().startswith("0 documents cut anew.")
    assert passages(version) == before
    with override_settings(**SMALL):
        assert reindexed().startswith("1 documents cut anew.")
        assert reindexed().startswith("0 documents cut anew.")
        after = passages(version)
    assert max(after.values()) <= SMALL["CHUNK_MAX_TOKENS"] < max(before.values())
    assert len(after) > len(before)
    version.refresh_from_db()
    assert version.parse_status == ParseStatus.COMPLETED
    found = search(Principal.of(reader), "How many days is leave?").hits
    assert {hit.passage.chunk_id for hit in found} <= set(after)
    assert "thirty days" in found[0].passage.text
