"""Traditional and simplified Chinese find each other."""

import pytest

from authz.principal import Principal
from knowledge.ingestion.pipeline import ingest
from knowledge.retrieval.search import search
from knowledge.services.folders import root_folder
from tests.factories import allow, make_base, make_document, make_user, newest_version, prepare_embedder

pytestmark = pytest.mark.django_db

TRADITIONAL = "# 請假規定\n\n新進員工的試用期為三個月，試用期間不得請特別休假。"
SIMPLIFIED = "# 报销规定\n\n出差的住宿费凭发票报销。"


def test_a_simplified_question_finds_a_traditional_document_and_is_shown_its_own_characters() -> None:
    prepare_embedder()
    base, reader = make_base(), make_user()
    allow(reader, base)
    for name, text in (("leave.md", TRADITIONAL), ("travel.md", SIMPLIFIED)):
        ingest(newest_version(make_document(root_folder(base), name, text)).pk)
    hit = search(Principal.of(reader), "新进员工的试用期是几个月？").hits[0]
    assert "新進員工的試用期為三個月" in hit.passage.text
    assert (hit.scores.dense_rank, hit.scores.lexical_rank) == (1, 1)
