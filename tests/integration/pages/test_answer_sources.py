"""What stands around an answer on its page: chips, cards, groups of sources and steps, each under the rights of the moment."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from agent.conversations.presentation.message import CitedPassage
from agent.models import Message
from agent.pages.chat_views import turn_page
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import take_back
from knowledge.models import Chunk, Document
from tests.factories import allow, make_base, make_document, make_folder, make_user
from tests.integration.agent.conversations import asked, stored
from tests.integration.agent.modelled import modelled, sent
from tests.integration.pages.house import House, client_of, plain
from tests.modelserver import Request, Step, says
from tests.sharing import Share

pytestmark = pytest.mark.django_db

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


def make_desk() -> Desk:
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


@pytest.fixture(scope="module")
def shared_desk(share: Share) -> Callable[[], Desk]:
    return share(make_desk)


@pytest.fixture
def desk(shared_desk: Callable[[], Desk], db: None) -> Desk:
    return shared_desk()


@pytest.fixture
def house(shared_desk: Callable[[], Desk], db: None) -> House:
    return House()


def named(page: str) -> set[str]:
    """The folders that a page names: each document of the desk stands in one of its own."""
    return {name for name in ("Works", "Office", "Rumours") if name in page or f"{name.lower()}.md" in page}


def test_sources_are_grouped_by_citation_and_documents_of_one_title_are_told_apart(desk: Desk) -> None:
    page = desk.page()
    cited = re.search(r'<ol class="sources-cited">(.*?)</ol>', page, re.DOTALL)
    besides = re.search(r'<details class="sources-more">(.*?)</details>', page, re.DOTALL)
    assert cited
    assert besides
    assert (named(cited[1]), named(besides[1])) == ({"Works", "Office"}, {"Rumours"})
    labels = re.findall(r'<span class="cite-label"[^>]*>([^<]+)</span>', page)
    assert sorted(labels) == ["Notice · Office", "Notice · Works"]
    cards = re.findall(r'<div id="c-[^"]+" data-source="[^"]+">(.*?)</div>', page, re.DOTALL)
    assert len(cards) == 2
    works = next(card for card in cards if "Works" in card)
    assert "Base of Works › Works" in works
    assert "<b>notice</b> <b>period</b> is four weeks" in works


@pytest.mark.parametrize("gone", ["Works", "Rumours"])
def test_a_forbidden_document_is_named_nowhere_around_an_answer(desk: Desk, gone: str) -> None:
    take_back(None, [Right.VIEW], desk.documents[gone].folder, of=desk.reader)
    page = desk.page()
    assert named(page) == {"Works", "Office", "Rumours"} - {gone}
    assert ("Gossip" in page) == (gone != "Rumours")


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


def written(house: House, *sentences: tuple[str, str]) -> str:
    """The text of an answer that a model wrote in these sentences, each with the gap before it; {} is a citation."""
    answer = house.session.messages.get(role="assistant")
    answer.sentences = [{"text": text, "citations": [1], "gap": gap} for text, gap in sentences]
    answer.provider = "big"
    answer.save()
    page = plain(client_of(house.reader).get(reverse("message", args=[house.session.pk, answer.pk])).content)
    text = page[page.index('<div class="answer-text') :]
    return re.sub(r"\s*<button class=\"cite.*?</button>", "{}", text, flags=re.DOTALL)


def test_sentences_lists_tables_and_code_of_a_model_keep_their_form(house: House) -> None:
    """Sentences in a row with one source share a citation, and each block has its own."""
    shape = written(house, ("First.", ""), ("Second.", " "), ("Third.", "\n\n"))
    assert "<p>First. Second.{}</p>\n<p>Third.{}</p>" in shape
    shape = written(
        house,
        ("These are the limits:", ""),
        ("City: Oslo; Limit: 190", "\n- "),
        ("City: Rome | Milan; Limit: 160", "\n- "),
        ("Nothing else is paid.", "\n\n"),
    )
    assert re.findall(r"<t([hd])>([^<]*)</t", shape) == [
        ("h", "City"), ("h", "Limit"), ("d", "Oslo"), ("d", "190{}"), ("d", "Rome | Milan"), ("d", "160{}"),
    ]  # fmt: skip
    assert "<p>Nothing else is paid.{}</p>" in shape
    shape = written(house, ("To release:", ""), ("Ask.", "\n2. "), ("Wait.", "\n3. "))
    assert '<ol start="2">' in shape, "the number that the model wrote stays where the first step was left out"
    lines = [("for pod in a b; do", "\n\n    "), ("kubectl delete <pod>", "\n      "), ("done", "\n    ")]
    shape = written(house, ("Stop it:", "\n- "), *lines, ("Then wait.", "\n\n"))
    assert "<code>for pod in a b; do{}\n  kubectl delete <pod>{}\ndone{}\n</code>" in html.unescape(shape)
    assert "<p>Then wait.{}</p>" in shape


def test_what_a_model_writes_runs_and_loads_nothing(house: House) -> None:
    evil = "<img src=x onerror=alert(1)> ![x](http://a.example/b) [go](javascript:alert(1)) **bold** `code` ⁅0⁆"
    text = written(house, (evil, "")).partition("</div>")[0]
    assert re.findall(r"<(?:img|a|script|button)\b", text) == []
    assert "<strong>bold</strong> <code>code</code>" in text
    fenced = written(house, ("```\necho '<script>alert(1)</script>'\n```", ""))
    assert fenced.count("data-copy-code") == 1
    assert "<script>alert" not in fenced
