"""Signing in and out, the language and appearance of the pages, API tokens."""

import pytest
from django.test import Client
from django.urls import reverse

from agent.tools.base import find_tool
from audit.actions import Action
from audit.models import Entry
from authz.models import ApiToken
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from business.models import DataSource
from business.sources.grants import grant
from demo.company import load_company
from tests.factories import make_user
from tests.integration.pages.house import House, client_of, plain, principal_of
from tests.tokens import owner_of

pytestmark = pytest.mark.django_db
PASSWORD = "a password of a test"


def test_a_person_signs_in_goes_where_they_wanted_and_out_again() -> None:
    make_user("reader", password=PASSWORD)
    client = Client()
    wanted = client.get("/library/")
    answer = client.post(wanted["Location"], {"username": "reader", "password": PASSWORD, "next": "/library/"})
    assert answer["Location"] == "/library/"
    assert client.get("/library/").status_code == 200
    assert client.post(reverse("logout"))["Location"] == "/sign-in/"
    assert client.get("/library/").status_code == 302
    assert set(Entry.objects.values_list("action", flat=True)) >= {Action.SIGNED_IN, Action.SIGNED_OUT}


def test_everybody_changes_their_own_password_from_the_menu() -> None:
    client = client_of(make_user("reader", password=PASSWORD))
    assert f'href="{reverse("password")}"' in client.get(reverse("chat")).content.decode()
    given = {"old_password": "not it", "new_password1": "quite another one", "new_password2": "quite another one"}
    assert client.post(reverse("password"), given).status_code == 200
    assert not Entry.objects.filter(action=Action.PASSWORD_CHANGED).exists()
    assert client.post(reverse("password"), given | {"old_password": PASSWORD})["Location"] == reverse("chat")
    assert Entry.objects.get(action=Action.PASSWORD_CHANGED).actor_name == "reader"
    assert Client().login(username="reader", password="quite another one")
    assert not Client().login(username="reader", password=PASSWORD)


def test_without_a_password_of_ours_there_is_none_to_change() -> None:
    client = client_of(make_user("federated"))
    assert reverse("password") not in client.get(reverse("chat")).content.decode()
    assert client.get(reverse("password")).status_code == 404


@pytest.mark.parametrize("username", ["reader", "nobody", "disabled"])
def test_a_wrong_password_and_an_unknown_name_read_the_same(username: str) -> None:
    make_user("reader", password=PASSWORD)
    make_user("disabled", password=PASSWORD, is_active=False)
    password = PASSWORD if username == "disabled" else "wrong"
    answer = Client().post("/sign-in/", {"username": username, "password": password})
    assert "Wrong user name or password." in plain(answer.content)
    assert Entry.objects.filter(action=Action.SIGN_IN_FAILED).exists()


def test_the_way_back_never_leads_to_another_site() -> None:
    make_user("reader", password=PASSWORD)
    form = {"username": "reader", "password": PASSWORD, "next": "https://evil.example/"}
    assert Client().post("/sign-in/", form)["Location"] == "/"


def test_logins_of_the_demo_are_shown_only_where_its_people_are() -> None:
    company = load_company()
    make_user("admin", is_superuser=True)  # an administrator of that name alone is no demo
    assert company.password not in plain(Client().get("/sign-in/").content)
    make_user(company.people[0].username)
    body = plain(Client().get("/sign-in/").content)
    assert company.password in body
    assert company.people[0].role.en in body
    assert company.people[1].role.en not in body


def test_a_token_is_shown_once_and_works_until_it_is_revoked(house: House) -> None:
    client, url = client_of(house.reader), reverse("tokens")
    made = client.post(url, {"name": "nightly report", "days": "30", "scopes": ["search"]})
    token = ApiToken.objects.get()
    secret = next(
        word for word in plain(made.content).replace("<", " ").replace(">", " ").split() if word.startswith("ekc_")
    )
    assert owner_of(secret) == house.reader
    assert "no-store" in made["Cache-Control"]
    later = plain(client.get(url).content)
    assert secret not in later
    assert token.prefix in later
    client.post(reverse("token-revoke", args=[token.pk]))
    assert owner_of(secret) is None


def test_a_token_of_somebody_else_is_not_shown_and_not_revoked(house: House) -> None:
    token, _secret = issue_token(principal_of(house.keeper), name="mine", days=1)
    client = client_of(house.reader)
    assert token.prefix not in plain(client.get(reverse("tokens")).content)
    assert client.post(reverse("token-revoke", args=[token.pk])).status_code == 404
    assert ApiToken.objects.filter(pk=token.pk).exists()


@pytest.mark.parametrize("scope", [TokenScope.SEARCH, TokenScope.SQL])
def test_a_token_for_a_folder_is_shown_to_reach_data_exactly_where_it_does(house: House, scope: TokenScope) -> None:
    source = DataSource.unscoped.create(name="shop", database="shop", is_embedded=True)
    grant(None, source, to=house.reader)
    token, _secret = issue_token(
        principal_of(house.reader), name="x", days=1, scopes=[scope], folder_id=house.folder.pk
    )
    narrow, tool = principal_of(house.reader).through(token), find_tool("database_query")
    reaches = narrow.may_use(tool.scope) and tool.why_not(narrow) is None
    page = plain(client_of(house.reader).get(reverse("tokens")).content)
    assert ("documents only in “Updates”; also business data" in page) == reaches
    assert "documents only in “Updates”" in page


def test_a_token_is_narrowed_to_a_folder_that_its_maker_may_see(house: House) -> None:
    client, url = client_of(house.reader), reverse("tokens")
    assert "Among documents, it reaches only the folder “Updates”" in plain(
        client.get(url, {"folder": str(house.folder.pk)}).content
    )
    form = {"name": "report", "days": "30", "scopes": ["search"], "folder": str(house.folder.pk)}
    assert "documents only in “Updates”" in plain(client.post(url, form).content)
    assert ApiToken.objects.get().folder_id == house.folder.pk
    for hidden in (str(house.sibling.pk), "nonsense"):
        assert client.get(url, {"folder": hidden}).status_code == 404
        assert client.post(url, form | {"folder": hidden}).status_code == 404
    assert ApiToken.objects.count() == 1
    revoke_rights(None, [Right.VIEW], house.folder, of=house.reader)
    assert "Updates" not in plain(client.get(url).content)
