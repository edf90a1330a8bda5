"""Text that people cannot see in the original: on the document's page, and nowhere else, unless its base wants it."""

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.doctor import check_readings
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import Chunk, ChunkIndex, Document, DocumentVersion, Folder, KnowledgeBase
from knowledge.parsers.base import PARSER_VERSION
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.sandbox import parse_in_child
from knowledge.retrieval.search import search
from knowledge.services.reindex import begin_rereading, list_outdated_versions
from knowledge.tasks import reread_base
from tests.factories import allow, make_base, make_document, make_user, newest_version
from tests.hidden_texts import Sample, samples
from tests.integration.agent.conversations import asked, words
from tests.integration.agent.modelled import modelled, sent
from tests.integration.pages.house import client_of
from tests.modelserver import calls, says
from tests.tooling import called

pytestmark = pytest.mark.django_db

KINDS = ("html_font_size", "md_span", "docx_vanish", "xlsx_hidden_row", "pptx_hidden_slide", "pdf_white_ink")
SAMPLES = [item for item in samples() if item.kind in KINDS]
HTML = next(item for item in SAMPLES if item.kind == "html_font_size" and item.language == "en")
ABOUT = {"en": "Do trips to Zanzibar need approval?", "zh": "桑给巴尔的差旅需要审批吗？"}
GIVEN_AWAY = ("Zanzibar trips", "桑给巴尔的差旅无需")

every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=[f"{item.kind}-{item.language}" for item in SAMPLES])


@pytest.fixture
def base() -> KnowledgeBase:
    return make_base("Trips")


@pytest.fixture
def reader(base: KnowledgeBase) -> User:
    reader = make_user()
    allow(reader, base)
    return reader


def with_everything(*args: Any, **kwargs: Any) -> ParsedDocument:
    """A parser that keeps nothing apart."""
    return parse_in_child(*args, **kwargs).with_hidden()


def answering(document: Document) -> DocumentVersion | None:
    document.refresh_from_db()
    return document.current_version


def is_clean(text: str) -> bool:
    return not any(words in text for words in GIVEN_AWAY)


def ways_out(reader: User, document: Document, sample: Sample) -> dict[str, str]:
    """Everything that could give the sentence away, less the page of the document."""
    pk = str(document.pk)
    question = ABOUT[sample.language]
    read: dict[str, dict[str, Any]] = {
        "knowledge_search": {"queries": [question, "no approval Zanzibar 无需审批"]},  # queries are said back
        "grep_chunks": {"patterns": ["Zanzibar", "桑给巴尔", "approv", "审批"]},
        "list_knowledge_chunks": {"knowledge_id": pk},
        "get_document_info": {"knowledge_ids": [pk]},
        "data_schema": {"knowledge_ids": [pk]},
        "data_analysis": {"knowledge_ids": [pk], "sql": "SELECT * FROM t1"},
    }
    client = client_of(reader)
    hits = search(Principal.of(reader), sample.unseen).hits
    return {
        **{
            name: json.dumps(vars(called(reader, name, said)), default=str, ensure_ascii=False)
            for name, said in read.items()
        },
        "search": " ".join(hit.passage.text for hit in hits),
        "api": client.get(f"/api/v1/documents/{pk}/chunks").content.decode(),
        "api_document": client.get(f"/api/v1/documents/{pk}").content.decode(),
        "rows": " ".join(Chunk.unscoped.values_list("text", flat=True)) + document.title,
        "answer": words(asked(reader, question)),
    }


@every_sample
def test_it_is_on_the_page_and_nowhere_else(base: KnowledgeBase, reader: User, sample: Sample) -> None:
    document = make_document(base, sample.filename, sample.content, ingested=True)
    assert newest_version(document).hidden_apart >= 1
    assert {name for name, text in ways_out(reader, document, sample).items() if not is_clean(text)} == set()
    hits = search(Principal.of(reader), sample.seen).hits
    assert any(sample.seen in hit.passage.text for hit in hits), "what stands beside it is found"
    for language, said in (("en", "Not visible in the original"), ("zh-hans", "原件中不可见")):
        client = client_of(reader)
        page = client.get(
            reverse("document", args=[document.pk]), headers={"accept-language": language}
        ).content.decode()
        kept, text = page.partition('<details class="as-text kept-apart">')[::2]
        assert is_clean(kept)
        assert said in text
        assert sample.unseen in text


def test_no_model_is_told(base: KnowledgeBase, reader: User) -> None:
    make_document(base, HTML.filename, HTML.content, ingested=True)
    steps = [
        calls(("knowledge_search", {"queries": ["Zanzibar trips", "trips approval"]})),
        says("Every trip to Lisbon is approved by the harbour master [1]."),
    ]
    with modelled(*steps) as server:
        answer = words(asked(reader, "Who approves the trips?"))
    told = "\n".join(sent(request) for request in server.requests)
    assert "harbour master" in told
    assert is_clean(told)
    assert "harbour master" in answer


def test_what_these_tests_would_see_without_the_detector(
    base: KnowledgeBase, reader: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.ingestion.stages.parse_in_child", with_everything)
    document = make_document(base, HTML.filename, HTML.content, ingested=True)
    given_away = {name for name, text in ways_out(reader, document, HTML).items() if not is_clean(text)}
    assert {"knowledge_search", "grep_chunks", "list_knowledge_chunks", "search", "api", "rows"} <= given_away


# --- the setting of a base -------------------------------------------------------------------------------------------


def change(person: User, base: KnowledgeBase, *, is_on: bool) -> int:
    """Through the page of the administration; returns its status."""
    form = {"name": base.name, "description": "", "org_unit": "", "recognition": base.recognition} | (
        {"is_hidden_text_indexed": "on"} if is_on else {}
    )
    return client_of(person).post(reverse("admin:knowledge_knowledgebase_change", args=[base.pk]), form).status_code


def counts(base: KnowledgeBase) -> tuple[int, int]:
    """Passages that the folder says it has, and that there are."""
    folder = Folder.unscoped.get(knowledge_base=base, parent=None)
    return folder.chunk_count, ChunkIndex.unscoped.filter(knowledge_base=base, live=True).values(
        "chunk_id"
    ).distinct().count()


def read_again(document: Document) -> Document:
    """What a worker does with what the change queued."""
    reread_base(str(document.knowledge_base_id))
    run_ingestion(newest_version(document).pk)
    document.refresh_from_db()
    return document


@pytest.fixture
def manager(base: KnowledgeBase) -> User:
    manager = make_user()
    manager.is_staff = True
    manager.save()
    allow(manager, base, Right.MANAGE)
    return manager


def test_a_base_can_want_it_and_stop_wanting_it(base: KnowledgeBase, reader: User, manager: User) -> None:
    document = make_document(base, HTML.filename, HTML.content, ingested=True)

    assert change(manager, base, is_on=True) == 302
    entry = Entry.objects.filter(action=Action.KNOWLEDGE_BASE_CHANGED).latest("at")
    assert (entry.detail["is_hidden_text_indexed"], entry.actor_id) == (True, manager.pk)
    document = read_again(document)
    assert document.current_version == newest_version(document)
    hits = search(Principal.of(reader), HTML.unseen).hits
    assert any(HTML.unseen in hit.passage.text for hit in hits)
    page = client_of(reader).get(reverse("document", args=[document.pk])).content.decode()
    assert (
        '<div class="not-visible"><p class="not-visible-why" lang="en">Not visible in the original. It is too small'
        in page
    )
    assert counts(base)[0] == counts(base)[1] > 0

    assert change(manager, base, is_on=False) == 302
    document = read_again(document)
    assert {name for name, text in ways_out(reader, document, HTML).items() if not is_clean(text)} == set()
    assert counts(base)[0] == counts(base)[1] > 0
    assert list_outdated_versions().count() == 0


def test_who_does_not_manage_a_base_does_not_set_it(base: KnowledgeBase, reader: User) -> None:
    reader.is_staff = True
    reader.save()
    assert change(reader, base, is_on=True) in {302, 403}
    base.refresh_from_db()
    assert base.is_hidden_text_indexed is False


# --- what was read before --------------------------------------------------------------------------------------------


def of_an_older_parser(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> Document:
    """A document as versions of the product read it that kept nothing apart."""
    with monkeypatch.context() as patched:
        patched.setattr("knowledge.ingestion.stages.parse_in_child", with_everything)
        document = make_document(base, HTML.filename, HTML.content, ingested=True)
    DocumentVersion.unscoped.filter(document=document).update(parser_version=0, hidden_apart=0, hidden_indexed=0)
    return document


def test_documents_of_older_parsers_are_counted_and_read_again(
    base: KnowledgeBase, reader: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = of_an_older_parser(base, monkeypatch)
    other = make_document(base, "b.md", "# Other\n\nNothing else.\n", ingested=True)
    ids = set(Chunk.unscoped.filter(document=other).values_list("id", flat=True))
    assert not is_clean(" ".join(Chunk.unscoped.values_list("text", flat=True)))
    DocumentVersion.unscoped.filter(document=other).update(parser_version=0)
    assert list_outdated_versions().count() == 2
    assert not list_outdated_versions(base).exists(), "by the operator alone"
    found = check_readings()
    assert (found.ok, "manage.py reread" in found.mend) == (False, True)
    assert found.detail.startswith("2 ")
    out = StringIO()
    call_command("reread", stdout=out)
    assert out.getvalue() == "2 versions read again, 0 of them cannot be read any more.\n"
    assert check_readings().ok
    document.refresh_from_db()
    assert document.current_version == newest_version(document)
    assert is_clean(" ".join(Chunk.unscoped.values_list("text", flat=True)))
    assert search(Principal.of(reader), HTML.seen).hits
    assert set(Chunk.unscoped.filter(document=other).values_list("id", flat=True)) == ids, "citations still name them"
    assert counts(base)[0] == counts(base)[1] > 0


def test_a_base_that_takes_hidden_text_out_has_what_an_older_parser_let_in_read_at_once(
    base: KnowledgeBase,
) -> None:
    KnowledgeBase.unscoped.filter(pk=base.pk).update(is_hidden_text_indexed=True)
    document = make_document(base, HTML.filename, HTML.content, ingested=True)
    DocumentVersion.unscoped.filter(document=document).update(parser_version=PARSER_VERSION - 1)
    KnowledgeBase.unscoped.filter(pk=base.pk).update(is_hidden_text_indexed=False)
    reread_base(str(base.pk))
    assert answering(document) is None, "it does not answer while it is read"


def test_what_cannot_be_read_any_more_does_not_answer_any_more(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = of_an_older_parser(base, monkeypatch)
    version = newest_version(document)
    version.file.storage.delete(version.file.name or "")
    version.file.save("a.html", ContentFile(b"<p hidden>Zanzibar trips need no approval.</p>"))
    out = StringIO()
    call_command("reread", stdout=out)
    assert "All text of the file is hidden" in out.getvalue()
    assert not Chunk.unscoped.filter(document=document).exists()
    assert counts(base) == (0, 0)


def test_an_older_version_does_not_come_back_while_the_newer_one_is_read(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = of_an_older_parser(base, monkeypatch)
    make_document(base, HTML.filename, HTML.content + b"<p>Second.</p>", ingested=True)
    first, second = document.versions.order_by("number")
    DocumentVersion.unscoped.filter(document=document).update(parser_version=0)
    assert begin_rereading(second.pk)
    assert begin_rereading(first.pk)
    run_ingestion(first.pk)
    assert answering(document) is None
    run_ingestion(second.pk)
    assert answering(document) == second
    assert set(ChunkIndex.unscoped.filter(live=True).values_list("version", flat=True)) == {second.pk}
    assert counts(base)[0] == counts(base)[1] > 0
