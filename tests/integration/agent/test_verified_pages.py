"""Keeping verified answers: the pages, saving from an answer, CSV files and the API."""

import csv
from io import StringIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from agent.models import Flag, VerifiedAnswer
from agent.verified_answers.selectors import managed_answers_of
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from tests.factories import allow, make_user
from tests.integration.agent.conversations import LEAVE as ANYBODY
from tests.integration.agent.conversations import asked, stored
from tests.integration.agent.verified import LEAVE, OTHER, QUESTION, TEXT, Company
from tests.integration.pages.house import client_of
from tests.sharing import Share

pytestmark = pytest.mark.django_db
LIST, API = "/library/verified/", "/api/v1/verified-answers"


@pytest.fixture(scope="module")
def shared(share: Share):  # type: ignore[no-untyped-def]
    return share(Company)


@pytest.fixture
def company(shared) -> Company:  # type: ignore[no-untyped-def]
    return shared()  # type: ignore[no-any-return]


def page(company: Company, name: str, address: str = LIST) -> str:
    return str(client_of(company.people[name]).get(address).content.decode())


def test_the_list_has_what_one_keeps_with_what_is_to_be_reviewed_first(company: Company) -> None:
    first = company.verify(question="<b>First</b>?")
    company.verify()
    VerifiedAnswer.unscoped.filter(pk=first.pk).update(flag=Flag.CHANGED)
    said = page(company, "keeper")
    assert said.index("&lt;b&gt;First&lt;/b&gt;?") < said.index(QUESTION)
    assert "a source has changed" in said
    for name in ("reader", "blind"):
        assert QUESTION not in page(company, name)
        client = client_of(company.people[name])
        assert client.get(f"{LIST}{first.pk}/").status_code == 404
        assert client.post(f"{LIST}{first.pk}/", {"do": "retire"}).status_code == 404
    assert VerifiedAnswer.unscoped.count() == 2
    root = client_of(make_user("root", is_superuser=True))
    for address in (
        reverse("admin:agent_verifiedanswer_changelist"),
        reverse("admin:agent_verifiedanswer_change", args=[first.pk]),
    ):
        said = root.get(address).content.decode()
        assert "Leave" in said
        assert TEXT not in said, "the administration shows where they are and not what they say"
        assert QUESTION not in said


def test_a_keeper_writes_changes_confirms_and_deletes_one(company: Company) -> None:
    client = client_of(company.people["keeper"])
    given = {
        "question": QUESTION,
        "text": TEXT,
        "wordings": f"{OTHER}\n\n",
        "documents": f"https://copilot.example.com/documents/{company.leave.pk}/\n{company.pay.pk}",
        "folder": str(company.folder.pk),
        "expires_on": "2099-01-31",
    }
    assert client.post(f"{LIST}new/", given).status_code == 302
    answer = VerifiedAnswer.unscoped.get()
    assert {item.document_id for item in answer.sources.all()} == {company.leave.pk, company.pay.pk}
    assert company.told() == {"keeper", "reader"}
    address = f"{LIST}{answer.pk}/"
    assert OTHER in client.get(address).content.decode()
    assert client.post(address, {**given, "text": ""}).status_code == 400
    assert client.post(address, {**given, "text": "31 days."}).status_code == 302
    answer.refresh_from_db()
    assert (answer.text, str(answer.expires_on)) == ("31 days.", "2099-01-31")
    VerifiedAnswer.unscoped.update(flag=Flag.CHANGED)
    client.post(address, {"do": "again"})
    assert company.told() == {"keeper", "reader"}
    client.post(address, {"do": "retire"})
    assert not VerifiedAnswer.unscoped.exists()
    actions = [item.action for item in Entry.objects.filter(target_type="verifiedanswer").order_by("pk")]
    assert actions == [Action.VERIFIED_SAVED, Action.VERIFIED_SAVED, Action.VERIFIED_CONFIRMED, Action.VERIFIED_RETIRED]


def test_an_answer_of_a_conversation_is_saved_with_the_passages_it_cites(company: Company) -> None:
    row = stored(asked(company.people["keeper"], ANYBODY))
    chat, address = f"/chat/{row.session_id}/", f"{LIST}new/?message={row.pk}"
    assert address in page(company, "keeper", chat)
    client = client_of(company.people["keeper"])
    form = client.get(address).context["form"]
    assert LEAVE in form.initial["text"]
    assert "Best match" not in form.initial["text"]  # that is said by us, not by the document
    given = {name: form.initial[name] for name in ("question", "text", "documents")}
    assert client.post(address, {**given, "folder": str(company.folder.pk)}).status_code == 302
    (source,) = VerifiedAnswer.unscoped.get().sources.all()
    assert (source.document_id, source.chunk_id) == (company.leave.pk, row.citations.get().chunk_id)
    reader = stored(asked(company.people["reader"], "How much leave is paid out?"))
    assert "/library/verified/new/" not in page(company, "reader", f"/chat/{reader.session_id}/")
    assert client.get(f"{LIST}new/?message={reader.pk}").status_code in (403, 404)  # another's answer
    overseer = make_user("boss", is_superuser=True)
    allow(overseer, company.folder, Right.VIEW, Right.MANAGE)
    told = stored(asked(company.people["reader"], ANYBODY))
    assert LEAVE in client_of(overseer).get(f"{LIST}new/?message={told.pk}").context["form"].initial["text"]
    assert Entry.objects.filter(action=Action.QUESTIONS_READ, actor_name="boss").exists()


# Files


def exported(company: Company, name: str = "keeper") -> list[list[str]]:
    answer: Any = client_of(company.people[name]).get(f"{LIST}export.csv")
    return list(csv.reader(StringIO(b"".join(answer).decode("utf-8-sig"), newline="")))


def imported(company: Company, text: str, name: str = "keeper") -> str:
    file = SimpleUploadedFile("answers.csv", text.encode())
    answer = client_of(company.people[name]).post(f"{LIST}import/", {"file": file}, follow=True)
    return str(answer.content.decode())


def test_what_is_exported_is_read_again_as_it_was(company: Company) -> None:
    company.verify(text="=1+1 is no answer, 30 days is.", question="+Leave?")
    head, line = exported(company)
    assert line[1].startswith("'+")
    assert line[3].startswith("'=")
    assert exported(company, "reader") == [head]
    VerifiedAnswer.unscoped.all().delete()
    out = StringIO()
    csv.writer(out).writerows([head, line])
    assert "One answer was saved" in imported(company, out.getvalue())
    answer = VerifiedAnswer.unscoped.get()
    assert (answer.question, answer.text) == ("+Leave?", "=1+1 is no answer, 30 days is.")
    imported(company, out.getvalue())  # once more: in place of the first
    assert VerifiedAnswer.unscoped.count() == 1


def test_a_file_with_a_wrong_line_changes_nothing(company: Company) -> None:
    good = f"{company.folder.pk},Good?,Yes.,{company.leave.pk},"
    lines = {
        "Line 3: “nowhere” does not fit": f"nowhere,Q?,A.,{company.leave.pk},",
        "Line 3: Choose what the answer is based on": f"{company.folder.pk},Q?,A.,,",
        "Line 3: There is no such document": f"{company.folder.pk},Q?,A.,{company.folder.pk},",
    }
    for said, line in lines.items():
        assert said in imported(company, f"folder,question,answer,documents,valid_until\n{good}\n{line}\n")
    assert "look at “colour”" in imported(company, f"folder,question,answer,colour\n{good}\n")
    assert "1 to 500" in imported(company, "folder,question,answer\n" + "x,y,z\n" * 501)
    assert "is no such" in imported(company, f"folder,question,answer,documents\n{good}\n", "stranger")
    assert not VerifiedAnswer.unscoped.exists()


# The API


def program(company: Company, name: str, *scopes: TokenScope) -> Client:
    secret = issue_token(company.principal(name), name="x", scopes=list(scopes))[1]
    return Client(headers={"Authorization": f"Bearer {secret}"})


def test_the_api_lists_creates_changes_and_deletes(company: Company) -> None:
    keeper = program(company, "keeper", TokenScope.INGEST)
    body = {
        "folder": str(company.folder.pk), "question": QUESTION, "text": TEXT, "wordings": [OTHER],
        "documents": [str(company.leave.pk)],
    }  # fmt: skip
    made = keeper.post(API, body, content_type="application/json")
    assert made.status_code == 201, made.content
    answer = made.json()
    assert (answer["wordings"], answer["documents"], answer["flag"]) == ([OTHER], [str(company.leave.pk)], "")
    assert keeper.post(API, body, content_type="application/json").status_code == 409
    one = f"{API}/{answer['id']}"
    assert keeper.put(one, {**body, "text": "31."}, content_type="application/json").json()["text"] == "31."
    seen = {name: len(program(company, name, TokenScope.SEARCH).get(API).json()["results"]) for name in company.people}
    assert {name for name, count in seen.items() if count} == {"keeper", "reader", "half"}
    reader = program(company, "reader", TokenScope.SEARCH, TokenScope.INGEST)
    assert reader.put(one, body, content_type="application/json").status_code == 404
    assert reader.delete(one).status_code == 404
    assert program(company, "keeper", TokenScope.SEARCH).delete(one).status_code == 403
    assert keeper.post(f"{one}/verify", {}, content_type="application/json").status_code == 200
    assert keeper.delete(one).status_code == 204
    assert not managed_answers_of(company.keeper).exists()
