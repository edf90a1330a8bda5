"""The admin: who governs what there, and that every change goes through a service and into the audit log."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.models import ApiToken
from authz.people.units import add_member, create_unit
from authz.permissions import Right
from authz.principal import Principal
from authz.tokens.api_tokens import issue_token
from knowledge.models import Folder, KnowledgeBase
from tests.factories import allow, make_base, make_document, make_folder, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def base() -> KnowledgeBase:
    return make_base("Handbook")


@pytest.fixture
def folder(base: KnowledgeBase) -> Folder:
    return make_folder(base, "Rules")


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def staff(*, rows: tuple[KnowledgeBase | Folder, ...] = ()) -> User:
    """A person of the admin who manages `rows`."""
    user = make_user()
    user.is_staff = True
    user.save()
    for row in rows:
        allow(user, row, Right.MANAGE)
    return user


def listed(client: Client, model: str) -> set[str]:
    page = client.get(reverse(f"admin:knowledge_{model}_changelist"))
    return {str(row) for row in page.context["cl"].result_list} if page.status_code == 200 else set()


def test_staff_see_the_rows_they_manage_and_a_superuser_all(base: KnowledgeBase, folder: Folder) -> None:
    other = make_base("Other")
    make_document(folder, "leave.md", title="Leave")
    make_document(other, "pay.md", title="Pay")
    every = {
        "folder": {"Handbook", "Rules", "Other"},
        "document": {"Leave", "Pay"},
        "knowledgebase": {"Handbook", "Other"},
    }
    mine = {"folder": {"Rules"}, "document": {"Leave"}, "knowledgebase": set()}
    root, manager = client_of(make_user(is_superuser=True)), client_of(staff(rows=(folder,)))
    person = staff()
    allow(person, base, Right.VIEW, Right.CHANGE)
    reader = client_of(person)
    for model, rows in every.items():
        assert listed(root, model) == rows
        assert listed(manager, model) == mine[model]
        assert listed(reader, model) == set(), "readers and editors do not govern"


def test_a_foreign_folder_cannot_be_changed_by_its_address(base: KnowledgeBase, folder: Folder) -> None:
    client = client_of(staff(rows=(make_folder(base, "Mine"),)))
    answer = client.post(reverse("admin:knowledge_folder_change", args=[folder.pk]), {"name": "Taken"})
    assert answer.status_code in {302, 403}
    folder.refresh_from_db()
    assert folder.name == "Rules"


def test_a_folder_is_made_below_folders_one_manages_alone_and_others_look_like_missing_ones(
    base: KnowledgeBase,
) -> None:
    mine, other = make_folder(base, "Mine"), make_folder(make_base("Other"), "Pay")
    reader = staff(rows=(mine,))
    allow(reader, other, Right.VIEW, Right.ADD)
    client, address = client_of(reader), reverse("admin:knowledge_folder_add")

    def make_below(parent: object) -> tuple[int, list[str]]:
        answer = client.post(address, {"parent": str(parent), "name": "New"})
        return answer.status_code, answer.context["adminform"].errors["parent"] if answer.status_code == 200 else []

    missing = make_below(uuid4())
    assert missing[0] == 200
    assert [make_below(pk) for pk in (other.pk, mine.parent_id)] == [missing] * 2
    assert not Folder.unscoped.filter(name="New").exists()
    assert make_below(mine.pk) == (302, [])
    assert Folder.unscoped.get(name="New").parent == mine


def test_a_base_is_given_to_a_unit_and_taken_from_it_and_no_right_changes(base: KnowledgeBase) -> None:
    unit, member = create_unit(None, name="Sales"), make_user("sam")
    add_member(None, unit, user=member)
    manager = staff(rows=(base,))
    client, address = client_of(manager), reverse("admin:knowledge_knowledgebase_change", args=[base.pk])
    form = {"name": base.name, "description": "", "recognition": "bare"}
    for to, owner in ((str(unit.pk), unit), ("", None)):
        assert client.post(address, form | {"org_unit": to}).status_code == 302
        assert KnowledgeBase.unscoped.get(pk=base.pk).org_unit == owner
        assert not KnowledgeBase.objects.visible_to(Principal.of(member)).exists()
    entries = Entry.objects.filter(action=Action.KNOWLEDGE_BASE_CHANGED).order_by("pk")
    assert [(entry.actor_name, entry.detail) for entry in entries] == [
        (manager.username, {"org_unit": unit.pk}),
        (manager.username, {"org_unit": None}),
    ]


def test_an_administrator_revokes_the_token_of_somebody_else_and_it_is_recorded() -> None:
    owner, admin = make_user("owner"), make_user(is_superuser=True)
    token, _secret = issue_token(Principal.of(owner), name="script", days=1)
    form = {"action": "revoke", "_selected_action": str(token.pk)}
    assert client_of(admin).post(reverse("admin:authz_apitoken_changelist"), form).status_code == 302
    assert not ApiToken.objects.filter(revoked_at=None).exists()
    entry = Entry.objects.get(action=Action.TOKEN_REVOKED)
    assert (entry.actor_name, entry.detail) == (admin.username, {"user": owner.pk})


def test_nobody_changes_the_audit_log_in_the_admin() -> None:
    make_base()
    entry = Entry.objects.first()
    assert entry is not None
    client = client_of(make_user(is_superuser=True))
    assert client.get(reverse("admin:audit_entry_changelist")).status_code == 200
    for name in ("delete", "change"):
        assert client.post(reverse(f"admin:audit_entry_{name}", args=[entry.pk]), {"post": "yes"}).status_code == 403
    assert client.get(reverse("admin:audit_entry_add")).status_code == 403


def test_a_manager_is_not_told_the_names_of_folders_above_that_are_not_theirs(base: KnowledgeBase) -> None:
    above = make_folder(base, "Dismissals")
    mine = make_folder(make_folder(above, "Settlements"), "Templates")
    below = make_folder(mine, "2026")
    client = client_of(staff(rows=(mine,)))
    pages = [reverse("admin:knowledge_folder_changelist")]
    pages += [reverse("admin:knowledge_folder_change", args=[below.pk])]
    for page in pages:
        text = client.get(page).content.decode()
        assert "Templates" in text
        assert "Dismissals" not in text, page
        assert "Settlements" not in text, page
    assert "Templates / 2026" in client.get(pages[0]).content.decode()
