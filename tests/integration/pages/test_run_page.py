"""How an answer was made: its steps, scores and cost, under the rights of whoever looks, on the day they look."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from agent.models import Message
from authz.permissions import Right
from authz.rights.grants import take_back
from tests.factories import allow, make_base, make_document
from tests.integration.agent.conversations import LEAVE, asked, make_library, make_reader, stored
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.integration.governance.world import staff
from tests.integration.pages.house import client_of
from tests.modelserver import says

pytestmark = pytest.mark.django_db


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
    take_back(None, [Right.VIEW], other, of=reader)
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
