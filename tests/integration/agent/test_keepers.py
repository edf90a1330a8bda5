"""Who looks after a document sees the questions about it that people let them see: exactly those, without names, while they may read it."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from agent.models import Message
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import LEAVE, asked, stored
from tests.integration.pages.house import client_of
from tests.sharing import Share

pytestmark = pytest.mark.django_db
NOTICE = "How many weeks is the notice period?"
TEXTS = {
    LEAVE: "# Leave\n\nEmployees have 30 days of annual leave in each calendar year.\n",
    NOTICE: "# Notice\n\nThe notice period is six weeks to the end of a quarter.\n",
}


class House:
    """Two bases with a document each, about which Anna has asked. People by what they hold on the base of leave."""

    def __init__(self) -> None:
        self.bases = {question: make_base() for question in TEXTS}
        for question, text in TEXTS.items():
            make_document(self.bases[question], "rules.md", text, ingested=True)
        self.base = self.bases[LEAVE]
        self.anna = make_user("anna")
        for base in self.bases.values():
            allow(self.anna, base)
        rights = {
            "keeper": (Right.VIEW, Right.MANAGE),
            "editor": (Right.VIEW, Right.CHANGE, Right.ADD),
            "blind": (Right.MANAGE,),
        }
        self.people = {name: make_user(f"the-{name}") for name in (*rights, "stranger")}
        for name, held in rights.items():
            allow(self.people[name], self.base, *held)
        self.people |= {"anna": self.anna, "root": User.objects.create_superuser("root")}
        self.rows = {question: stored(asked(self.anna, question)) for question in TEXTS}

    def rate(self, question: str = LEAVE, *, by: User | None = None, **given: str) -> int:
        row = self.rows[question]
        address = reverse("feedback", args=[row.session_id, row.pk])
        return client_of(by or self.anna).post(address, {"rating": "not_helpful", **given}).status_code

    def told(self) -> dict[str, set[str]]:
        """Person → the questions they are shown; those who are shown none are left out."""
        found = {
            name: {item.question for item in client_of(person).get(reverse("kept-questions")).context["questions"]}
            for name, person in self.people.items()
        }
        return {name: questions for name, questions in found.items() if questions}


@pytest.fixture(scope="module")
def shared_house(share: Share) -> Callable[[], House]:
    return share(House)


@pytest.fixture
def house(shared_house: Callable[[], House], db: None) -> House:
    return shared_house()


def test_only_who_manages_and_reads_the_document_sees_what_was_allowed_and_as_long(house: House) -> None:
    house.rate(comment="It is 31 by now.")
    assert house.told() == {}, "off by default"
    assert not Entry.objects.filter(action=Action.RATINGS_READ).exists(), "nothing was shown"
    house.rate(comment="It is 31 by now.", is_shown_to_keepers="on")
    assert house.told() == {"keeper": {LEAVE}}
    entry = Entry.objects.get(action=Action.RATINGS_READ)
    assert (entry.actor_name, entry.detail["answers"]) == ("the-keeper", [str(house.rows[LEAVE].pk)])
    assert LEAVE not in str(entry.detail)
    house.rate(NOTICE, is_shown_to_keepers="on")
    keeper = house.people["keeper"]
    allow(keeper, house.bases[NOTICE], Right.VIEW, Right.MANAGE)
    mine = client_of(keeper).get(reverse("kept-questions")).context["questions"]
    assert {question.question for question in mine} == {LEAVE, NOTICE}
    allow(house.people["editor"], house.base, Right.MANAGE)  # a place keeps a manager
    revoke_rights(None, (Right.VIEW,), house.base, of=keeper)
    revoke_rights(None, (Right.MANAGE,), house.bases[NOTICE], of=keeper)
    assert house.told() == {"editor": {LEAVE}}


@pytest.mark.parametrize("given", [{"comment": "It is 31 by now."}, {"rating": ""}])
def test_it_can_be_taken_back(house: House, given: dict[str, str]) -> None:
    house.rate(comment="It is 31 by now.", is_shown_to_keepers="on")
    house.rate(LEAVE, by=house.anna, **given)
    assert not client_of(house.people["keeper"]).get(reverse("kept-questions")).context["questions"]
    entries = Entry.objects.filter(action=Action.ANSWER_RATED).order_by("id")
    assert [entry.detail["is_shown_to_keepers"] for entry in entries] == [True, False]


def test_nobody_allows_it_for_another_and_nothing_is_shown_without_a_rating(house: House) -> None:
    assert house.rate(by=house.people["keeper"], is_shown_to_keepers="on") == 404
    assert house.rate(rating="", is_shown_to_keepers="on") == 400
    assert not Message.objects.filter(is_shown_to_keepers=True).exists()


def test_the_form_asks_and_the_page_of_keepers_names_neither_person_nor_answer(house: House) -> None:
    def box() -> tuple[int, int]:
        page = client_of(house.anna).get(reverse("conversation", args=[house.rows[LEAVE].session_id])).content.decode()
        return page.count('name="is_shown_to_keepers"'), page.count('name="is_shown_to_keepers" checked')

    house.rate()
    assert box() == (1, 0)
    house.rate(fault="outdated", comment="It is 31 <b>by now</b>.", is_shown_to_keepers="on")
    assert box() == (1, 1)
    page = client_of(house.people["keeper"]).get(reverse("kept-questions")).content.decode()
    assert LEAVE in page
    assert "It is 31 &lt;b&gt;by now&lt;/b&gt;." in page
    assert "outdated" in page
    assert "anna" not in page
    assert "30 days" not in page
    led = {
        name
        for name, person in house.people.items()
        if reverse("kept-questions") in client_of(person).get(reverse("library")).content.decode()
    }
    assert led == {"keeper", "blind"}
