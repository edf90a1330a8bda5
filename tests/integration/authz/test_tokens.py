"""API tokens: shown once, kept as a hash, dead with their end, their owner, or a wrong letter; narrowed to scopes and to a folder.

A token never opens what its owner may not see.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.actions import Action, Outcome
from audit.models import Entry
from authz.models import ApiToken, ServiceAccount
from authz.people.accounts import create_service_account, set_enabled
from authz.permissions import Right
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import (
    PREFIX_LENGTH,
    RECORDED_EVERY,
    TokenRefused,
    authenticate_token,
    issue_token,
    revoke_token,
)
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from knowledge.models import Document, Folder, KnowledgeBase
from tests.factories import allow, make_base, make_document, make_folder, make_user
from tests.integration.pages.house import client_of, plain
from tests.tokens import client_with, owner_of

pytestmark = pytest.mark.django_db


def issue(user: User, days: int = 1) -> tuple[ApiToken, str]:
    return issue_token(Principal.of(user), name="script", days=days)


def test_a_secret_leads_to_its_owner_and_is_stored_nowhere(anna: User) -> None:
    token, secret = issue(anna)
    assert owner_of(secret) == anna
    assert secret not in str(ApiToken.objects.filter(pk=token.pk).values())
    entry = Entry.objects.get(action=Action.TOKEN_ISSUED)
    assert entry.actor_name == "anna"
    assert secret[PREFIX_LENGTH:] not in f"{entry.detail}{entry.target_name}"


@pytest.mark.parametrize("days", [0, 367])
def test_a_token_lives_as_many_days_as_asked_and_never_without_an_end_or_a_name(anna: User, days: int) -> None:
    with pytest.raises(InvalidInput, match=f"1 to 366 days, not {days}"):
        issue(anna, days)
    with pytest.raises(InvalidInput, match="Name the token"):
        issue_token(Principal.of(anna), name="  ")
    assert not ApiToken.objects.exists()
    token, _secret = issue(anna, 366)
    assert abs(token.expires_at - timezone.now() - timedelta(days=366)) < timedelta(minutes=1)


@pytest.mark.parametrize("wrong", ["", "{prefix}", "{secret}x", "{upper}", " {secret}", "{shorter}", "x" * 10_000])
def test_a_secret_that_is_not_quite_right_is_nobody_s(anna: User, wrong: str) -> None:
    token, secret = issue(anna)
    given = wrong.format(prefix=token.prefix, secret=secret, upper=secret.upper(), shorter=secret[:-1])
    assert owner_of(given) is None


def test_two_tokens_of_one_beginning_are_told_apart_by_the_rest(anna: User) -> None:
    """The prefix only finds the row: what another token of the same prefix would say does not open this one."""
    token, _secret = issue(anna)
    other, other_secret = issue(make_user("bert"))
    assert owner_of(token.prefix + other_secret[PREFIX_LENGTH:]) is None
    assert token.prefix != other.prefix


def test_nobody_revokes_the_token_of_another(anna: User) -> None:
    token, secret = issue(anna)
    with pytest.raises(NotFound):
        revoke_token(Principal.of(make_user()), token_id=token.pk)
    assert owner_of(secret) == anna
    revoke_token(Principal.of(anna), token_id=token.pk)
    assert owner_of(secret) is None
    assert Entry.objects.get(action=Action.TOKEN_REVOKED).target_id == str(token.pk)


def test_the_last_use_is_noted_at_most_once_a_minute(anna: User) -> None:
    token, secret = issue(anna)
    assert owner_of(secret)
    token.refresh_from_db()
    first = token.last_used_at
    assert owner_of(secret)
    token.refresh_from_db()
    assert first is not None
    assert token.last_used_at == first
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=first - timedelta(minutes=2))
    assert owner_of(secret)
    token.refresh_from_db()
    assert token.last_used_at is not None
    assert token.last_used_at > first


def secret_for(user: User, *scopes: str, **options: Any) -> str:
    return issue_token(Principal.of(user), name="script", scopes=scopes or TokenScope.values, **options)[1]


def names(principal: Principal, model: Any) -> set[str]:
    return {str(row) for row in model.objects.visible_to(principal)}


@pytest.mark.parametrize(
    ("scopes", "says"), [(["read"], "There is no scope “read”. Choose from: search, chat"), ([], "at least one scope")]
)
def test_an_unknown_scope_and_none_at_all_are_refused_in_one_sentence(anna: User, scopes: list[str], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        issue_token(Principal.of(anna), name="script", scopes=scopes)
    assert not ApiToken.objects.exists()


CALLS: dict[str, tuple[str, Callable[[Any], Any]]] = {  # needed scope: what has another one, and a call
    "search": ("chat", lambda client: client.post("/api/v1/knowledge-search", {"query": "x"})),
    "chat": ("search", lambda client: client.get("/api/v1/sessions")),
    "ingest": ("search", lambda client: client.post("/api/v1/folders", {"name": "x"})),
}


@pytest.mark.parametrize("needs", CALLS)
def test_a_missing_scope_is_one_sentence_that_says_what_would_be_right(anna: User, needs: str) -> None:
    has, call = CALLS[needs]
    answer = call(client_with(secret_for(anna, has)))
    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")
    assert answer.json()["detail"] == (
        f"This token is for “{has}”; this needs the scope “{needs}”. Create a token with it on your tokens page."
    )


def test_a_token_for_one_folder_reaches_it_and_what_lies_below_and_nothing_else(anna: User) -> None:
    base = make_base("Handbook")
    inside, beside = make_folder(base, "Inside"), make_folder(base, "Beside")
    below = make_folder(inside, "Below")
    for folder in (inside, beside, below):
        make_document(folder, f"{folder.name}.md")
    allow(anna, base, *Right)
    through = authenticate_token(secret_for(anna, folder_id=inside.pk)).principal
    assert names(through, Folder) == {"Inside", "Below"}
    assert names(through, Document) == {str(row) for row in Document.unscoped.filter(folder__in=[inside, below])}
    assert names(through, KnowledgeBase) == {"Handbook"}, "to find the folder in, by name"
    assert not KnowledgeBase.objects.reachable_by(through, Right.MANAGE).exists()
    assert names(Principal.of(anna), Folder) == {"Handbook", "Inside", "Beside", "Below"}


def test_a_folder_of_somebody_else_makes_no_token(anna: User) -> None:
    hidden = make_folder(make_base())
    with pytest.raises(NotFound, match="no such folder, or you cannot see it"):
        secret_for(anna, folder_id=hidden.pk)


def test_nobody_governs_through_a_token_for_one_folder() -> None:
    admin, folder = make_user(is_superuser=True), make_folder(make_base())
    allow(admin, folder)
    assert authenticate_token(secret_for(admin)).principal.is_superuser
    assert not authenticate_token(secret_for(admin, folder_id=folder.pk)).principal.is_superuser


def test_a_principal_read_again_keeps_what_its_token_narrows_and_ends_with_it(anna: User) -> None:
    folder = make_folder(make_base())
    allow(anna, folder)
    token, secret = issue_token(Principal.of(anna), name="script", scopes=["chat"], folder_id=folder.pk)
    principal = authenticate_token(secret).principal
    assert principal.again() == principal
    revoke_token(Principal.of(anna), token_id=token.pk)
    with pytest.raises(NotFound):
        principal.again()
    assert Principal.of(anna).again() == Principal.of(anna)
    secret = secret_for(anna, folder_id=folder.pk)
    Folder.unscoped.filter(pk=folder.pk).delete()
    with pytest.raises(TokenRefused, match="no such token"):
        authenticate_token(secret)


WHY: dict[str, tuple[Callable[[ApiToken], object], str]] = {
    "expired": (
        lambda token: ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now()),
        "This token expired on ",
    ),
    "revoked": (
        lambda token: revoke_token(Principal.of(token.user), token_id=token.pk),
        "This token was revoked on ",
    ),
    "disabled": (
        lambda token: User.objects.filter(pk=token.user_id).update(is_active=False),
        "The account of this token is disabled.",
    ),
}


@pytest.mark.parametrize("what", WHY)
def test_whoever_holds_the_secret_is_told_why_it_fails_and_nobody_else(anna: User, what: str) -> None:
    end, says = WHY[what]
    token, secret = issue_token(Principal.of(anna), name="script")
    end(token)
    with pytest.raises(TokenRefused, match=says):
        authenticate_token(secret)
    with pytest.raises(TokenRefused, match="There is no such token"):
        authenticate_token(secret[:-1])
    entry = Entry.objects.get(action=Action.TOKEN_REFUSED)
    assert (entry.outcome, entry.target_id) == (Outcome.DENY, str(token.pk))


def used() -> int:
    return Entry.objects.filter(action=Action.TOKEN_USED).count()


def test_use_is_recorded_once_an_hour_for_each_address(anna: User) -> None:
    secret = secret_for(anna)
    for address in ("192.0.2.1", "192.0.2.1", "2001:db8::7", "192.0.2.1"):
        authenticate_token(secret, address=address)
    assert used() == 2
    with time_machine.travel(timezone.now() + RECORDED_EVERY + timedelta(minutes=1)):
        authenticate_token(secret, address="192.0.2.1")
        authenticate_token(secret, address="192.0.2.1")
    assert used() == 3


def test_a_header_anybody_can_write_is_not_taken_for_the_address(anna: User, settings: Any) -> None:
    secret = secret_for(anna)
    forged = {"X-Forwarded-For": "203.0.113.9, 198.51.100.4"}
    client_with(secret, **forged).get("/api/v1/folders")
    settings.TRUSTED_PROXY = True
    client_with(secret, **forged).get("/api/v1/folders")
    recorded = Entry.objects.filter(action=Action.TOKEN_USED).order_by("id").values_list("address", flat=True)
    assert list(recorded) == ["127.0.0.1", "198.51.100.4"]


def test_two_uses_at_once_are_one_line(anna: User) -> None:
    """The row that says when a use was last recorded exists once for a token and address."""
    secret = secret_for(anna)
    authenticate_token(secret, address="192.0.2.1")
    row = ApiToken.objects.get().uses.get()
    row.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)


# --- accounts of programs: they come in by token, and by nothing else ---
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
