"""Evaluation sets: who may keep them, what a file brings, how a run goes on by itself, and what is a fault or a leak."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from agent.models import Case, CaseResult, Message, QuestionSet, Rating, SetRun
from agent.models.question_sets import CaseFault
from agent.question_sets.runner import ask_next_question
from agent.question_sets.selectors import claim_stalled_runs, compare_runs, compute_run_figures
from agent.question_sets.services import (
    add_answered_question,
    add_uploaded_questions,
    change_case,
    create_question_set,
    start_run,
    stop_run,
)
from agent.question_sets.upload import parse_question_lines
from audit.actions import Action
from audit.models import Entry
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound, PermissionDenied
from tests.factories import allow
from tests.integration.agent.conversations import LEAVE, SALARY, asked
from tests.integration.agent.evaluation_desk import Desk
from tests.integration.governance.world import client_of, staff, text_of
from tests.sharing import Share

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_desk(share: Share) -> Callable[[], Desk]:
    return share(Desk)


@pytest.fixture
def desk(shared_desk: Callable[[], Desk], db: None) -> Desk:
    return shared_desk()


EXPECTED: list[tuple[str, dict[str, Any], str]] = [
    (LEAVE, {"is_answerable": True, "answers": "30 DAYS\nthirty days", "documents": "manual.md"}, ""),
    (LEAVE, {"is_answerable": True, "documents": "handbook/en/manual"}, ""),
    (LEAVE, {"is_answerable": False}, CaseFault.ANSWERED),
    (LEAVE, {"answers": "12 days"}, CaseFault.OTHER_WORDS),
    (LEAVE, {"documents": "salaries.md"}, CaseFault.OTHER_DOCUMENT),
    (SALARY, {"is_answerable": True}, CaseFault.NOT_ANSWERED),
    (SALARY, {"is_answerable": False}, ""),
]


def test_what_is_expected_decides_what_is_a_fault(desk: Desk) -> None:
    cases = [desk.case(question, **expected) for question, expected, _fault in EXPECTED]
    rows = {row.case_id: row for row in desk.run().results.all()}
    assert [rows[case.pk].fault for case in cases] == [fault for _question, _expected, fault in EXPECTED]
    assert all(row.done_at and row.leaks == 0 for row in rows.values())


def test_a_question_is_asked_with_the_rights_of_its_person_and_a_forbidden_answer_is_a_leak(desk: Desk) -> None:
    hidden, told = desk.case(SALARY, forbidden="30 days"), desk.case(SALARY, desk.board)
    leaking = desk.case(LEAVE, forbidden="30 days\n90,000")
    rows = {row.case_id: row for row in desk.run().results.all()}
    assert rows[told.pk].stop_reason == "ok"
    assert rows[hidden.pk].stop_reason != "ok"
    assert [rows[case.pk].leaks for case in (hidden, told, leaking)] == [0, 0, 1]
    looks = Entry.objects.filter(action=Action.ACCESS_PREVIEWED)
    assert {entry.on_behalf_of_name for entry in looks} == {desk.reader.username, "board"}
    assert not Message.objects.exists()
    assert {field.name for field in CaseResult._meta.fields} == {
        "id", "run", "case", "question", "claimed_at", "done_at", "stop_reason", "fault", "leaks", "cost", "duration_ms",
    }, "no text of an answer is kept"  # fmt: skip


def test_a_run_goes_on_where_a_worker_died_and_asks_nothing_twice(desk: Desk) -> None:
    first, second = desk.case(), desk.case("How many hours is a day?")
    run = start_run(desk.olga, desk.set.pk, language="en")
    run.results.filter(case=first).update(claimed_at=timezone.now())  # by a worker that is at it
    assert ask_next_question(run.pk) is True
    assert run.results.get(case=second).done_at
    assert ask_next_question(run.pk) is False  # nothing is free, and it is not over
    assert SetRun.objects.get(pk=run.pk).ended_at is None
    assert claim_stalled_runs() == []
    long_ago = timezone.now() - timedelta(minutes=11)
    SetRun.objects.update(queued_at=long_ago)
    assert claim_stalled_runs() == []  # somebody is at it
    run.results.filter(case=first).update(claimed_at=long_ago)
    assert claim_stalled_runs() == [run.pk]
    assert claim_stalled_runs() == []  # it was told
    ask_next_question(run.pk)
    assert SetRun.objects.get(pk=run.pk).ended_at
    assert Entry.objects.filter(action=Action.ACCESS_PREVIEWED).count() == 2


def test_a_run_is_stopped_and_ends_with_the_right_of_the_person_who_started_it(desk: Desk) -> None:
    case = desk.case()
    run = start_run(desk.olga, desk.set.pk, language="en")
    with pytest.raises(Conflict):
        start_run(desk.olga, desk.set.pk, language="en")
    with pytest.raises(Conflict):  # else the figures of the run would be of two sets
        change_case(desk.olga, desk.set.pk, case.pk, question=SALARY, person="board", is_answerable=None)
    stop_run(desk.olga, desk.set.pk, run.pk)
    assert ask_next_question(run.pk) is False
    change_case(desk.olga, desk.set.pk, case.pk, question=SALARY, person="board", is_answerable=None)
    assert kept(case)[:2] == (SALARY, "board")
    other = start_run(desk.olga, desk.set.pk, language="en")
    desk.olga.user_permissions.clear()
    assert ask_next_question(other.pk) is False
    assert SetRun.objects.get(pk=other.pk).stopped_at
    assert not CaseResult.objects.exclude(done_at=None).exists()


def test_two_runs_are_compared_with_what_changed_first(desk: Desk) -> None:
    same, changed = desk.case(LEAVE, answers="30 days"), desk.case(SALARY, is_answerable=False)
    before = desk.run()
    allow(desk.reader, desk.secret.folder.knowledge_base)
    after = desk.run()
    assert [(item.case, item.is_changed) for item in compare_runs(before, after)] == [(changed, True), (same, False)]
    figures = compute_run_figures([before, after])
    assert [(one.done, one.total, one.right, one.leaks) for one in figures] == [(2, 2, 2, 0), (2, 2, 1, 0)]
    page = text_of(client_of(desk.olga).get(reverse("evaluation-runs", args=[desk.set.pk])))
    assert "One question is different" in page
    assert "answered, though there is no answer" in page


def test_a_run_keeps_the_words_it_asked_when_its_question_is_changed(desk: Desk) -> None:
    case = desk.case(LEAVE)
    before = desk.run()
    change_case(desk.olga, desk.set.pk, case.pk, question=SALARY, person=desk.reader.username, is_answerable=None)
    after = desk.run()
    (line,) = compare_runs(before, after)
    assert (line.question_before, line.question) == (LEAVE, SALARY)
    (alone,) = compare_runs(before, None)
    assert (alone.question_before, alone.question) == ("", LEAVE)
    page = text_of(client_of(desk.olga).get(reverse("evaluation-runs", args=[desk.set.pk])))
    assert f"Before: {LEAVE}" in page


# --- where questions come from ---


def test_a_rated_answer_goes_into_a_set_by_a_button_and_leaves_with_its_conversation(desk: Desk) -> None:
    asked(desk.reader, LEAVE)
    message = Message.objects.get(role="assistant")
    Message.objects.filter(pk=message.pk).update(rating=Rating.HELPFUL)
    client, add = client_of(desk.olga), reverse("evaluate-answer", args=[message.pk])
    assert f'formaction="{add}"' in client.get(reverse("ratings")).content.decode()
    replay = client.get(reverse("replay", args=[message.pk])).content.decode()
    assert f'action="{add}"' in replay
    assert f'<option value="{desk.set.pk}">Leave' in replay
    answer = client.post(add, {"set": str(desk.set.pk), "from": "ratings"}, follow=True)
    assert "in the set now" in text_of(answer)
    case = Case.objects.get()
    assert (case.question, case.person, case.is_answerable) == (LEAVE, desk.reader, True)
    with pytest.raises(Conflict):
        add_answered_question(desk.olga, desk.set.pk, Message.objects.get(pk=message.pk))
    page = reverse("evaluation", args=[desk.set.pk])
    client.post(page, form_of(client, page, case) | {"question": "How long is the leave?"})
    assert Case.objects.get().message_id == message.pk
    for given in ({}, {"case": str(case.pk), "page": "2"}):
        last = Entry.objects.latest("pk").pk
        client.get(page, given)
        assert Entry.objects.get(action=Action.QUESTIONS_READ, pk__gt=last).detail == {"answers": [str(message.pk)]}
    message.session.delete()
    assert not Case.objects.exists()


# --- who may ---


def test_only_overseers_keep_sets(desk: Desk) -> None:
    case = desk.case()
    addresses = [
        reverse("evaluations"), reverse("evaluation", args=[desk.set.pk]), reverse("evaluation-runs", args=[desk.set.pk]),
    ]  # fmt: skip
    for person, status in ((staff("sam"), 403), (desk.reader, 302)):
        client = client_of(person)
        assert [client.get(address).status_code for address in addresses] == [status] * 3
        given = {"do": "change", "case": str(case.pk), "question": "Mine?", "person": person.username}
        for data in ({"do": "delete"}, {"do": "start"}, {"do": "remove", "case": str(case.pk)}, given, {"name": "x"}):
            assert client.post(addresses[1], data).status_code == status
        with pytest.raises(PermissionDenied):
            create_question_set(person, "mine")
        with pytest.raises(PermissionDenied):
            start_run(person, desk.set.pk, language="en")
        with pytest.raises(PermissionDenied):
            change_case(person, desk.set.pk, case.pk, question="Mine?", person=person.username, is_answerable=None)
    assert [one.name for one in QuestionSet.objects.all()] == ["Leave"]
    assert not SetRun.objects.exists()
    assert [one.question for one in Case.objects.all()] == [LEAVE]


# --- changing a question ---


def form_of(client: Any, page: str, case: Case) -> dict[str, str]:
    """What the page's form of one question sends when nothing is typed."""
    form = client.get(page, {"case": str(case.pk)}).context["case_form"]
    values = {field.html_name: field.value() for field in form}
    return {
        "do": "change",
        "case": str(case.pk),
        **{name: "" if value is None else str(value) for name, value in values.items()},
    }


def kept(case: Case) -> tuple[Any, ...]:
    row = Case.objects.get(pk=case.pk)
    return row.question, row.person.username, row.is_answerable, row.answers, row.documents, row.forbidden


def test_a_question_is_changed_in_the_form_it_was_made_with_and_recorded(desk: Desk) -> None:
    case, other = desk.case(LEAVE, answers="30 days\nthirty", documents="manual.md", is_answerable=True), desk.case()
    was = kept(other)
    client, page = client_of(desk.olga), reverse("evaluation", args=[desk.set.pk])
    assert f"?case={case.pk}&amp;page=1" in client.get(page).content.decode()
    sent = form_of(client, page, case)
    client.post(page, sent)
    assert kept(case) == (LEAVE, desk.reader.username, True, ["30 days", "thirty"], ["manual.md"], [])
    new = {"question": SALARY, "person": "board", "is_answerable": "0", "answers": "", "forbidden": "90,000"}
    answer = client.post(f"{page}?page=1", sent | new, follow=True)
    assert "The question is changed." in text_of(answer)
    assert answer.redirect_chain[0][0] == f"{page}?page=1"
    assert kept(case) == (SALARY, "board", False, [], ["manual.md"], ["90,000"])
    assert kept(other) == was
    entry = Entry.objects.filter(action=Action.EVALUATION_CHANGED).latest("pk")
    assert (entry.actor_name, entry.target_id, entry.detail) == (
        desk.olga.username, str(desk.set.pk), {"changed": 1, "case": str(case.pk)},
    )  # fmt: skip


UNFIT = [
    ({"person": "nobody-here"}, "nobody-here"),
    ({"question": " "}, "Question"),
    ({"question": "x" * 5000}, "Question"),
]


def test_a_changed_question_meets_the_checks_of_a_new_one(desk: Desk) -> None:
    case = desk.case()
    was, client, page = kept(case), client_of(desk.olga), reverse("evaluation", args=[desk.set.pk])
    for given, sentence in UNFIT:
        answer = client.post(page, form_of(client, page, case) | given)
        assert answer.status_code == 400
        assert sentence in text_of(answer)
        assert f'name="case" value="{case.pk}"' in answer.content.decode()  # what was typed stays in this form
        assert kept(case) == was


def test_a_question_of_another_set_is_not_changed_through_this_one(desk: Desk) -> None:
    case, other = desk.case(), create_question_set(desk.olga, "Other")
    page = reverse("evaluation", args=[other.pk])
    client = client_of(desk.olga)
    assert client.get(page, {"case": str(case.pk)}).status_code == 404
    assert client.get(page, {"case": "nonsense"}).status_code == 404
    with pytest.raises(NotFound):
        change_case(desk.olga, other.pk, case.pk, question="Mine?", person="board", is_answerable=None)
    assert kept(case)[0] == LEAVE


def test_sets_are_made_changed_and_deleted_on_their_pages(desk: Desk) -> None:
    client = client_of(desk.olga)
    assert "There is already a set with this name" in text_of(client.post(reverse("evaluations"), {"name": "Leave"}))
    page = reverse("evaluation", args=[desk.set.pk])
    assert "no questions yet" in text_of(client.post(page, {"do": "start"}))
    wrong = client.post(page, {"do": "add", "question": LEAVE, "person": "nobody-here"})
    assert wrong.status_code == 400
    assert "nobody-here" in text_of(wrong)
    given = {"do": "add", "question": LEAVE, "person": desk.reader.username, "is_answerable": "0"}
    added = client.post(page, given, follow=True).content.decode()
    assert 'id="question" open' in added, "for the next one"
    ids = re.findall(r'\sid="([^"]+)"', added)
    assert sorted(set(ids)) == sorted(ids)
    case = Case.objects.get(is_answerable=False)
    started = client.post(page, {"do": "start"}, follow=True)
    assert "0 of 1 asked" in text_of(started)
    client.post(page, {"do": "stop", "run": str(SetRun.objects.get().pk)})
    assert SetRun.objects.get().stopped_at
    client.post(page, {"do": "remove", "case": str(case.pk)})
    assert not Case.objects.exists()
    client.post(page, {"do": "delete"})
    assert not QuestionSet.objects.exists()


def test_a_file_of_questions_with_judgements_comes_in(desk: Desk) -> None:
    questions = (
        '{"id": "q1", "lang": "en", "kind": "glossary_term", "text": "Add-ons"}\n\n'
        '{"question": "Pay?", "person": "board", "answerable": false, "must_not": ["90,000"]}\n'
    )
    judgements = "query-id\tcorpus-id\tscore\nq1\ten/concepts/addons\t1\nq1\ten/other\t0\n"
    files = {
        "questions": SimpleUploadedFile("queries.jsonl", questions.encode()),
        "judgements": SimpleUploadedFile("qrels.tsv", judgements.encode()),
    }
    data = {"do": "upload", "person": desk.reader.username, **files}
    answer = client_of(desk.olga).post(reverse("evaluation", args=[desk.set.pk]), data, follow=True)
    assert "2 questions were added" in text_of(answer)
    rows = desk.set.cases.values_list("question", "person__username", "is_answerable", "documents", "forbidden")
    assert set(map(str, rows)) == {
        str(("Add-ons", desk.reader.username, None, ["en/concepts/addons"], [])),
        str(("Pay?", "board", False, [], ["90,000"])),
    }


WRONG = [
    ("", "", "no questions"),
    ("{", "", "Line 1 is not JSON"),
    ("[1]", "", "Line 1 is not an object"),
    ('{"text": " "}', "", "Line 1 has no question"),
    ('{"text": "a"}\n{"text": "%s"}' % ("x" * 5000), "", "line 2 is too long"),
    ('{"text": "a", "answerable": "yes"}', "", "true or false"),
    ('{"text": "a", "answers": "b"}', "", "is a list of texts"),
    ('{"text": "a"}', "head\nq1\tdoc\thigh", "Line 2 of the judgements"),
    ("\n".join(['{"text": "a"}'] * 2001), "", "at most 2000"),
]


def test_a_wrong_file_is_one_sentence_and_adds_nothing(desk: Desk) -> None:
    for questions, judgements, sentence in WRONG:
        with pytest.raises(InvalidInput, match=sentence):
            parse_question_lines(questions, judgements)
    with pytest.raises(InvalidInput):
        add_uploaded_questions(
            desk.olga, desk.set.pk, parse_question_lines('{"text": "a", "person": "nobody-here"}'), person="board"
        )
    assert not Case.objects.exists()
