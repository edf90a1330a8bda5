"""What an auditor finds first, whom a review reminds, whom the demo's sign-in page lists, and the way back from the API's page."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from audit.actions import Action, Outcome
from audit.record import record
from authz.principal import Principal
from copilot_site.admin_home.log import log_home
from copilot_site.admin_home.waiting import waiting_for
from knowledge.library import reviews_due
from knowledge.models import Document
from tests.integration.governance.world import World, client_of, staff

pytestmark = pytest.mark.django_db


def auditor() -> User:
    person = staff("audrey")
    person.user_permissions.add(Permission.objects.get(codename="view_entry"))
    return User.objects.get(pk=person.pk)


def test_each_number_of_the_log_opens_exactly_its_entries() -> None:
    audrey = auditor()
    for action, outcome in (
        (Action.ACCESS_DENIED, Outcome.DENY),
        (Action.SEARCHED, Outcome.ERROR),
        (Action.ACCESS_PREVIEWED, Outcome.ALLOW),
        (Action.GRANT_GIVEN, Outcome.ALLOW),
        (Action.GRANT_REVOKED, Outcome.ALLOW),
        (Action.DENIAL_GIVEN, Outcome.ALLOW),
        (Action.INHERITANCE_BROKEN, Outcome.ALLOW),
        (Action.AUDIT_EXPORTED, Outcome.ALLOW),
    ):
        record(None, action, outcome=outcome)
    numbers = log_home().numbers
    assert [one.count for one in numbers] == [1, 1, 1, 4, 1]
    client = client_of(audrey)
    for one in numbers:
        page = client.get(one.url)
        assert page.status_code == 200, one.url
        assert page.context["cl"].result_count == one.count, one.url


def test_the_log_is_on_the_home_of_whoever_may_read_it_alone() -> None:
    world = World()
    shown = {
        person.username: 'id="log-title"' in client_of(person).get(reverse("admin:index")).content.decode()
        for person in (auditor(), world.boss)
    }
    assert shown == {"audrey": True, "boss": False}


def test_what_needs_the_right_to_oversee_says_whom_to_ask_and_is_offered_to_nobody_else() -> None:
    client = client_of(auditor())
    home = client.get(reverse("admin:index")).content.decode()
    for name in ("see-as-choose", "answers", "ratings", "gaps", "evaluations"):
        page = client.get(reverse(name))
        assert page.status_code == 403, name
        assert "needs the right to oversee. Ask an administrator for it." in page.content.decode(), name
        assert "folder" not in page.content.decode().partition("<main")[2].partition("</main>")[0].lower(), name
        assert f'href="{reverse(name)}"' not in home, name


def test_a_date_of_review_that_has_passed_reminds_owners_and_whoever_governs() -> None:
    world = World()
    past, ahead = timezone.localdate() - timedelta(days=1), timezone.localdate() + timedelta(days=1)
    Document.unscoped.filter(pk=world.travel_rules.pk).update(owner=world.anna, review_on=past)
    Document.unscoped.filter(pk=world.salaries.pk).update(owner=world.anna, review_on=past)  # which she may not read
    Document.unscoped.filter(pk=world.house_rules.pk).update(owner=world.anna, review_on=ahead)
    assert {user.username: reviews_due(Principal.of(user)) for user in (world.anna, world.ben, world.root)} == {
        "anna": 1, "ben": 0, "root": 0,
    }  # fmt: skip
    library = client_of(world.anna).get(reverse("library")).content.decode()
    assert "state=review&amp;owner=anna" in library
    address = reverse("admin:knowledge_document_changelist")
    waits = {
        person.username: next((item.count for item in waiting_for(person) if item.url.startswith(address)), 0)
        for person in (world.root, world.boss, world.mia, staff("sam"))
    }
    assert waits == {"root": 2, "boss": 2, "mia": 1, "sam": 0}
    (line,) = [item for item in waiting_for(world.root) if item.url.startswith(address)]
    assert client_of(world.root).get(line.url).context["cl"].result_count == 2
