"""What cannot be: a circle, a folder below itself, a place without a manager, a token that has ended. One sentence, nothing half done."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse
from django.utils import timezone

from audit.models import Entry
from authz.models import ApiToken, Denial, FolderGroupGrant, FolderUserGrant, KnowledgeBaseUserGrant
from authz.models.people import OrgUnit, OrgUnitLink
from authz.permissions import Right
from authz.principal import Principal
from authz.tokens.api_tokens import issue_token
from copilot_site.lib.errors import InvalidInput
from knowledge.models import Folder, FolderLink
from knowledge.services import access
from tests.factories import allow, make_user
from tests.integration.governance.world import World, client_of, place_url, text_of
from tests.tokens import client_with

pytestmark = pytest.mark.django_db

KEPT: tuple[Any, ...] = (
    FolderGroupGrant.objects, FolderUserGrant.objects, KnowledgeBaseUserGrant.objects, Denial.objects, OrgUnit.objects,
    OrgUnitLink.objects, Folder.unscoped, FolderLink.objects, Group.objects, User.groups.through.objects,
)  # fmt: skip


def everything() -> list[Any]:
    """Each row that a change of rights, units or folders could leave half done, and how many entries the log has."""
    return [*(list(rows.order_by("pk").values()) for rows in KEPT), Entry.objects.count()]


@pytest.fixture
def managed(world: World) -> World:
    """The world in which boss alone manages the base, for ever."""
    access.take_back(None, Right, world.base, of=User.objects.get(username="keeper"))
    allow(world.root, world.base)
    return world


def refused(change: Callable[[], object], sentence: str) -> None:
    before = everything()
    with pytest.raises(InvalidInput) as refusal:
        change()
    assert str(refusal.value) == sentence
    assert everything() == before


LOCKED_OUT = "This would leave “Handbook” without a manager. Give someone else the right to manage it first."
OUT: dict[str, Callable[[World], object]] = {
    "a grant with an end": lambda world: access.give(
        None, [Right.VIEW, Right.MANAGE], world.base, to=world.boss, expires_at=timezone.now() + timedelta(days=1)
    ),
    "a denial": lambda world: access.deny(None, [Right.VIEW, Right.MANAGE], world.base, to=world.boss),
    "a grant taken back": lambda world: access.take_back(None, [Right.VIEW, Right.MANAGE], world.base, of=world.boss),
}


@pytest.mark.parametrize("how", OUT)
def test_the_last_manager_is_not_locked_out_by(managed: World, how: str) -> None:
    """The right before `manage` in the same change is not kept either."""
    allow(managed.boss, managed.base)
    refused(lambda: OUT[how](managed), LOCKED_OUT)
    allow(managed.mia, managed.base, Right.MANAGE)
    OUT[how](managed)  # with a second manager it is done


def test_the_page_does_not_lock_the_last_manager_out_either(managed: World) -> None:
    fields = {"what": "deny", "holder_kind": "user", "holder": "boss", "rights": ["manage"]}
    root, before = client_of(managed.root), everything()
    assert root.post(place_url("rights-change", managed.base), fields).status_code == 400
    assert everything() == before


def test_an_account_that_is_the_last_manager_is_kept(managed: World) -> None:
    form = {"username": "boss", "is_staff": "on", "first_name": "", "last_name": "", "email": ""}
    root, before = client_of(managed.root), everything()
    page = root.post(reverse("admin:auth_user_change", args=[managed.boss.pk]), form, follow=True)
    assert "This would leave “Handbook” without a manager" in text_of(page)
    assert everything() == before
    assert User.objects.get(pk=managed.boss.pk).is_active


def test_an_expired_token_does_nothing_of_what_it_is_sent_with(world: World) -> None:
    writer = make_user("writer")
    allow(writer, world.rules, *Right)
    token, secret = issue_token(Principal.of(writer), name="script", scopes=["ingest", "audit"])
    body = {"parent": str(world.rules.pk), "name": "New"}
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())
    before = everything()[:-1]  # that it was refused is recorded
    answer = client_with(secret).post("/api/v1/folders", body)
    assert answer.status_code == 401
    assert answer.json()["detail"].startswith("This token expired on ")
    assert answer.json()["detail"].endswith("Create a new one on your tokens page.")
    assert everything()[:-1] == before
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now() + timedelta(days=1))
    assert client_with(secret).post("/api/v1/folders", body).status_code == 201, "nothing but its end refused it"
