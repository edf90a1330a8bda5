"""Who was shown a document: its page counts what stored runs and entries hold, names deleted documents, and shows no text."""

import csv
from importlib import import_module
from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agent.conversations.sessions import list_branch_messages
from agent.conversations.sharing import read_share, share_conversation
from agent.conversations.transcripts.export import export_conversation
from agent.models import Citation, Message, MessageRole
from agent.oversight.impersonation import impersonate_user
from agent.profiles.settings import Options
from audit.actions import Action, How
from audit.models import Entry, Shown
from audit.record import record_action
from audit.titles import find_document_titles
from authz.permissions import Right
from authz.principal import Principal
from knowledge.documents.text import open_document
from knowledge.models import Chunk, Document
from knowledge.retrieval.search import Scope, search_knowledge
from knowledge.services.documents import open_original
from knowledge.services.folders import find_root_folder
from knowledge.services.removal import remove_document
from knowledge.services.trash import trash_document
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import LEAVE, MANUAL, asked, stored
from tests.integration.governance.world import client_of, staff, text_of
from tests.sharing import share_world

pytestmark = pytest.mark.django_db
PAY = (
    "# Pay\n\nEmployees are paid on the last working day of each month, and leave that is not taken is paid in March.\n"
)


class Case:
    """anna asks on the page, ben in Feishu; anna searches, opens, downloads, exports and shares, and ben reads what she shared."""

    def __init__(self) -> None:
        self.base = make_base("Handbook")
        self.manual: Document = make_document(self.base, "manual.md", MANUAL, title="Leave", ingested=True)
        self.pay: Document = make_document(self.base, "pay.md", PAY, title="Pay", ingested=True)
        self.anna, self.ben = make_user("anna"), make_user("ben")
        for person in (self.anna, self.ben):
            allow(person, self.base, Right.VIEW, Right.DOWNLOAD)
        anna, ben = Principal.of(self.anna), Principal.of(self.ben)
        self.answer = stored(asked(self.anna, LEAVE))
        asked(self.ben, LEAVE, options=Options(channel="feishu:direct"))
        search_knowledge(anna, "annual leave", scope=Scope(), top_k=5)
        open_document(anna, self.manual.pk)
        open_original(anna, document_id=self.manual.pk)
        session = self.answer.session
        export_conversation(anna, session, list_branch_messages(anna, session), "md", address_of=lambda *_args: "")
        shared = share_conversation(anna, session.pk, self.answer.pk)
        read_share(ben, shared.pk)


shared_case, case = share_world("case", Case)


def auditor(*rights: str, username: str = "audrey") -> User:
    person = staff(username)
    person.user_permissions.set(Permission.objects.filter(codename__in=rights or ("view_entry", "export_entry")))
    return User.objects.get(pk=person.pk)


def index() -> set[tuple[int, UUID, str, int | None]]:
    return set(Shown.objects.values_list("entry_id", "document_id", "how", "person_id"))


def test_answers_are_counted_as_stored_runs_count_them(case: Case) -> None:
    """The brute force: every stored answer, its citations, and the evidence that it found."""
    answers = Message.objects.filter(role=MessageRole.ASSISTANT)
    quoted = set(
        Citation.objects.filter(message__in=answers).values_list(
            "message__session__user_id", "message_id", "document_id"
        )
    )
    found = {
        (row.session.user_id, row.pk, UUID(item["source"]["doc_id"]))
        for row in answers.select_related("session")
        for item in row.state["evidence_items"]
    }
    assert {document for _user, _run, document in quoted} >= {case.manual.pk}
    for how, expected in ((How.QUOTED, quoted), (How.READ, found - quoted)):
        rows = Shown.objects.filter(how=how).values_list("person_id", "entry__run_id", "document_id")
        assert {(person, UUID(run), document) for person, run, document in rows} == expected
    page = client_of(auditor()).get(reverse("shown"), {"of": f"document:{case.manual.pk}", "how": How.QUOTED})
    mine = {pair for pair in quoted if pair[2] == case.manual.pk}
    assert (page.context["times"], page.context["people"]) == (len(mine), len({user for user, *_ in mine})) == (2, 2)


def test_every_way_is_a_line_with_its_person(case: Case) -> None:
    page = client_of(auditor()).get(reverse("shown"), {"of": f"document:{case.manual.pk}"})
    assert sorted((line.how.value, line.person, line.right.value, line.through) for line in page.context["lines"]) == [
        ("downloaded", "anna", "download", ""),
        ("exported", "anna", "view", ""),
        ("opened", "anna", "view", ""),
        ("passage", "anna", "view", ""),
        ("quoted", "anna", "view", ""),
        ("quoted", "ben", "view", "Feishu"),
        ("reread", "anna", "view", ""),
        ("reread", "ben", "view", ""),
        ("shared", "anna", "view", ""),
    ]
    assert "Shown 9 times to 2 people" in text_of(page)
    assert "30 days" not in text_of(page)
    assert LEAVE not in text_of(page)
    quoted = [line for line in page.context["lines"] if line.how == How.QUOTED]
    assert all(line.perm_snapshot_id.startswith("perm_") for line in quoted)


def test_a_person_a_folder_and_a_base_choose_exactly_their_rows(case: Case) -> None:
    other = make_document(make_base("Board"), "plan.md", title="Plan")
    allow(case.ben, other.folder, Right.VIEW, Right.DOWNLOAD)
    open_original(Principal.of(case.ben), document_id=other.pk)
    client = client_of(auditor())
    every = Shown.objects.exclude(how=How.READ)
    for key, rows in (
        (f"person:{case.ben.pk}", every.filter(person_id=case.ben.pk)),
        (f"folder:{find_root_folder(case.base).pk}", every.filter(document_id__in=[case.manual.pk, case.pay.pk])),
        (f"base:{other.knowledge_base_id}", every.filter(document_id=other.pk)),
    ):
        page = client.get(reverse("shown"), {"of": key})
        lines = {(line.entry_id, line.document_id) for line in page.context["lines"]}
        assert lines == set(rows.values_list("entry_id", "document_id")), key
        assert page.context["times"] == len(lines) > 0
    assert client.get(reverse("shown"), {"of": f"person:{case.ben.pk}", "until": "2020-01-01"}).context["times"] == 0


def test_the_file_has_the_same_lines_and_both_looks_are_recorded(case: Case) -> None:
    audrey = auditor()
    client = client_of(audrey)
    given = {"of": f"document:{case.manual.pk}"}
    page = client.get(reverse("shown"), given)
    sent = client.get(reverse("shown"), given | {"file": "csv"})
    rows = list(csv.DictReader(StringIO(b"".join(sent.streaming_content).decode().removeprefix("\ufeff"))))  # type: ignore[attr-defined]
    assert [int(row["entry_id"]) for row in rows] == [line.entry_id for line in page.context["lines"]]
    looks = (
        Entry.objects.filter(actor_id=audrey.pk, action__startswith="audit.")
        .order_by("id")
        .values_list("action", "detail__shown__of")
    )
    assert list(looks) == [(Action.AUDIT_READ, given["of"]), (Action.AUDIT_EXPORTED, given["of"])]


def test_only_readers_of_the_log_open_it_and_only_overseers_replay(case: Case) -> None:
    given = {"of": f"document:{case.manual.pk}"}
    people = {
        "audrey": auditor(),
        "olga": auditor("view_entry", "oversee", username="olga"),
        "root": make_user("root", is_superuser=True),
        "sam": staff("sam"),
        "peer": auditor("oversee", username="peer"),
        "anna": case.anna,
    }
    opened = {name: client_of(user).get(reverse("shown"), given).status_code for name, user in people.items()}
    assert opened == {"audrey": 200, "olga": 200, "root": 200, "sam": 403, "peer": 403, "anna": 302}
    files = {
        name: client_of(user).get(reverse("shown"), given | {"file": "csv"}).status_code
        for name, user in people.items()
    }
    assert files == {"audrey": 200, "olga": 403, "root": 200, "sam": 403, "peer": 403, "anna": 302}
    urls = {
        name: {line.url for line in client_of(people[name]).get(reverse("shown"), given).context["lines"]}
        for name in ("audrey", "olga")
    }
    replay = reverse("replay", args=[case.answer.pk])
    assert {name: replay in found for name, found in urls.items()} == {"audrey": False, "olga": True}
    assert reverse("admin:audit_entry_run", args=[case.answer.pk]) in urls["audrey"]


def test_what_an_overseer_is_shown_of_others_answers_is_indexed(case: Case) -> None:
    olga = auditor("view_entry", "oversee", username="olga")
    assert client_of(olga).get(reverse("replay", args=[case.answer.pk])).status_code == 200
    with impersonate_user(Principal.of(olga), case.anna, what="search", text="annual leave") as look:
        look.search("annual leave", top_k=5)
    rows = Shown.objects.filter(person_id=olga.pk, document_id=case.manual.pk)
    assert sorted(rows.values_list("how", "entry__on_behalf_of_name")) == [
        ("passage", "anna"),  # what anna would get now
        ("passage", "anna"),  # the search
        ("replayed", "anna"),
    ]


def test_earlier_entries_are_filled_in_by_the_migrations(case: Case) -> None:
    """Filled from nothing, the index is what it is; and entries that name passages alone get their documents."""
    before = index()
    passage = Chunk.unscoped.filter(document=case.pay).first()
    assert passage is not None
    searched = record_action(None, Action.SEARCHED, detail={"chunks": [str(passage.id), "odd"]})
    played = record_action(None, Action.ANSWER_REPLAYED, case.answer.session, run_id=str(case.answer.pk))
    shared = record_action(None, Action.CONVERSATION_SHARED, case.answer.session, detail={"up_to": str(case.answer.pk)})
    record_action(
        None, Action.EVIDENCE_SHOWN, detail={"evidence": {"not": "a list"}, "cited": ["doc:odd:chunk_0001:ab"]}
    )
    assert index() == before
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_shown")
        cursor.execute(import_module("audit.migrations.0002_shown").FILL)
        assert index() == before
        earlier = import_module("agent.migrations.0004_shown_earlier")
        for statement in (earlier.SEARCHES, earlier.ANSWERS, earlier.SHARES):
            cursor.execute(statement)
    cited = set(case.answer.citations.values_list("document_id", flat=True))
    assert index() - before == {
        (searched.pk, case.pay.pk, How.PASSAGE, None),
        *((played.pk, document, How.REPLAYED, None) for document in cited),
        *((shared.pk, document, How.SHARED, None) for document in cited),
    }


def test_deleted_documents_are_found_by_name_and_named_as_their_removal_knew_them(case: Case) -> None:
    keeper = make_user()
    allow(keeper, case.base, *Right)
    trash_document(Principal.of(keeper), document_id=case.pay.pk)
    gone = uuid4()
    folder, manual = case.manual.folder_id, case.manual.pk
    remove_document(Principal.of(keeper), case.manual)
    assert find_document_titles([case.pay.pk, manual, gone]) == {
        case.pay.pk: "Pay (in the trash)",
        manual: "Leave (deleted)",
        gone: "deleted document",
    }
    client = client_of(auditor())
    page = client.get(reverse("shown"), {"q": "leave"})
    assert page.context["subject"].key == f"document:{manual}"
    assert page.context["times"] == Shown.objects.filter(document_id=manual).exclude(how=How.READ).count() == 9
    place = client.get(reverse("shown"), {"of": f"folder:{folder}"})
    assert manual in {line.document_id for line in place.context["lines"]}


def test_the_log_names_documents_by_title_with_as_many_queries_for_many(case: Case) -> None:
    client, url = client_of(auditor()), reverse("admin:audit_entry_changelist")
    client.get(url)
    counts = []
    for _round in range(2):
        with CaptureQueriesContext(connection) as queries:
            page = client.get(url, {"action__exact": Action.QUESTION_ANSWERED})
        counts.append(len(queries))
        asked(case.ben, LEAVE)
    assert counts[0] == counts[1]
    assert "Leave" in text_of(page)
    assert f"doc:{case.manual.pk}" not in text_of(page)
    assert str(case.answer.session_id) not in text_of(page)
