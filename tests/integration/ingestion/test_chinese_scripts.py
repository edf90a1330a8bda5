"""Traditional and simplified Chinese find each other; what an older release indexed apart is indexed anew, and only that."""

from io import StringIO

import pytest
from django.core.management import call_command

from authz.principal import Principal
from copilot_site.doctor import index
from knowledge.ingestion.pipeline import ingest
from knowledge.models import Chunk, TermFrequency
from knowledge.retrieval.search import search
from knowledge.services.folders import root_folder
from knowledge.text import terms as term_module
from tests.factories import allow, make_base, make_document, make_user, newest_version, prepare_embedder

pytestmark = pytest.mark.django_db

TRADITIONAL = "# 請假規定\n\n新進員工的試用期為三個月，試用期間不得請特別休假。"
SIMPLIFIED = "# 报销规定\n\n出差的住宿费凭发票报销。"


def reindexed() -> str:
    out = StringIO()
    call_command("reindex", stdout=out)
    return out.getvalue()


def test_a_simplified_question_finds_a_traditional_document_and_is_shown_its_own_characters() -> None:
    prepare_embedder()
    base, reader = make_base(), make_user()
    allow(reader, base)
    for name, text in (("leave.md", TRADITIONAL), ("travel.md", SIMPLIFIED)):
        ingest(newest_version(make_document(root_folder(base), name, text)).pk)
    hit = search(Principal.of(reader), "新进员工的试用期是几个月？").hits[0]
    assert "新進員工的試用期為三個月" in hit.passage.text
    assert (hit.scores.dense_rank, hit.scores.lexical_rank) == (1, 1)


def test_what_was_indexed_with_its_scripts_apart_is_indexed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_embedder()
    base = make_base()
    with monkeypatch.context() as older:
        older.setattr(term_module, "simplified", lambda text: text)
        for name, text in (("leave.md", TRADITIONAL), ("travel.md", SIMPLIFIED)):
            ingest(newest_version(make_document(root_folder(base), name, text)).pk)
        assert "traditional" not in index().detail
    passages = set(Chunk.unscoped.values_list("id", "text"))
    assert "1 published documents are indexed as an older release read traditional" in index().detail
    assert reindexed().startswith("1 documents indexed anew.")
    assert index().ok
    assert reindexed().startswith("2 documents, 0 passages indexed.")
    assert set(Chunk.unscoped.values_list("id", "text")) == passages
    counts = dict(TermFrequency.unscoped.filter(chunks__gt=0).values_list("term_id", "chunks"))
    assert counts[term_module.term_id("员工")] == 1
    assert term_module.term_id("員工") not in counts
