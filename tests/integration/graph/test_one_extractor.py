"""One extractor reads passages for the graph, by form alone; what a model had read goes with the migration."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from knowledge.graph.building import MAX_DEFER, fill_base_graph
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import DocumentVersion, GraphMode, GraphReading, KnowledgeBase
from knowledge.tasks import fill_graph
from tests.factories import make_base, make_document

TEXT = "# Harbour\n\nThe crane Atlas stands at the north quay.\n\n“Quay” means where ships lie.\n"


@pytest.mark.django_db
def test_a_document_that_cannot_be_read_waits_for_somebody_and_keeps_no_other(monkeypatch: Any) -> None:
    base = make_base()
    make_document(base, "harbour.md", TEXT, ingested=True)

    def broken(*_given: Any, **_more: Any) -> None:
        raise ValueError("no such form")

    monkeypatch.setattr("knowledge.graph.building.extract_statements", broken)
    fill_base_graph(base.pk)
    assert GraphReading.objects.get(document__knowledge_base=base).problem == "unexpected: ValueError"
    assert fill_base_graph(base.pk) == 0, "it is not read again and again"


@pytest.mark.django_db(transaction=True)
def test_what_a_model_had_read_is_forgotten_and_its_documents_are_read_again() -> None:
    base = make_base()
    document = make_document(base, "harbour.md", TEXT, ingested=True)
    fill_base_graph(base.pk)
    before, after = ("knowledge", "0002_blocks_and_losses"), ("knowledge", "0003_graph_by_form_alone")
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate([before])
    try:
        old = executor.loader.project_state([before]).apps
        mentions = old.get_model("knowledge", "GraphMention")._base_manager
        mention = mentions.filter(document_id=document.pk, said="Quay").get()
        mentions.filter(pk=mention.pk).update(is_by_model=True)
        old.get_model("knowledge", "KnowledgeBase")._base_manager.filter(pk=base.pk).update(graph="model")
        executor = MigrationExecutor(connection)
        executor.migrate([after])
        new = executor.loader.project_state([after]).apps
        assert not new.get_model("knowledge", "GraphMention")._base_manager.filter(pk=mention.pk).exists()
        assert not new.get_model("knowledge", "GraphReading").objects.filter(document_id=document.pk).exists()
        assert new.get_model("knowledge", "KnowledgeBase")._base_manager.get(pk=base.pk).graph == "certain"
    finally:
        MigrationExecutor(connection).migrate(latest)
    assert fill_base_graph(base.pk) == 1


@pytest.mark.django_db
def test_a_graph_waits_for_the_imports_of_its_base_but_not_for_ever() -> None:
    base, other = make_base("imported"), make_base("other")
    read = make_document(base, "harbour.md", TEXT, ingested=True)
    waiting = make_document(base, "quay.md", "Ships lie at the quay.\n")
    make_document(other, "elsewhere.md", "Nothing waits here for this base.\n")
    readings = GraphReading.objects.filter(document__knowledge_base=base)

    fill_graph(str(base.pk))
    assert not readings.exists()
    version = read.current_version
    assert version is not None
    assert version.published_at is not None
    DocumentVersion.unscoped.filter(pk=version.pk).update(published_at=version.published_at - MAX_DEFER)
    fill_graph(str(base.pk))
    assert [row.document_id for row in readings.all()] == [read.pk], (
        "one that waited long enough is read beside imports"
    )

    run_ingestion(waiting.versions.get().pk)
    fill_graph(str(base.pk))
    assert {row.document_id for row in readings.all()} == {read.pk, waiting.pk}


@pytest.mark.django_db
def test_a_graph_that_is_switched_off_goes_while_documents_are_imported() -> None:
    base = make_base()
    make_document(base, "harbour.md", TEXT, ingested=True)
    fill_base_graph(base.pk)
    make_document(base, "quay.md", "Ships lie at the quay.\n")
    KnowledgeBase.unscoped.filter(pk=base.pk).update(graph=GraphMode.OFF)
    fill_graph(str(base.pk))
    assert not GraphReading.objects.filter(document__knowledge_base=base).exists()
