"""What stands around an answer on its page: chips, cards, groups of sources and steps, each under the rights of the moment."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from agent.conversations.presentation.message import CitedPassage
from agent.models import Message
from agent.pages.chat_views import load_conversation_turn
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from knowledge.models import Chunk, Document
from tests.factories import allow, make_base, make_document, make_folder, make_user
from tests.integration.agent.conversations import LEAVE, asked, make_library, make_reader, stored
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled, sent
from tests.integration.governance.world import staff
from tests.integration.pages.house import House, client_of, plain
from tests.modelserver import Request, Step, says
from tests.sharing import share_world

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


shared_desk, desk = share_world("desk", make_desk)


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
    revoke_rights(None, [Right.VIEW], desk.documents[gone].folder, of=desk.reader)
    page = desk.page()
    assert named(page) == {"Works", "Office", "Rumours"} - {gone}
    assert ("Gossip" in page) == (gone != "Rumours")


def sources_of(reader: User, answer: Message) -> tuple[CitedPassage, ...]:
    """The sources of an answer as its page has them now."""
    shown = load_conversation_turn(Principal.of(reader), answer.session, answer.pk)[-1]
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
    revoke_rights(None, [Right.VIEW], house.folder, of=house.reader)
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


# --- how an answer was made: its steps, scores and cost, under the rights of whoever looks, on the day they look ---


def page_of(person: User, row: Message, *, status: int = 200) -> str:
    answer: Any = client_of(person).get(reverse("run", args=[row.session_id, row.pk]))
    assert answer.status_code == status
    return re.sub(r"\s+", " ", answer.content.decode())


def test_figures_of_the_machinery_are_shown_to_overseers_alone() -> None:
    base, _manual, _secret = make_library()
    reader = make_reader(base)
    with modelled(SEARCH, says(THIRTY)):
        row = stored(asked(reader, LEAVE))
    figures = ["knowledge_search", "20 + 10", "0.0004", "<rect ", *row.prompts.values()]
    page = page_of(reader, row)
    assert row.state["evidence_items"][0]["source"]["title"] in page
    assert [word for word in figures if word in page] == []
    reader.user_permissions.add(Permission.objects.get(codename="oversee", content_type__app_label="authz"))
    page = page_of(User.objects.get(pk=reader.pk), row)
    assert [word for word in figures if word not in page] == []
    assert page.count("<rect ") == len(row.state["trace_steps"])
    assert str(next(iter(row.state["scores"].values()))["lexical"])[:4] in page
    assert "30 days" not in page, "how, not what"


def test_what_may_not_be_read_any_more_is_counted_and_not_named() -> None:
    base, _manual, _secret = make_library()
    reader = make_reader(base)
    other = make_base("Other")
    make_document(
        other, "holidays.md", "# Bank holidays\n\nAnnual leave of employees has 30 days, too.\n", ingested=True
    )
    allow(reader, other)
    row = stored(asked(reader, LEAVE))
    assert "Bank holidays" in page_of(reader, row)
    revoke_rights(None, [Right.VIEW], other, of=reader)
    page = page_of(reader, row)
    assert "Bank holidays" not in page
    assert ">Leave<" in page
    assert "One source is not listed because you cannot read it now." in page


def test_an_answer_from_before_traces_and_one_of_somebody_else() -> None:
    base, _manual, _secret = make_library()
    reader, other = make_reader(base), make_reader(base)
    row = stored(asked(reader, LEAVE))
    Message.objects.filter(pk=row.pk).update(state={}, duration_ms=None)
    assert "No steps were kept for this answer." in page_of(reader, row)
    page_of(other, row, status=404)
    question = row.session.messages.earliest("created_at")
    page_of(reader, question, status=404)


def test_an_auditor_sees_it_in_a_replay_under_rights_of_their_own() -> None:
    base, _manual, _secret = make_library()
    row = stored(asked(make_reader(base), LEAVE))
    auditor = staff("olga")
    auditor.user_permissions.add(Permission.objects.get(codename="oversee", content_type__app_label="authz"))
    answer: Any = client_of(User.objects.get(pk=auditor.pk)).get(reverse("replay", args=[row.pk]))
    report = answer.context["replay"].report
    assert len(report.steps) == len(row.state["trace_steps"])
    assert (report.evidence, report.hidden) == ((), len(row.state["evidence_items"]))
    assert "How this answer was made" in answer.content.decode()
