"""Rights on several documents at once: shown with whom they touch, made on all of them, and only on those that one governs."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from authz.principal import Principal
from knowledge.models import Document
from tests.factories import make_user
from tests.integration.governance.world import World, client_of, staff, text_of

pytestmark = pytest.mark.django_db


def address(*documents: Document) -> str:
    return f"{reverse('rights-several')}?{urlencode([('documents', document.pk) for document in documents])}"


def give(by: User, *documents: Document, **more: Any) -> Any:
    form = {"what": "give", "holder_kind": "user", "holder": "guest", "rights": ["view"]}
    return client_of(by).post(
        reverse("rights-several"), {**form, "documents": [document.pk for document in documents], **more}
    )


def seen_by(user: User) -> set[str]:
    return set(Document.objects.visible_to(Principal.of(user)).values_list("filename", flat=True))


def test_rights_are_given_on_each_chosen_document_once_they_are_confirmed(world: World) -> None:
    guest = make_user("guest")
    asked = give(world.boss, world.travel_rules, world.salaries)
    assert seen_by(guest) == set()
    assert [person.person.username for person in asked.context["effects"].people] == ["guest"]
    done = give(world.boss, world.travel_rules, world.salaries, confirmed=asked.context["effects"].fingerprint)
    assert done.status_code == 302
    assert seen_by(guest) == {"travel.md", "pay.md"}
    taken = give(world.boss, world.salaries, what="take_back")
    give(world.boss, world.salaries, what="take_back", confirmed=taken.context["effects"].fingerprint)
    assert seen_by(guest) == {"travel.md"}


def test_a_document_that_others_govern_stays_as_it_is_and_is_only_counted(world: World) -> None:
    guest = make_user("guest")
    page = client_of(world.mia).get(address(world.house_rules, world.salaries))
    assert [item.filename for item in page.context["documents"]] == ["house.md"]
    assert page.context["left_out"] == 1
    assert "Salaries" not in text_of(page)
    asked = give(world.mia, world.house_rules, world.salaries)
    give(world.mia, world.house_rules, world.salaries, confirmed=asked.context["effects"].fingerprint)
    assert seen_by(guest) == {"house.md"}


def test_whoever_governs_none_of_them_finds_nothing(world: World) -> None:
    make_user("guest")
    stranger = staff("sam")
    for by, documents in ((stranger, (world.house_rules, world.salaries)), (world.mia, (world.salaries,))):
        assert client_of(by).get(address(*documents)).status_code == 404
        assert give(by, *documents).status_code == 404


@pytest.mark.parametrize("fault", [{"holder": "nobody"}, {"what": "break"}])
def test_what_cannot_be_done_is_said_and_nothing_is_changed(world: World, fault: dict[str, Any]) -> None:
    guest = make_user("guest")
    answer = give(world.boss, world.house_rules, world.salaries, **fault)
    assert answer.status_code == 400
    assert seen_by(guest) == set()
