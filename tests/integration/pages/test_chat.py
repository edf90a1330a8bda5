"""Conversations as pages: what is stored is shown under today's rights, to its owner alone."""

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from agent.events import StopReason
from agent.models import Message, MessageRole, Session
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from tests.factories import make_user
from tests.integration.pages.house import SENTENCE, House, client_of, plain


def conversation(house: House, who: Any = None) -> str:
    url = reverse("conversation", args=[house.session.pk])
    return plain(client_of(who or house.reader).get(url).content)


def test_an_answer_cites_by_buttons_that_open_the_passage(house: House) -> None:
    body = conversation(house)
    assert SENTENCE in body
    button = re.search(r'<button class="cite"[^>]*data-source="([^"]+)"[^>]*aria-label="([^"]+)"', body)
    assert button
    assert button[2] == f"Source 1: {house.document.title}"
    source = client_of(house.reader).get(button[1].replace("&amp;", "&"))
    assert f">{SENTENCE}</mark>" in plain(source.content)


def test_a_page_says_whether_an_answer_was_quoted_or_written_by_a_model(house: House) -> None:
    assert "no language model" in conversation(house)
    Message.objects.filter(session=house.session).update(provider="qwen")
    body = conversation(house)
    assert "no language model" not in body
    assert "qwen" in body


def test_a_sentence_whose_source_is_forbidden_by_now_is_masked(house: House) -> None:
    revoke_rights(None, [Right.VIEW], house.folder, of=house.reader)
    body = conversation(house)
    assert "One sentence is hidden" in body
    assert SENTENCE not in body
    assert house.document.title not in body


def test_a_no_is_called_a_no_and_cites_nothing(house: House) -> None:
    session = Session.objects.create(user=house.reader, title="Pay")
    text = "I found nothing about this in the 3 documents you can read."
    Message.objects.create(
        session=session, role=MessageRole.ASSISTANT, content=text, stop_reason=StopReason.NO_EVIDENCE
    )
    body = plain(client_of(house.reader).get(reverse("conversation", args=[session.pk])).content)
    assert text in body
    assert "is-unconfirmed" in body
    assert "data-source=" not in body


def test_the_best_passage_is_shown_with_its_sentence_marked_and_not_called_an_answer(house: House) -> None:
    lead = "Best match (not verified):"
    sentences = [{"text": lead, "citations": []}, {"text": SENTENCE, "citations": [1]}]
    house.session.messages.filter(role=MessageRole.ASSISTANT).update(
        sentences=sentences, content=f"{lead}\n{SENTENCE}[1]", state={"output": {"kind": "passages"}}
    )
    body = conversation(house)
    assert lead in body
    assert f"<mark>{SENTENCE}</mark>" in body
    assert body.count('class="source"') == 1


def test_a_failed_and_an_unfinished_answer_say_what_happened(house: House) -> None:
    session = Session.objects.create(user=house.reader, title="Pay")
    broken = Message.objects.create(
        session=session, role=MessageRole.ASSISTANT, content="It broke.", stop_reason=StopReason.TOOL_ERROR
    )
    Message.objects.create(session=session, parent=broken, role=MessageRole.ASSISTANT, is_complete=False)
    body = plain(client_of(house.reader).get(reverse("conversation", args=[session.pk])).content)
    assert "It broke." in body
    assert body.count("data-again") == 1
    assert f'action="{reverse("feedback", args=[session.pk, broken.pk])}"' not in body, "there is nothing to rate"
    assert "This answer is still being written" in body


def test_words_of_a_question_are_shown_and_not_obeyed(house: House) -> None:
    evil = "<script>alert(1)</script>"
    session = Session.objects.create(user=house.reader, title=evil)
    Message.objects.create(session=session, role=MessageRole.USER, content=evil)
    body = plain(client_of(house.reader).get(reverse("conversation", args=[session.pk])).content)
    assert evil not in body


def test_a_conversation_begins_ends_and_is_ones_own(house: House) -> None:
    client = client_of(house.reader)
    made = client.post(reverse("conversation-new"))
    assert made.status_code == 201
    url = made.json()["url"]
    assert client.get(url).status_code == 200
    assert client_of(house.keeper).get(url).status_code == 404
    assert client_of(house.keeper).post(f"{url}delete/").status_code == 404
    client.post(f"{url}delete/")
    assert not Session.objects.filter(pk=made.json()["id"]).exists()


def test_a_document_and_its_folder_are_asked_about_from_their_pages(house: House) -> None:
    reader = client_of(house.reader)
    for page, kind, row in (("document", "document", house.document), ("folder", "folder", house.folder)):
        shown = plain(reader.get(reverse(page, args=[row.pk])).content)
        assert f'<input type="hidden" name="{kind}" value="{row.pk}">' in shown
        begun = plain(reader.post(reverse("conversation-new"), {kind: str(row.pk)}, follow=True).content)
        assert f'data-kind="{kind}" data-id="{row.pk}"' in begun
    before = Session.objects.count()
    passer_by = client_of(make_user("passer-by"))
    for given in ({"document": str(house.document.pk)}, {"folder": str(house.folder.pk)}, {"document": "x"}):
        assert passer_by.post(reverse("conversation-new"), given).status_code == 404
    assert Session.objects.count() == before


def test_forged_forms_are_refused(house: House) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(house.reader)
    answer = client.post(reverse("conversation-new"))
    assert answer.status_code == 403
    assert "The form is out of date" in plain(answer.content)
    answer = Client(enforce_csrf_checks=True).post(reverse("conversation-new"))
    assert answer.status_code == 403
    script = Client(enforce_csrf_checks=True, headers={"Accept": "application/json"})
    assert script.post(reverse("conversation-new")).status_code == 401, "its cookies are gone: nobody is signed in"


def test_no_page_needs_inline_script_or_style(house: House) -> None:
    for path in ("/", "/library/", "/tokens/", "/sign-in/", "/no-such-page/"):
        client = client_of(None if path == "/sign-in/" else house.keeper)
        answer = client.get(path)
        body = plain(answer.content)
        assert not re.search(r"<script(?![^>]*src=)", body), path
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", body), path
        policy = answer["Content-Security-Policy"]
        assert "script-src 'self';" in f"{policy};"
        assert "style-src 'self';" in f"{policy};"
        assert "unsafe" not in policy


def test_conversations_are_found_by_the_words_of_their_title_and_questions_and_by_nobody_else(house: House) -> None:
    named = Session.objects.create(user=house.reader, title="Parking in Rotterdam")
    asked = Session.objects.create(user=house.reader, title="Leave")
    question = Message.objects.create(session=asked, role=MessageRole.USER, content="How do I park a rotterdam van?")
    Message.objects.create(session=asked, parent=question, role=MessageRole.ASSISTANT, content="Ask the porter.")
    other = Session.objects.create(user=house.stranger, title="Rotterdam parking of a stranger")

    def found(words: str) -> set[Session]:
        page = plain(client_of(house.reader).get(reverse("conversations"), {"q": words}).content)
        listed = page[page.index("<main") :]
        return {session for session in (named, asked, other) if reverse("conversation", args=[session.pk]) in listed}

    assert found("") == {named, asked}
    assert found("park rotterdam") == {named, asked}
    assert found("rotterdam van") == {asked}
    assert found("porter") == set()  # of an answer: what it says may be hidden by now
    assert found("100%") == set()
