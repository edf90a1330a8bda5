"""What stands around an answer on its page: chips, cards, groups of sources and steps, each under the rights of the moment."""

import html
import re
from dataclasses import dataclass
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from agent.conversations.page import turn_page
from agent.conversations.presentation.message import CitedPassage
from agent.models import Message
from authz.grants import take_back
from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Chunk, Document
from tests.factories import allow, make_base, make_document, make_folder, make_user
from tests.integration.agent.conversations import LEAVE, asked, make_library, make_reader, stored
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled, sent
from tests.integration.pages.house import House, client_of, plain
from tests.modelserver import Request, Step, says

pytestmark = pytest.mark.django_db

SYSTEM_WORDS = (
    "LoadAuthz",
    "DocRAGTool",
    "knowledge_search",
    "rag_retriever",
    "maxsim",
    "rerank",
    "dense",
    "evidence_added",
)
QUESTION = "How long is the notice period?"


@dataclass
class Desk:
    """A reader whose answer cites the two documents `Notice` of different folders, and read `Gossip` besides."""

    reader: User
    documents: dict[str, Document]
    answer: Message

    def page(self) -> str:
        url = reverse("message", args=[self.answer.session_id, self.answer.pk])
        return unescape(plain(client_of(self.reader).get(url).content))


def _of_both(request: Request) -> Step:
    """The model's answer from both documents."""
    texts = re.findall(r'<evidence number="(\d+)"[^>]*>\n(.*?)\n</evidence>', sent(request), re.DOTALL)
    lines = ("The notice period is four weeks.", "The notice period in the trial time is two weeks.")
    return says(" ".join(f"{line[:-1]} [{next(n for n, text in texts if line in text)}]." for line in lines))


@pytest.fixture
def desk(house: House) -> Desk:
    reader = make_user()
    documents = {}
    for name, text in {
        "Works": "# Notice\n\nThe notice period is four weeks.\n",
        "Office": "# Notice\n\nThe notice period in the trial time is two weeks.\n",
        "Rumours": "# Gossip\n\nSomebody heard of a period.\n",
    }.items():
        folder = make_folder(make_base(f"Base of {name}"), name)
        allow(reader, folder)
        documents[name] = make_document(folder, f"{name.lower()}.md", text, ingested=True)
    with modelled(chooses=_of_both):
        answer = stored(asked(reader, QUESTION))
    cited = {citation.document_id for citation in answer.citations.all()}
    assert cited == {documents["Works"].pk, documents["Office"].pk}
    if all(item["source"]["doc_id"] != str(documents["Rumours"].pk) for item in answer.state["evidence_items"]):
        chunk = Chunk.unscoped.get(document=documents["Rumours"])
        first = answer.state["evidence_items"][0]
        source = {**first["source"], "doc_id": str(chunk.document_id), "chunk_id": str(chunk.id), "title": "Gossip"}
        answer.state["evidence_items"].append({**first, "evidence_id": "doc:gossip", "source": source})
        answer.save()
    return Desk(reader, documents, answer)


def named(page: str) -> set[str]:
    """The folders that a page names: each document of the desk stands in one of its own."""
    return {name for name in ("Works", "Office", "Rumours") if name in page or f"{name.lower()}.md" in page}


def test_sources_are_grouped_by_whether_the_answer_cites_them(desk: Desk) -> None:
    page = desk.page()
    cited = re.search(r'<ol class="sources-cited">(.*?)</ol>', page, re.DOTALL)
    besides = re.search(r'<details class="sources-more">(.*?)</details>', page, re.DOTALL)
    assert cited
    assert besides
    assert (named(cited[1]), named(besides[1])) == ({"Works", "Office"}, {"Rumours"})
    assert "Also read: 1 document" in besides[1]


@pytest.mark.parametrize("gone", ["Works", "Office", "Rumours"])
def test_what_may_not_be_read_any_more_is_named_nowhere_around_an_answer(desk: Desk, gone: str) -> None:
    assert named(desk.page()) == {"Works", "Office", "Rumours"}
    take_back(None, [Right.VIEW], desk.documents[gone].folder, of=desk.reader)
    page = desk.page()
    assert named(page) == {"Works", "Office", "Rumours"} - {gone}
    assert ("Gossip" in page) == (gone != "Rumours")


def test_two_documents_of_one_title_are_told_apart(desk: Desk) -> None:
    labels = re.findall(r'<span class="cite-label"[^>]*>([^<]+)</span>', desk.page())
    assert sorted(labels) == ["Notice · Office", "Notice · Works"]


def test_a_card_says_where_a_passage_stands_whose_it_is_and_which_words_match(desk: Desk) -> None:
    cards = re.findall(r'<div id="c-[^"]+" data-source="[^"]+">(.*?)</div>', desk.page(), re.DOTALL)
    assert len(cards) == 2
    works = next(card for card in cards if "Works" in card)
    assert "Base of Works › Works" in works
    assert "works.md" in works
    assert "today" in works
    assert "<b>notice</b> <b>period</b> is four weeks" in works


def sources_of(reader: User, answer: Message) -> tuple[CitedPassage, ...]:
    """The sources of an answer as its page has them now."""
    shown = turn_page(Principal.of(reader), answer.session, answer.pk)[-1]
    assert shown.around is not None
    return shown.around.sources


def test_a_folder_above_that_is_not_seen_is_not_in_the_path(house: House) -> None:
    """The reader sees `Updates` and not the root; a document of `Old` stands two steps below it."""
    document = make_document(house.below, "older.md", "# Older\n\nThe walrus depot lies in Groningen.\n", ingested=True)
    answer = stored(asked(house.reader, "Where does the walrus depot lie?"))
    (source,) = sources_of(house.reader, answer)
    assert source.citation.passage.document_id == document.pk
    assert source.place is not None
    assert source.place.path == ("Rules", "Updates", "Old")
    take_back(None, [Right.VIEW], house.folder, of=house.reader)
    allow(house.reader, house.below)
    (source,) = sources_of(house.reader, answer)
    assert source.place is not None
    assert source.place.path == ("Rules", "Old")


def test_sentences_in_a_row_that_share_a_source_share_a_chip(house: House) -> None:
    answer = house.session.messages.get(role="assistant")
    answer.sentences = [{"text": text, "citations": [1]} for text in ("First.", "Second.")]
    answer.sentences.append({"text": "Third.", "citations": [1], "gap": "\n\n"})
    answer.provider = "big"
    answer.save()
    page = plain(client_of(house.reader).get(reverse("message", args=[house.session.pk, answer.pk])).content)
    said = re.search(r'<div class="answer-text[^>]*>(.*?)</div>', page, re.DOTALL)
    assert said
    shape = re.sub(r'<button class="(cite[^"]*)".*?</button>', r"{\1}", said[1])
    assert shape.strip() == "<p>First. Second.{cite}</p>\n<p>Third.{cite cite-again}</p>"


def test_steps_are_told_in_the_words_of_whoever_asked() -> None:
    base, _manual, _secret = make_library()
    reader = make_reader(base)
    with modelled(SEARCH, says(THIRTY)):
        row = stored(asked(reader, LEAVE))
    Message.objects.filter(pk=row.pk).update(duration_ms=1_500)  # a busy machine takes longer, and says it otherwise
    url = reverse("message", args=[row.session_id, row.pk])
    page = re.sub(r"\s+", " ", plain(client_of(reader).get(url).content))
    told = re.findall(r'<span class="trace-said">([^<]+)(?:<span class="trace-brought">([^<]+)</span>)?', page)
    assert told == [
        ("Took it for a question to documents", ""),
        ("Searched your documents", "1 passage in 1 document, out of 1 passage that you may read"),
        ("Searched your documents", "nothing new"),
        ("Wrote the answer and compared each sentence with its source", "1 sentence stands"),
    ]
    assert "<summary>1.5 s · 4 steps</summary>" in page
    assert [word for word in SYSTEM_WORDS if word in page] == []
    chinese = plain(client_of(reader).get(url, headers={"Accept-Language": "zh-hans"}).content)
    assert "搜索了您可以阅读的文档" in chinese
    assert "4 步" in chinese


def test_a_table_that_a_model_wrote_is_a_table_with_its_sources(house: House) -> None:
    answer = house.session.messages.get(role="assistant")
    rows = [
        ("City: Oslo; Limit: 190", "\n- "),
        ("City: Rome | Milan; Limit: 160", "\n- "),
        ("Nothing else is paid.", "\n\n"),
    ]
    answer.sentences = [{"text": "These are the limits:", "citations": [1]}]
    answer.sentences += [{"text": text, "citations": [1], "gap": gap} for text, gap in rows]
    answer.provider = "big"
    answer.save()
    page = plain(client_of(house.reader).get(reverse("message", args=[house.session.pk, answer.pk])).content)
    shape = re.sub(r"\s*<(button) class=\"cite.*?</button>", "{}", page[page.index('<div class="answer-text') :])
    assert '<table class="written-table">' in shape
    assert re.findall(r"<t([hd])>([^<]*)</t", shape) == [
        ("h", "City"), ("h", "Limit"), ("d", "Oslo"), ("d", "190{}"), ("d", "Rome | Milan"), ("d", "160{}"),
    ]  # fmt: skip
    assert "<p>Nothing else is paid.{}</p>" in shape


def test_the_column_that_names_the_rows_of_a_written_table_may_have_no_name(house: House) -> None:
    answer = house.session.messages.get(role="assistant")
    rows = ("History; Basic: 6 months; Full: 36 months", "Support; Basic: none; Full: 24 hours")
    answer.sentences = [{"text": text, "citations": [1], "gap": "\n- "} for text in rows]
    answer.provider = "big"
    answer.save()
    page = plain(client_of(house.reader).get(reverse("message", args=[house.session.pk, answer.pk])).content)
    shape = re.sub(r"\s*<(button) class=\"cite.*?</button>", "", page[page.index('<div class="answer-text') :])
    assert re.findall(r"<t([hd])>([^<]*)</t", shape) == [
        ("h", ""), ("h", "Basic"), ("h", "Full"), ("d", "History"), ("d", "6 months"), ("d", "36 months"),
        ("d", "Support"), ("d", "none"), ("d", "24 hours"),
    ]  # fmt: skip


def test_steps_that_a_model_numbered_are_a_numbered_list_also_where_the_first_was_left_out(house: House) -> None:
    answer = house.session.messages.get(role="assistant")
    answer.sentences = [{"text": "To release:", "citations": [1]}]
    answer.sentences += [
        {"text": text, "citations": [1], "gap": gap} for text, gap in (("Ask.", "\n2. "), ("Wait.", "\n3. "))
    ]
    answer.provider = "big"
    answer.save()
    page = plain(client_of(house.reader).get(reverse("message", args=[house.session.pk, answer.pk])).content)
    shape = re.sub(r"\s*<(button) class=\"cite.*?</button>", "", page[page.index('<div class="answer-text') :])
    assert "".join(shape.split("\n")).count('<p>To release:</p><ol start="2"><li>Ask.</li><li>Wait.</li></ol>') == 1


def test_lines_of_code_that_a_model_wrote_are_a_block_with_their_sources(house: House) -> None:
    answer = house.session.messages.get(role="assistant")
    lines = [("for pod in a b; do", "\n\n    "), ("kubectl delete <pod>", "\n      "), ("done", "\n    ")]
    answer.sentences = [{"text": "Stop it:", "citations": [1], "gap": "\n- "}]
    answer.sentences += [{"text": text, "citations": [1], "gap": gap} for text, gap in lines]
    answer.sentences += [{"text": "Then wait.", "citations": [1], "gap": "\n\n"}]
    answer.provider = "big"
    answer.save()
    page = plain(client_of(house.reader).get(reverse("message", args=[house.session.pk, answer.pk])).content)
    shape = re.sub(r"\s*<(button) class=\"cite.*?</button>", "{}", page[page.index('<div class="answer-text') :])
    block = "<code>for pod in a b; do{}\n  kubectl delete <pod>{}\ndone{}\n</code>"
    assert block in html.unescape(shape)
    assert "data-copy-code" in shape
    assert "<p>Then wait.{}</p>" in shape


def test_what_a_model_writes_runs_and_loads_nothing(house: House) -> None:
    answer = house.session.messages.get(role="assistant")
    evil = "<img src=x onerror=alert(1)> ![x](http://a.example/b) [go](javascript:alert(1)) **bold** `code` ⁅0⁆"
    answer.sentences = [{"text": evil, "citations": [1]}]
    answer.provider = "big"
    answer.save()
    page = plain(client_of(house.reader).get(reverse("message", args=[house.session.pk, answer.pk])).content)
    said = page[page.index('<div class="answer-text') :].partition("</div>")[0]
    assert re.findall(r"<(?:img|a|script)\b", said) == []
    assert "<strong>bold</strong> <code>code</code>" in said
    assert said.count("<button") == 1
