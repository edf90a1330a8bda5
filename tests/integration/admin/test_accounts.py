"""Accounts and groups in the admin: for superusers, through services, recorded, and never so that nobody is left to govern."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.models import UnitKind
from authz.people.accounts import change_account, create_account, delete_account
from authz.people.roles import create_role
from authz.people.units import add_member, create_unit
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, PermissionDenied
from knowledge.models import KnowledgeBase
from knowledge.services import access
from tests.factories import make_base, make_group, make_user

pytestmark = pytest.mark.django_db

NOBODY_MANAGES = "This would leave “Handbook” without a manager"
NOBODY_GOVERNS = "This would leave the system without an administrator"


@pytest.fixture
def root() -> User:
    return make_user("root", is_superuser=True)


@pytest.fixture
def client(root: User) -> Client:
    client = Client()
    client.force_login(root)
    return client


def managed(*, by: User | Group) -> KnowledgeBase:
    """A base of its own whose only manager this is."""
    base = KnowledgeBase.unscoped.filter(name="Handbook").first() or make_base("Handbook")
    access.grant_place_rights(None, [Right.MANAGE], base, to=by)
    for keeper in User.objects.filter(username="keeper"):
        access.revoke_place_rights(None, Right, base, of=keeper)
    return base


def account_form(user: User, **changed: Any) -> dict[str, Any]:
    """What the page of an account sends; False leaves a box empty."""
    fields = ("username", "first_name", "last_name", "email", "is_active", "is_staff", "is_superuser")
    form = {name: getattr(user, name) for name in fields} | {"user_permissions": []} | changed
    return {name: value for name, value in form.items() if value is not False}


def saved(client: Client, user: User, **changed: Any) -> str:
    """Save the page, and once more where it asks whether that is meant; returns the text of the page that follows."""
    url, form = reverse("admin:auth_user_change", args=[user.pk]), account_form(user, **changed)
    answer: Any = client.post(url, form, follow=True)
    if effects := (answer.context or {}).get("effects"):
        answer = client.post(url, form | {"confirmed": effects.fingerprint}, follow=True)
    assert answer.status_code == 200
    return str(answer.content.decode())


def recorded(action: Action) -> list[Entry]:
    return list(Entry.objects.filter(action=action).order_by("id"))


def test_disabling_and_enabling_are_recorded_as_such(client: Client) -> None:
    anna = make_user("anna")
    saved(client, anna, is_active=False)
    assert len(recorded(Action.USER_DISABLED)) == 1
    anna.refresh_from_db()
    saved(client, anna, is_active=True)
    assert len(recorded(Action.USER_ENABLED)) == 1
    assert recorded(Action.USER_CHANGED) == []


def test_a_change_of_an_account_is_recorded_by_its_fields_and_permissions(client: Client) -> None:
    anna, may_read, group = make_user("anna"), Permission.objects.get(codename="view_entry"), make_group()
    saved(client, anna, email="anna@example.com", user_permissions=[may_read.pk], groups=[group.pk])
    assert set(anna.user_permissions.all()) == {may_read}
    assert not anna.groups.exists(), "groups are joined elsewhere"
    details = [entry.detail for entry in recorded(Action.USER_CHANGED)]
    assert {"fields": ["email"]} in details
    assert {"permissions": ["view_entry"], "taken": []} in details


def test_a_new_account_a_password_and_a_deletion_are_recorded(client: Client) -> None:
    words = {"password1": "correct-horse-7", "password2": "correct-horse-7", "usable_password": "true"}
    answer = client.post(reverse("admin:auth_user_add"), {"username": "nina", **words})
    nina = User.objects.get(username="nina")
    assert answer.status_code == 302
    assert len(recorded(Action.USER_CREATED)) == 1
    changed = {name: value.replace("7", "8") for name, value in words.items()}
    assert client.post(reverse("admin:auth_user_password_change", args=[nina.pk]), changed).status_code == 302
    nina.refresh_from_db()
    assert nina.check_password("correct-horse-8")
    assert [entry.target_id for entry in recorded(Action.PASSWORD_CHANGED)] == [str(nina.pk)]
    client.post(reverse("admin:auth_user_delete", args=[nina.pk]), {"post": "yes"})
    assert not User.objects.filter(username="nina").exists()
    assert len(recorded(Action.USER_DELETED)) == 1


@pytest.mark.parametrize("through", ["name", "unit above"])
def test_the_last_manager_of_a_place_stays_enabled(client: Client, root: User, through: str) -> None:
    anna = make_user("anna")
    if through == "unit above":
        above = create_unit(None, name="Engineering")
        add_member(None, create_unit(None, name="Platform", parent=above), user=anna)
        managed(by=above.group)
    else:
        managed(by=anna)
    assert NOBODY_MANAGES in saved(client, anna, is_active=False)
    client.post(reverse("admin:auth_user_delete", args=[anna.pk]), {"post": "yes"})
    anna.refresh_from_db()
    assert anna.is_active
    assert recorded(Action.USER_DISABLED) == []
    managed(by=make_user("mia"))
    saved(client, anna, is_active=False)
    anna.refresh_from_db()
    assert not anna.is_active


def test_the_last_administrator_stays_one(client: Client, root: User) -> None:
    for change in ({"is_active": False}, {"is_superuser": False}):
        assert NOBODY_GOVERNS in saved(client, root, **change)
    root.refresh_from_db()
    assert (root.is_active, root.is_superuser) == (True, True)
    with pytest.raises(InvalidInput, match=NOBODY_GOVERNS):
        delete_account(Principal.of(root), User.objects.get(pk=root.pk))


def test_only_superusers_change_accounts_and_groups() -> None:
    staff = make_user("staff")
    User.objects.filter(pk=staff.pk).update(is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(content_type__app_label="auth"))
    client = Client()
    client.force_login(staff)
    for name in ("auth_user", "auth_group"):
        assert client.get(reverse(f"admin:{name}_changelist")).status_code == 403
    assert client.post(reverse("admin:auth_user_change", args=[staff.pk]), {"is_superuser": "on"}).status_code == 403
    with pytest.raises(PermissionDenied):
        change_account(Principal.of(staff), staff, changed={"is_superuser"})
    with pytest.raises(PermissionDenied):
        create_account(Principal.of(staff), User(username="other"))


def test_plain_groups_are_made_renamed_and_deleted_with_a_record(client: Client) -> None:
    client.post(reverse("admin:auth_group_add"), {"name": "writers", "permissions": []})
    group = Group.objects.get(name="writers")
    may_read = Permission.objects.get(codename="view_entry")
    page = reverse("admin:auth_group_change", args=[group.pk])
    client.post(page, {"name": "authors", "permissions": [may_read.pk]})
    assert set(Group.objects.get(name="authors").permissions.all()) == {may_read}
    client.post(reverse("admin:auth_group_delete", args=[group.pk]), {"post": "yes"})
    assert not Group.objects.filter(pk=group.pk).exists()
    assert [len(recorded(action)) for action in (Action.GROUP_CREATED, Action.GROUP_DELETED)] == [1, 1]
    renamed, allowed = recorded(Action.GROUP_CHANGED)
    assert renamed.detail == {"before": "writers"}
    assert allowed.detail == {"permissions": ["view_entry"], "taken": []}


def test_the_group_of_a_role_keeps_name_and_life_on_its_own_page(client: Client) -> None:
    role = create_role(None, name="auditors")
    page = reverse("admin:auth_group_change", args=[role.pk])
    client.post(page, {"name": "others", "permissions": []})
    assert Group.objects.get(pk=role.pk).name == "auditors"
    assert client.post(reverse("admin:auth_group_delete", args=[role.pk]), {"post": "yes"}).status_code == 403


def test_a_person_is_added_on_one_page_with_where_they_belong(client: Client) -> None:
    sales, role = (
        create_unit(None, name="Sales", kind=UnitKind.DEPARTMENT, parent=None),
        create_role(None, name="Readers"),
    )
    form = {
        "username": "li.mei", "first_name": "Mei", "last_name": "Li", "email": "li.mei@example.com",
        "usable_password": "true", "password1": "a long word 42", "password2": "a long word 42",
        "groups": [sales.group.pk, role.group.pk],
    }  # fmt: skip
    answer = client.post(reverse("admin:auth_user_add"), form)
    person = User.objects.get(username="li.mei")
    assert answer["Location"] == reverse("person", args=[person.pk])
    assert (person.first_name, person.email) == ("Mei", "li.mei@example.com")
    assert {group.name for group in person.groups.all()} == {"Sales", "Readers"}
    assert {entry.target_name for entry in recorded(Action.MEMBER_ADDED)} == {"Sales", "Readers"}
