"""Saved questions: kept, opened again, shared under the reader's own rights, and hidden with what they name."""

import html

from django.contrib.auth.models import User

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from business.models import DataSource, SavedQuery
from business.sources.grants import grant, revoke_right
from tests.factories import make_user
from tests.integration.business.explored import listed, names_in, page, save, sentence
from tests.integration.governance.world import client_of


def test_a_question_is_kept_opened_shared_and_deleted(nora: User, described: DataSource) -> None:
    client = client_of(nora)
    address = save(client, "  Last   month ", "metric=sale.revenue&when=month:-1:-1&by=customer.segment").url
    saved = SavedQuery.unscoped.get()
    assert (saved.name, address) == ("Last month", f"/data/saved/{saved.pk}/")
    assert saved.query["times"] == [{"period": {"unit": "month", "first": -1, "last": -1}}], (
        "relative times stay relative"
    )
    text = page(nora, address)
    assert "<h1>Last month</h1>" in text
    assert "Revenue" in sentence(text)
    other = make_user("nils", groups=[nora.groups.get()])
    assert page(other, address, status=404)
    assert client_of(other).post(f"{address}delete/").status_code == 404
    client.post(f"{address}share/", {"shared": "on"})
    assert "Saved and shared by nora" in page(other, address)
    assert "Last month" in page(other, "/data/")
    assert client_of(other).post(f"{address}delete/").status_code == 403
    assert client_of(other).post(f"{address}share/", {"shared": ""}).status_code == 403
    client.post(f"{address}share/", {"shared": ""})
    assert page(other, address, status=404)
    assert "Last month" not in page(other, "/data/")
    client.post(f"{address}delete/")
    assert not SavedQuery.unscoped.exists()
    told = Entry.objects.filter(action__startswith="query.").order_by("pk").values_list("action", "actor_name")
    assert list(told) == [
        (action.value, "nora")
        for action in (Action.QUERY_SAVED, Action.QUERY_SHARED, Action.QUERY_UNSHARED, Action.QUERY_DELETED)
    ]
    assert not Entry.objects.filter(target_name__contains="Last month").exists()


def test_what_cannot_be_kept_says_why(nora: User) -> None:
    client = client_of(nora)
    save(client, "taken", "metric=sale")
    for name, fields, why in (
        ("n" * 101, "metric=sale", "Give it a name"),
        ("taken", "metric=sale", "under this name"),
        ("new", "metric=sale&share=1", "A share of all needs"),
        ("new", "", "Choose what to show."),
    ):
        answer = client.post("/data/save/", {"source": "shop", "fields": fields, "name": name}, follow=True)
        assert why in html.unescape(answer.content.decode()), name
        assert SavedQuery.unscoped.count() == 1


def test_a_shared_question_runs_under_the_reader_s_rights_and_names_nothing_they_may_not_ask(
    nora: User, sam: User
) -> None:
    client = client_of(nora)
    questions = {
        "by segment": "metric=sale&by=customer.segment",
        "with a region": "metric=sale&field0=region.label&op0=in&value0=East",
        "customers": "metric=list:customer",
        "paid": "metric=sale&field0=sale.is_paid&op0=in&value0=true",
    }
    for name, fields in questions.items():
        client.post(save(client, name, fields).url + "share/", {"shared": "on"})
    assert listed(nora) == set(questions)
    assert listed(sam) == {"paid", "with a region"}
    paths = {row.name: f"/data/saved/{row.pk}/" for row in SavedQuery.unscoped.all()}
    hidden = {page(sam, paths[name], status=404) for name in questions if name not in listed(sam)}
    assert hidden == {page(sam, "/data/saved/00000000-0000-0000-0000-000000000000/", status=404)}
    outsider = make_user("otto")
    nothing = page(outsider, "/data/saved/00000000-0000-0000-0000-000000000000/", status=404)
    assert page(outsider, paths["paid"], status=404) == nothing
    mine, theirs = page(nora, paths["paid"]), page(sam, paths["paid"])
    assert ("IN ('North')" in mine, "IN ('South')" in mine) == (True, False)
    assert ("IN ('North')" in theirs, "IN ('South')" in theirs) == (False, True)


def test_a_question_with_the_name_of_a_row_cannot_be_shared(nora: User, described: DataSource) -> None:
    client = client_of(nora)
    other = make_user("nils")
    grant(None, described, to=other)
    address = save(client, "one", "metric=sale&field0=customer.name&op0=in&value0=Customer 2").url
    answer = client.post(f"{address}share/", {"shared": "on"}, follow=True)
    assert "“Customer 2” may be a name that" in html.unescape(answer.content.decode())
    assert page(other, address, status=404)
    SavedQuery.unscoped.update(is_shared=True)  # as where the layer was changed since
    assert page(other, address, status=404)
    assert listed(other) == set()


def test_one_s_own_question_that_is_not_available_any_more_says_only_that(nora: User, described: DataSource) -> None:
    client = client_of(nora)
    address = save(client, "mine", "metric=sale&by=customer.segment").url
    revoke_right(None, described, of=nora.groups.get())
    grant(None, described, to=nora, table="sale")
    text = page(nora, "/data/")
    assert "mine" in text
    assert "not available" in text
    assert names_in(text) == {"revenue", "shop"}
    assert page(nora, address, status=404)
    assert client.post(f"{address}delete/").status_code == 302


def test_managing_a_source_shows_no_question_of_others(nora: User, described: DataSource) -> None:
    address = save(client_of(nora), "mine", "metric=sale").url
    steward, root = make_user("stew"), make_user("root", is_superuser=True)
    grant(None, described, to=steward, right=Right.MANAGE)
    for person in (steward, root):
        assert page(person, address, status=404)
        assert client_of(person).post(f"{address}delete/").status_code == 404
