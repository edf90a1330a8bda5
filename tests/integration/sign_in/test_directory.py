"""Signing in with the password that the company's directory knows, against a real OpenLDAP server."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.test import Client

from audit.actions import Action
from audit.models import Entry
from authz.models import ClaimMapping, ClaimMembership, DirectoryAccount, UnmappedClaim
from authz.people.accounts import create_service_account
from authz.principal import Principal
from authz.tokens.api_tokens import TokenRefused, authenticate_token, issue_token
from tests.factories import make_group, make_user
from tests.integration.pages.house import plain
from tests.integration.sign_in.browser import is_in
from tests.slapd import GROUPS, Slapd, running_slapd

pytestmark = [pytest.mark.django_db, pytest.mark.needs("OpenLDAP and python-ldap")]
PASSWORD = "a password of the directory's"
BACKEND = "authz.directory.backend.DirectoryBackend"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd]:
    """One server for this file; each test has people of its own."""
    with running_slapd(tmp_path_factory.mktemp("slapd")) as server:
        yield server


@pytest.fixture
def directory(server: Slapd, settings: Any) -> Slapd:
    settings.LDAP = server.settings()
    settings.AUTHENTICATION_BACKENDS = [
        "authz.sign_in.backends.PeopleBackend",
        BACKEND,
        "authz.sign_in.backends.RightsBackend",
    ]
    return server


def sign_in(username: str, password: str = PASSWORD, address: str = "198.51.100.60") -> tuple[Client, Any]:
    client = Client(REMOTE_ADDR=address)
    return client, client.post("/sign-in/", {"username": username, "password": password})


def groups_of(username: str) -> set[str]:
    return set(User.objects.get(username=username).groups.values_list("name", flat=True))


def test_somebody_new_comes_in_with_the_directory_s_password_and_has_an_account_without_any_right(
    directory: Slapd,
) -> None:
    directory.add_person("mei", password=PASSWORD, givenName="Mei", mail="mei@evenkeel.example")
    client, answer = sign_in("MEI")
    assert (answer.status_code, is_in(client)) == (302, True)
    user = User.objects.get()
    assert (user.username, user.get_full_name(), user.email) == ("mei", "Mei Lin", "mei@evenkeel.example")
    assert [user.has_usable_password(), user.is_staff, user.is_superuser, user.groups.exists()] == [False] * 4
    assert Entry.objects.get(action=Action.SIGNED_IN).detail == {"by": ["password"], "directory": "ldap"}
    assert Entry.objects.get(action=Action.USER_CREATED).detail == {"directory": "ldap"}
    assert is_in(sign_in("mei")[0])
    assert User.objects.count() == DirectoryAccount.objects.count() == 1


@pytest.mark.parametrize("password", ["wrong", " ", ""])
def test_a_wrong_password_and_none_open_nothing_and_make_no_account(directory: Slapd, password: str) -> None:
    from authz.directory.ldap_client import LdapSettings, is_correct_password, open_directory

    directory.add_person(f"wen{len(password)}", password=PASSWORD)
    client, answer = sign_in(f"wen{len(password)}", password)
    assert (answer.status_code, is_in(client)) == (200, False)
    assert "Wrong user name or password." in plain(answer.content)
    assert not User.objects.exists()
    assert authenticate(None, username=f"wen{len(password)}", password=password) is None
    given = LdapSettings(**directory.settings())
    with open_directory(given) as known:
        entry = known.named(f"wen{len(password)}")
    assert (is_correct_password(given, entry, password), is_correct_password(given, entry, PASSWORD)) == (False, True)


@pytest.mark.parametrize(
    "name", ["*", "(", "zoe*", "zoe)(uid=*", "*)(objectClass=*", "z\\2a", "zoe\x00", "zo\u00eb", "zoe  x"]
)
def test_what_is_typed_is_a_name_and_no_part_of_a_filter(directory: Slapd, name: str) -> None:
    from authz.directory.backend import DirectoryBackend
    from authz.directory.ldap_client import LdapSettings, open_directory

    with open_directory(LdapSettings(**directory.settings())) as known:
        if known.named("zoe x") is None:
            directory.add_person("zoe x", password=PASSWORD)
    assert DirectoryBackend().authenticate(None, username=name, password=PASSWORD) is None
    assert not User.objects.exists()


def test_the_limit_on_guessing_counts_for_the_directory_s_passwords_too(directory: Slapd) -> None:
    directory.add_person("guessed", password=PASSWORD)
    for _time in range(5):
        assert sign_in("guessed", "wrong", address="198.51.100.62")[1].status_code == 200
    client, answer = sign_in("Guessed", address="198.51.100.61")
    assert (answer.status_code, is_in(client)) == (429, False)
    assert Entry.objects.filter(action=Action.SIGN_IN_FAILED).count() == 5


def test_a_name_that_is_nobody_s_takes_as_many_questions_as_one_that_is(
    directory: Slapd, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ldap

    directory.add_person("slow", password=PASSWORD)
    asked: list[str] = []
    whole = ldap.initialize

    def counted(url: str) -> Any:
        asked.append(url)
        return whole(url)

    monkeypatch.setattr(ldap, "initialize", counted)
    counts = []
    for name in ("slow", "nobody"):
        asked.clear()
        assert authenticate(None, username=name, password="wrong") is None
        counts.append(len(asked))
    assert counts == [2, 2]


def test_an_account_of_ours_is_not_handed_over_by_its_name_and_its_own_password_stays(directory: Slapd) -> None:
    for uid in ("Clara", "root", "robot"):
        directory.add_person(uid, password=PASSWORD)
    root = make_user("root", is_superuser=True, password="a password of ours")
    make_user("clara")
    create_service_account(Principal.of(root), username="robot", purpose="a test")
    for name in ("clara", "root", "robot"):
        assert not is_in(sign_in(name)[0]), name
    assert is_in(sign_in("root", "a password of ours")[0])
    assert not DirectoryAccount.objects.exists()
    refused = Entry.objects.filter(action=Action.SIGN_IN_FAILED, detail={"directory": "ldap"})
    assert {entry.reason.partition(".")[0] for entry in refused} == {
        f"There is already an account “{name}”" for name in ("clara", "root", "robot")
    }


def test_a_directory_that_does_not_answer_is_said_and_keeps_no_administrator_out(
    directory: Slapd, settings: Any
) -> None:
    settings.LDAP = directory.settings(url="ldaps://127.0.0.1:9")
    make_user("root", is_superuser=True, password="a password of ours")
    client, answer = sign_in("mei")
    assert (answer.status_code, is_in(client)) == (503, False)
    assert "The company directory does not answer now." in plain(answer.content)
    assert "127.0.0.1" not in plain(answer.content)
    assert is_in(sign_in("root", "a password of ours")[0])


@pytest.mark.parametrize("changes", [{"ca": None}, {"url": "localhost"}, {"bind_password": "wrong"}])
def test_who_is_not_proven_to_be_the_directory_is_told_no_password(
    directory: Slapd, settings: Any, changes: dict[str, Any]
) -> None:
    """A certificate that nobody signed, one for another name, and a directory that does not know us."""
    if "url" in changes:
        changes = {"url": directory.url.replace("127.0.0.1", "localhost")}
    directory.add_person(f"tls{len(str(changes))}", password=PASSWORD)
    settings.LDAP = directory.settings(**changes)
    assert sign_in(f"tls{len(str(changes))}")[1].status_code == 503
    settings.LDAP = directory.settings()
    assert is_in(sign_in(f"tls{len(str(changes))}")[0]), "the same attempt, with what is right"


def test_the_way_by_start_tls_opens_and_checks_the_certificate_too(directory: Slapd, settings: Any) -> None:
    directory.add_person("tao", password=PASSWORD)
    settings.LDAP = directory.settings(url=directory.plain_url)
    assert is_in(sign_in("tao")[0])
    settings.LDAP = directory.settings(url=directory.plain_url.replace("127.0.0.1", "localhost"))
    assert sign_in("tao")[1].status_code == 503


def test_groups_of_all_kinds_groups_in_groups_and_the_department_lead_to_ours_and_end_when_they_end_there(
    directory: Slapd,
) -> None:
    dn = directory.add_person("lin", password=PASSWORD, department="Engineering")
    other = directory.add_person("lin2", password=PASSWORD)
    inner = directory.add_group("inner", dn)
    directory.add_group("outer", inner)
    unique = {"objectClass": ["groupOfUniqueNames"], "cn": "unique", "uniqueMember": [dn, other]}
    directory.add(f"cn=unique,{GROUPS}", unique)
    directory.add(
        f"cn=posix,{GROUPS}", {"objectClass": ["posixGroup"], "cn": "posix", "gidNumber": "7", "memberUid": "lin"}
    )
    directory.add_group("others", other)
    values = ("inner", "outer", "unique", "posix", "others", "unit=Engineering")
    for value in values:
        ClaimMapping.objects.create(provider="ldap", value=value, group=make_group(value.upper()))
    ClaimMapping.objects.create(provider="company", value="inner", group=make_group("OF ANOTHER SIGN-IN"))
    sign_in("lin")
    assert groups_of("lin") == {"INNER", "OUTER", "UNIQUE", "POSIX", "UNIT=ENGINEERING"}
    User.objects.get(username="lin").groups.add(make_group("BY HAND"))
    directory.change(f"cn=unique,{GROUPS}", {"uniqueMember": other})
    directory.change(inner, {"member": other})
    directory.change(dn, {"departmentNumber": "Sales"})
    sign_in("lin")
    assert groups_of("lin") == {"POSIX", "BY HAND"}
    assert set(ClaimMembership.objects.values_list("group__name", flat=True)) == {"POSIX"}
    assert set(UnmappedClaim.objects.values_list("provider", "value")) == {("ldap", "unit=Sales")}


def test_groups_that_are_in_each_other_end(directory: Slapd) -> None:
    dn = directory.add_person("ring", password=PASSWORD)
    first = directory.add_group("first", dn)
    second = directory.add_group("second", first)
    directory.change(first, {"member": [dn, second]})
    assert is_in(sign_in("ring")[0])
    assert set(UnmappedClaim.objects.values_list("value", flat=True)) == {"first", "second"}


def test_who_is_called_otherwise_there_is_called_so_here_and_is_the_same(directory: Slapd) -> None:
    dn = directory.add_person("old.name", password=PASSWORD)
    sign_in("old.name")
    directory.rename(dn, "uid=new.name")
    assert is_in(sign_in("new.name")[0])
    assert list(User.objects.values_list("username", flat=True)) == ["new.name"]


def test_a_new_person_under_a_name_of_before_is_not_let_into_the_account_of_before(directory: Slapd) -> None:
    dn = directory.add_person("reused", password=PASSWORD)
    sign_in("reused")
    directory.delete(dn)
    directory.add_person("reused", password="another password")
    assert not is_in(sign_in("reused", "another password")[0])
    assert User.objects.count() == 1


def test_whoever_an_administrator_disabled_stays_out_whatever_the_directory_says(directory: Slapd) -> None:
    directory.add_person("barred", password=PASSWORD)
    client, _answer = sign_in("barred")
    User.objects.update(is_active=False)
    assert not is_in(client)
    assert not is_in(sign_in("barred")[0])
    assert not User.objects.get().is_active


def test_a_session_and_a_token_end_when_the_entry_is_gone_and_do_not_come_back_with_it(directory: Slapd) -> None:
    from authz.directory.ldap_client import LdapSettings
    from authz.directory.ldap_people import sync_accounts

    dn = directory.add_person("leaver", password=PASSWORD)
    client, _answer = sign_in("leaver")
    _row, secret = issue_token(Principal.of(User.objects.get()), name="a test")
    directory.rename(dn, "uid=away")
    given = LdapSettings(**directory.settings(people_filter="(&(objectClass=inetOrgPerson)(!(uid=away)))"))
    assert vars(sync_accounts(given)) == {"same": 0, "changed": 0, "ended": 1, "resumed": 0, "failed": 0}
    assert not is_in(client)
    with pytest.raises(TokenRefused):
        authenticate_token(secret)
    again = sync_accounts(LdapSettings(**directory.settings()))
    assert (again.resumed, User.objects.get().is_active) == (1, True)  # type: ignore[union-attr]
    assert not is_in(client), "an old session stays ended"
    with pytest.raises(TokenRefused):
        authenticate_token(secret)
    assert is_in(sign_in("away")[0])
