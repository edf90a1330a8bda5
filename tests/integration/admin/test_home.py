"""The first page of the administration: who is told what waits, how questions ended, what they cost and whether the system is well."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy

from agent.events import StopReason
from agent.models import DayOfUse, Message, MessageRole, Rating, Session
from agent.oversight.statistics import SLOW_MS, compute_costs, compute_speed, count_questions_by_day
from audit.actions import Action, Outcome
from audit.record import record_action
from authz.people.units import add_member, create_unit
from authz.principal import Principal
from copilot_site.admin_home import lights as home_lights
from copilot_site.admin_home.log import build_log_home
from copilot_site.admin_home.waiting import list_waiting_work
from copilot_site.check_result import CheckResult
from copilot_site.lib import slow_statements
from knowledge.library import count_due_reviews
from knowledge.models import Document, DocumentVersion, ParseStatus, Source, SourceRun, SourceRunState, Trigger
from tests.factories import make_document, make_user
from tests.integration.governance.world import World, client_of, make_overseer, staff, text_of
from tests.sharing import share_world

pytestmark = pytest.mark.django_db
NO_MODEL = {"spent": {"cost": "0"}, "versions": {"model": ""}}


def answered(
    user: User, question: str = "How long is leave?", stop_reason: str = StopReason.OK, **fields: Any
) -> Message:
    """An answer with its question before it. days_ago: of both."""
    days_ago = fields.pop("days_ago", 0)
    session = Session.objects.create(user=user)
    asked = Message.objects.create(session=session, role=MessageRole.USER, content=question)
    answer = Message.objects.create(
        session=session, parent=asked, role=MessageRole.ASSISTANT, stop_reason=stop_reason, **fields
    )
    Message.objects.filter(pk=answer.pk).update(created_at=timezone.now() - timedelta(days=days_ago))
    return answer


def waits(user: User) -> dict[str, int]:
    """Address of a list → how many wait there."""
    return {line.url.partition("?")[0]: line.count for line in list_waiting_work(user)}


shared_world, world = share_world("world", World)


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    cache.delete(home_lights.CACHE_KEY)
    yield
    cache.delete(home_lights.CACHE_KEY)


def test_each_is_told_what_waits_in_the_places_they_govern(world: World) -> None:
    for document, status in ((world.salaries, ParseStatus.FAILED), (world.house_rules, ParseStatus.FAILED)):
        document.versions.update(parse_status=status, failure={"code": "empty", "params": {}})
    DocumentVersion.unscoped.filter(document=world.travel_rules).update(created_at=timezone.now() - timedelta(hours=2))
    for person in (world.anna, world.ben, world.mia):
        answered(person, stop_reason=StopReason.NO_EVIDENCE)
    answered(world.anna, "Who waters the plants?", StopReason.NO_EVIDENCE)  # of one person: its page does not show it
    answered(world.anna, rating=Rating.NOT_HELPFUL)
    ingestion, written, rated = reverse("ingestion"), reverse("gaps"), reverse("ratings")
    assert waits(world.root) == {ingestion: 1, rated: 1, written: 3}  # the last of two lines with one address
    assert [line.count for line in list_waiting_work(world.boss)] == [2, 1]
    assert [line.count for line in list_waiting_work(world.mia)] == [1, 1]
    assert waits(staff("sam")) == {}
    assert waits(make_overseer()) == {rated: 1, written: 3}


def test_the_page_shows_numbers_of_answers_to_overseers_and_of_the_system_to_administrators_alone(world: World) -> None:
    answered(world.anna)
    shown = {}
    for person in (world.root, make_overseer(), world.boss):
        body = client_of(person).get(reverse("admin:index")).content.decode()
        shown[person.username] = (
            'id="questions-title"' in body, 'id="costs-title"' in body, 'id="health"' in body,
        )  # fmt: skip
    assert shown == {"root": (True, True, True), "olga": (True, False, False), "boss": (False, False, False)}


def test_days_count_each_ending_and_each_number_opens_exactly_its_answers(overseer: User) -> None:
    anna = make_user("anna")
    made = {
        "ok": answered(anna, duration_ms=SLOW_MS),
        "found": answered(anna, state={"output": {"kind": "passages"}}, duration_ms=1_000),
        "none": answered(anna, stop_reason=StopReason.NO_EVIDENCE),
        "denied": answered(anna, stop_reason=StopReason.PERMISSION_DENIED),
        "asked back": answered(anna, stop_reason=StopReason.NEED_CLARIFY),
        "running": answered(anna, stop_reason="", is_complete=False),
        "older": answered(anna, days_ago=20),
        "yesterday": answered(anna, days_ago=1),
    }
    yesterday, today = count_questions_by_day()[-2:]
    assert (today.counts, today.slow) == ({"answered": 1, "passages": 1, "nothing": 2, "other": 1}, 1)
    assert (yesterday.counts["answered"], yesterday.total) == (1, 1)
    assert sum(day.total for day in count_questions_by_day()) == 6

    def listed(query: str) -> set[Any]:
        page = client_of(overseer).get(f"{reverse('answers')}?{query}")
        return {row.pk for row, _seconds in page.context["lines"]}

    assert listed(f"day={today.day}&ending=nothing") == {made["none"].pk, made["denied"].pk}
    assert listed(f"day={today.day}&slow=on") == {made["ok"].pk}
    assert listed(f"day={yesterday.day}&ending=answered") == {made["yesterday"].pk}
    assert listed("days=14&slow=on") == {made["ok"].pk}
    assert listed("day=nonsense&ending=superb&days=x") == {row.pk for row in made.values()}
    assert (compute_speed().median_s, compute_speed().slow) == (5.5, 1)


def test_costs_by_unit_and_model_with_the_limit(world: World, settings: Any) -> None:
    settings.LLM = {**settings.LLM, "day_cost": Decimal(2)}
    today = timezone.localdate()
    add_member(None, create_unit(None, name="Sales"), user=world.ben)
    for user, day, cost in (
        (world.anna, today, 2),
        (world.ben, today, 1),
        (world.mia, today, 1),
        (world.mia, today - timedelta(days=30), 9),
    ):
        DayOfUse.objects.create(user=user, day=day, runs=1, cost=Decimal(cost))
    answered(world.anna, state={"spent": {"cost": "1.5"}, "versions": {"model": "big"}})
    answered(world.anna, state={"spent": {"cost": "0.25"}, "versions": {"model": "small"}})
    answered(world.anna, state={"spent": {"cost": "0.5"}, "versions": {"model": "big"}})
    answered(world.anna, state=NO_MODEL)
    found = compute_costs()
    assert found.by_unit == (("Platform", Decimal(2)), ("", Decimal(1)), ("Sales", Decimal(1)))
    assert found.by_model == (("big", Decimal(2)), ("small", Decimal("0.25")))
    assert (found.total, found.limit, found.most_today) == (Decimal(4), Decimal(2), Decimal(2))
    assert found.at_limit == 1


def test_lights_say_what_does_not_work_and_how_to_mend_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"Disk": CheckResult("Disk", True, "much"), "Model": CheckResult("Model", False, "gone", "Load it.")}
    areas = (
        home_lights.HealthArea("disk", gettext_lazy("Disk"), (lambda: found["Disk"],), figure=lambda: "80 GB"),
        home_lights.HealthArea("both", gettext_lazy("Both"), (lambda: [found["Disk"], found["Model"]],), "ingestion"),
        home_lights.HealthArea(
            "less", gettext_lazy("Less"), (lambda: CheckResult("Words", False, "none", optional=True),)
        ),
    )
    monkeypatch.setattr(home_lights, "AREAS", areas)
    seen = [(light.level, light.figure, light.url) for light in home_lights.list_lights()]
    assert seen == [("well", "80 GB", ""), ("failed", "1 / 2", reverse("ingestion")), ("check", "0 / 1", "")]
    text = text_of(client_of(world.root).get(reverse("system-health")))
    assert "Model: gone Load it." in text
    found["Model"] = CheckResult("Model", True, "there")
    assert "gone" in text_of(client_of(world.root).get(reverse("system-health")))
    assert "gone" not in text_of(client_of(world.root).get(reverse("system-health"), {"again": "1"}))


def test_only_administrators_of_the_system_see_its_parts(world: World) -> None:
    for person in (world.boss, make_overseer()):
        assert client_of(person).get(reverse("system-health")).status_code == 403


def test_the_doctor_looks_at_every_area_of_the_home(world: World) -> None:
    """Each check of an area is one that gives findings with a name and a sentence."""
    make_document(world.rules)
    for area in home_lights.AREAS:
        if area.key not in {"services", "search", "audit", "storage"}:  # those ask what tests have no installation of
            assert all(finding.name and finding.detail for finding in home_lights._run_area_checks(area)), area.key


@pytest.mark.parametrize(("state", "count"), [(SourceRunState.PARTIAL, 1), (SourceRunState.DONE, 0)])
def test_a_source_that_was_not_read_waits_for_its_keepers(world: World, state: SourceRunState, count: int) -> None:
    source = Source.unscoped.create(name="Wiki", kind="folder", folder=world.rules)
    SourceRun.objects.create(source=source, trigger=Trigger.HAND, state=SourceRunState.FAILED)
    SourceRun.objects.create(source=source, trigger=Trigger.HAND, state=state)
    address = reverse("sources-of-documents")
    assert waits(world.root).get(address, 0) == count
    assert waits(world.boss).get(address, 0) == count
    assert address not in waits(staff("sam"))
    Source.unscoped.update(is_active=False)
    assert address not in waits(world.root)


def test_a_part_that_is_not_set_up_is_not_called_well(world: World, settings: Any) -> None:
    settings.MAIL_IS_SET_UP = False
    mail = next(light for light in home_lights.list_lights(again=True) if str(light.name) == "Mail")
    assert (mail.level, mail.figure) == (home_lights.Level.OFF, "–")
    models = next(light for light in home_lights.list_lights() if str(light.name) == "Language models")
    assert (models.level, models.figure) == (home_lights.Level.OFF, "–")


def test_an_administrator_of_the_system_sees_what_takes_long(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, quick = answered(world.root, duration_ms=SLOW_MS), answered(world.root, duration_ms=SLOW_MS - 1)
    with monkeypatch.context() as patch, connection.cursor() as cursor:
        patch.setattr(slow_statements, "SLOW_S", 0.0)
        cursor.execute("SELECT %s AS of_this_test", ["value"])
    page = client_of(world.root).get(reverse("slow-work")).content.decode()
    assert reverse("replay", args=[slow.pk]) in page
    assert reverse("replay", args=[quick.pk]) not in page
    assert "SELECT %s AS of_this_test" in page
    for person in (world.boss, make_overseer()):
        assert client_of(person).get(reverse("slow-work")).status_code == 403


# --- What an auditor finds first, whom a review reminds, whom the demo's sign-in page lists, and the way back from
# the API's page ---


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
        record_action(None, action, outcome=outcome)
    numbers = build_log_home().numbers
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
    assert {user.username: count_due_reviews(Principal.of(user)) for user in (world.anna, world.ben, world.root)} == {
        "anna": 1, "ben": 0, "root": 0,
    }  # fmt: skip
    library = client_of(world.anna).get(reverse("library")).content.decode()
    assert "state=review&amp;owner=anna" in library
    address = reverse("admin:knowledge_document_changelist")
    waits = {
        person.username: next((item.count for item in list_waiting_work(person) if item.url.startswith(address)), 0)
        for person in (world.root, world.boss, world.mia, staff("sam"))
    }
    assert waits == {"root": 2, "boss": 2, "mia": 1, "sam": 0}
    (line,) = [item for item in list_waiting_work(world.root) if item.url.startswith(address)]
    assert client_of(world.root).get(line.url).context["cl"].result_count == 2
