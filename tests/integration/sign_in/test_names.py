"""No way to make an account gives it a name that looks like that of another one."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse

from authz.directory.accounts import KnownPerson, create_directory_account
from authz.models import Directory
from authz.people.accounts import change_account, create_account, create_service_account
from authz.people.names import compute_skeleton, find_similar_name
from authz.principal import Principal
from copilot_site.lib.errors import Conflict
from tests.factories import make_user
from tests.integration.pages.house import client_of, plain
from tests.integration.sign_in.browser import is_in, signed_in_by_company
from tests.oidc_issuer import Issuer

pytestmark = pytest.mark.django_db
CYRILLIC = "\u0430dmin"


@pytest.fixture
def root() -> Principal:
    return Principal.of(make_user("admin", is_superuser=True))


def renamed(root: Principal, name: str) -> None:
    user = User.objects.filter(username="mei").first() or make_user("mei")
    user.username = name
    change_account(root, user, changed={"username"})


WAYS: dict[str, Callable[[Principal, str], object]] = {
    "by hand": lambda root, name: create_account(root, User(username=name)),
    "renamed": renamed,
    "for a program": lambda root, name: create_service_account(root, username=name, purpose="x"),
    "SCIM": lambda _root, name: create_directory_account(None, Directory.SCIM, KnownPerson("1", name)),
    "LDAP": lambda _root, name: create_directory_account(None, Directory.LDAP, KnownPerson("1", name)),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_refuses_a_name_that_looks_like_another_and_takes_one_of_its_own(root: Principal, way: str) -> None:
    for name in (CYRILLIC, "\uff41dmin", "Admin"):
        with pytest.raises(Conflict, match=r"“admin”"), transaction.atomic():
            WAYS[way](root, name)
    WAYS[way](root, "иван")
    assert User.objects.filter(username="иван").exists()


def test_the_form_of_the_administration_says_so(root: Principal) -> None:
    client = client_of(User.objects.get())
    form = {"username": CYRILLIC, "usable_password": "false"}
    answer = client.post(reverse("admin:auth_user_add"), form)
    assert answer.status_code == 200
    assert "looks like the account “admin”" in plain(answer.content)
    program = {"username": CYRILLIC, "purpose": "x", "is_active": "on"}
    answer = client.post(reverse("admin:authz_serviceaccount_add"), program)
    assert "looks like the account “admin”" in plain(answer.content)
    assert User.objects.count() == 1


def test_the_company_s_sign_in_refuses_one_too(issuer: Issuer, root: Principal) -> None:
    issuer.claims["preferred_username"] = "\uff21\uff24\uff2d\uff29\uff2e"
    client, answer = signed_in_by_company()
    assert (answer.status_code, is_in(client)) == (403, False)
    assert "Ask an administrator." in plain(answer.content)
    issuer.claims["preferred_username"] = "\uff4dei"
    signed_in_by_company()
    assert set(User.objects.values_list("username", flat=True)) == {"admin", "mei"}


def test_people_are_compared_with_everybody_and_those_who_govern_by_all_they_look_like() -> None:
    make_user("ops")
    assert find_similar_name("\u043e\u0440\u0455") == "ops", "a whole name in Cyrillic letters"
    boss = make_user("\u0440\u043e\u0440", is_superuser=True)
    assert find_similar_name("pop") == boss.username
    assert find_similar_name("pop", besides=boss.pk) == ""
    assert find_similar_name("мария") == ""
    assert compute_skeleton("wang1") != compute_skeleton("wangl")
