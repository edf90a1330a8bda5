"""Accounts of programs: they come in by token, and by nothing else."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.models import ApiToken, ServiceAccount
from authz.people.accounts import create_service_account, set_enabled
from authz.permissions import Right
from authz.principal import Principal
from authz.tokens.api_tokens import issue_token
from copilot_site.lib.errors import Conflict, InvalidInput
from tests.factories import allow, make_base, make_folder, make_user
from tests.integration.pages.house import client_of, plain
from tests.tokens import client_with, owner_of

pytestmark = pytest.mark.django_db
PASSWORD = "a password of a test"


@pytest.fixture
def admin() -> User:
    return make_user("root", is_superuser=True)


@pytest.fixture
def robot(admin: User) -> ServiceAccount:
    return create_service_account(Principal.of(admin), username="robot", purpose="Nightly import", keeper=admin)


def test_a_service_account_acts_by_token_under_its_own_rights(robot: ServiceAccount) -> None:
    folder = make_folder(make_base(), "Inbox")
    allow(robot.user, folder, Right.VIEW)
    make_folder(make_base(), "Elsewhere")
    _row, secret = issue_token(Principal.nobody(), owner=Principal.of(robot.user), name="import")
    rows = client_with(secret).get("/api/v1/folders").json()["results"]
    assert [row["name"] for row in rows] == ["Inbox"]


def test_neither_password_nor_session_lets_it_in(robot: ServiceAccount) -> None:
    robot.user.set_password(PASSWORD)
    robot.user.save()
    answer = Client().post("/sign-in/", {"username": "robot", "password": PASSWORD})
    assert "Wrong user name or password." in plain(answer.content)
    held = client_of(robot.user)  # a session somebody made for it
    assert held.get("/library/").status_code == 302
    assert held.get("/api/v1/folders").status_code == 401
    robot.delete()
    assert client_of(robot.user).get("/library/").status_code == 200, "without its mark it would be let in"


def test_turned_off_every_token_of_it_is_refused_at_once(robot: ServiceAccount, admin: User) -> None:
    _row, secret = issue_token(Principal.of(admin), owner=Principal.of(robot.user), name="import")
    assert owner_of(secret) == robot.user
    set_enabled(Principal.of(admin), robot, enabled=False)
    set_enabled(Principal.of(admin), robot, enabled=False)
    assert owner_of(secret) is None
    assert Entry.objects.filter(action=Action.SERVICE_ACCOUNT_DISABLED).count() == 1
    set_enabled(Principal.of(admin), robot, enabled=True)
    assert owner_of(secret) == robot.user


@pytest.mark.parametrize(
    ("username", "purpose", "error"),
    [("root", "x", Conflict), ("a b", "x", InvalidInput), ("robot2", " ", InvalidInput), ("", "x", InvalidInput)],
)
def test_what_makes_no_account_is_one_sentence_and_nothing_is_half_made(
    admin: User, username: str, purpose: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        create_service_account(Principal.of(admin), username=username, purpose=purpose)
    assert not ServiceAccount.objects.exists()
    assert set(User.objects.values_list("username", flat=True)) == {"root"}


def test_an_administrator_makes_one_in_the_admin_and_its_token_is_shown_once(admin: User) -> None:
    client = client_of(admin)
    made = {"username": "nightly", "purpose": "Imports the handbook", "keeper": str(admin.pk), "is_active": "on"}
    assert client.post(reverse("admin:authz_serviceaccount_add"), made).status_code == 302
    account = ServiceAccount.objects.get()
    assert (account.user.username, account.user.has_usable_password()) == ("nightly", False)
    url = reverse("admin:authz_serviceaccount_token", args=[account.pk])
    assert client.get(url).status_code == 200
    for wrong in ({"scopes": ["all"]}, {"name": ""}, {"days": "0"}, {"folder_id": str(uuid4())}):
        assert client.post(url, {"name": "import", "days": "30", "scopes": ["ingest"]} | wrong).status_code == 400
    assert not ApiToken.objects.exists()
    answer = client.post(url, {"name": "import", "days": "30", "scopes": ["ingest"]})
    secret = next(
        word for word in plain(answer.content).replace("<", " ").replace(">", " ").split() if word[:4] == "ekc_"
    )
    assert owner_of(secret) == account.user
    assert ApiToken.objects.get().scopes == ["ingest"]
    assert secret not in plain(client.get(url).content)
    assert Entry.objects.get(action=Action.TOKEN_ISSUED).actor_name == "root"


def test_staff_without_the_permission_make_no_accounts_and_no_tokens(robot: ServiceAccount) -> None:
    clerk = make_user("clerk")
    User.objects.filter(pk=clerk.pk).update(is_staff=True)
    client = client_of(clerk)
    assert client.get(reverse("admin:authz_serviceaccount_add")).status_code == 403
    assert client.post(reverse("admin:authz_serviceaccount_token", args=[robot.pk]), {}).status_code == 403
