"""The regular look into the company's directory: who is gone, who came back, whose groups changed."""

from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from audit.actions import Action
from audit.models import Entry
from authz.models import ClaimMapping, Directory, DirectoryAccount, UnmappedClaim
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights
from authz.tasks import sync_directory
from copilot_site.sign_in_checks import check_company_directory
from knowledge.models import KnowledgeBase
from tests.factories import allow, make_base, make_group, make_user
from tests.slapd import Slapd, running_slapd

pytestmark = [pytest.mark.django_db, pytest.mark.needs("OpenLDAP and python-ldap")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd]:
    with running_slapd(tmp_path_factory.mktemp("slapd")) as server:
        yield server


@pytest.fixture
def directory(server: Slapd, settings: Any) -> Slapd:
    settings.LDAP = server.settings()
    return server


def account(directory: Slapd, uid: str) -> User:
    """Somebody who signed in once."""
    from authz.directory.ldap_client import LdapSettings
    from authz.directory.ldap_people import authenticate_person

    directory.add_person(uid, password="p")
    user = authenticate_person(LdapSettings(**directory.settings()), uid, "p")
    assert user is not None
    return user


def run(*words: str) -> str:
    out = StringIO()
    call_command("directory", *words, stdout=out)
    return out.getvalue()


def visible(user: User) -> set[str]:
    return set(
        KnowledgeBase.objects.visible_to(Principal.of(User.objects.get(pk=user.pk))).values_list("name", flat=True)
    )


def test_rights_follow_the_groups_of_the_directory_and_end_with_them(directory: Slapd) -> None:
    mei, tao = account(directory, "mei"), account(directory, "tao")
    hr, ops = make_group("HR"), make_group("Operations")
    for group, name in ((hr, "Salaries"), (ops, "Runbooks")):
        allow(group, make_base(name))
    for value, group in (("hr", hr), ("ops", ops)):
        ClaimMapping.objects.create(provider="ldap", value=value, group=group)
    base = DirectoryAccount.objects.get(user=mei)
    assert base.directory == Directory.LDAP
    dn = "uid={},ou=people,dc=evenkeel,dc=example"
    inside = directory.add_group("hr", dn.format("mei"))
    directory.add_group("ops", dn.format("mei"), dn.format("tao"))
    run("sync")
    assert (visible(mei), visible(tao)) == ({"Salaries", "Runbooks"}, {"Runbooks"})
    directory.change(inside, {"member": dn.format("tao")})
    run("sync")
    assert (visible(mei), visible(tao)) == ({"Runbooks"}, {"Salaries", "Runbooks"})
    directory.delete(dn.format("tao"))
    said = run("sync")
    assert (visible(mei), visible(tao)) == ({"Runbooks"}, set())
    assert said.startswith("1 accounts as they were, 0 changed, 1 disabled, 0 enabled again")
    assert not User.objects.get(pk=tao.pk).groups.exists()
    assert Entry.objects.get(action=Action.USER_DISABLED).detail == {"directory": "ldap"}
    assert run("sync").startswith("2 accounts as they were, 0 changed, 0 disabled")


def test_who_is_ours_alone_or_governs_the_system_is_never_touched(directory: Slapd) -> None:
    ours, boss = make_user("ours", email="a@b.example"), account(directory, "boss")
    User.objects.filter(pk=boss.pk).update(is_superuser=True, email="here@evenkeel.example")
    directory.delete("uid=boss,ou=people,dc=evenkeel,dc=example")
    run("sync")
    for user in (ours, boss):
        before = vars(User.objects.get(pk=user.pk))
        assert before["is_active"]
    assert User.objects.get(pk=boss.pk).email == "here@evenkeel.example"
    User.objects.filter(pk=boss.pk).update(is_superuser=False)
    run("sync")
    assert not User.objects.get(pk=boss.pk).is_active, "without the powers the same look disables"
    assert User.objects.get(pk=ours.pk).is_active


def test_the_last_manager_of_a_place_is_disabled_all_the_same(directory: Slapd) -> None:
    only = account(directory, "only")
    grant_rights(None, [Right.MANAGE], make_base(), to=only)
    directory.delete("uid=only,ou=people,dc=evenkeel,dc=example")
    run("sync")
    assert not User.objects.get(pk=only.pk).is_active


def test_a_filter_that_finds_nobody_disables_nobody_until_somebody_says_so(directory: Slapd, settings: Any) -> None:
    people = [account(directory, f"many{number}") for number in range(7)]
    settings.LDAP = directory.settings(people_filter="(objectClass=device)")
    with pytest.raises(CommandError, match="does not find 7 of 7 accounts any more; nothing was changed"):
        run("sync")
    sync_directory()
    assert User.objects.filter(is_active=True).count() == len(people)
    run("sync", "--even-if-most-are-gone")
    assert not User.objects.filter(is_active=True).exists()
    settings.LDAP = directory.settings()
    sync_directory()
    assert User.objects.filter(is_active=True).count() == len(people)


@pytest.mark.parametrize(
    "changes",
    [{"bind_password": "wrong"}, {"people_base": "ou=none,dc=evenkeel,dc=example"}, {"url": "ldaps://127.0.0.1:9"}],
)
def test_a_directory_that_cannot_be_asked_changes_nothing_and_is_named(
    directory: Slapd, settings: Any, changes: dict[str, str]
) -> None:
    uid = f"kept{len(str(changes))}"
    account(directory, uid)
    settings.LDAP = directory.settings(**changes)
    with pytest.raises(CommandError, match="The company directory cannot be asked"):
        run("sync")
    assert User.objects.get().is_active
    found = check_company_directory()
    assert (found.ok, "cannot be asked" in found.detail) == (False, True)


def test_a_name_that_somebody_here_has_is_not_taken_and_the_rest_is_followed(directory: Slapd) -> None:
    user = account(directory, "first")
    make_user("second")
    group = make_group("HR")
    ClaimMapping.objects.create(value="people", group=group)
    directory.rename("uid=first,ou=people,dc=evenkeel,dc=example", "uid=second")
    directory.add_group("people", "uid=second,ou=people,dc=evenkeel,dc=example")
    assert "1 not changed because their name is taken here" in run("sync")
    assert (User.objects.get(pk=user.pk).username, set(user.groups.all())) == ("first", {group})


def test_only_one_look_at_a_time_and_unknown_groups_are_listed(directory: Slapd) -> None:
    from authz.directory.ldap_client import LdapSettings
    from authz.directory.ldap_people import sync_accounts
    from tests.locks import held_elsewhere

    account(directory, "lee")
    directory.add_group("unknown", "uid=lee,ou=people,dc=evenkeel,dc=example")
    with held_elsewhere("directory sync"):
        assert sync_accounts(LdapSettings(**directory.settings())) is None
    assert not UnmappedClaim.objects.exists()
    run("sync")
    assert set(UnmappedClaim.objects.values_list("provider", "value")) == {("ldap", "unknown")}


def test_the_command_shows_what_would_count_and_stores_nothing(directory: Slapd) -> None:
    dn = directory.add_person("shown", password="p", department="Sales", mail="s@evenkeel.example")
    directory.add_group("sellers", dn)
    said = run("show", "shown")
    assert "email: s@evenkeel.example" in said
    assert said.splitlines()[-2:] == ["value for claim mappings: sellers", "value for claim mappings: unit=Sales"]
    assert not User.objects.exists()
    with pytest.raises(CommandError, match="finds nobody called 'nobody'"):
        run("show", "nobody")


def test_the_doctor_says_what_is_there_and_what_is_missing(directory: Slapd, settings: Any) -> None:
    directory.add_person("anybody", password="p")
    directory.add_group("any", "uid=anybody,ou=people,dc=evenkeel,dc=example")
    assert (check_company_directory().ok, "with people and groups" in check_company_directory().detail) == (True, True)
    settings.LDAP = directory.settings(people_filter="(objectClass=device)")
    assert (check_company_directory().ok, "has nobody under" in check_company_directory().detail) == (False, True)
    settings.LDAP = directory.settings(groups_base="ou=people,dc=evenkeel,dc=example")
    assert (check_company_directory().ok, "has no group under" in check_company_directory().detail) == (False, True)


def test_without_a_directory_nothing_is_asked_for(settings: Any) -> None:
    settings.LDAP = None
    sync_directory()
    assert check_company_directory().ok
    with pytest.raises(CommandError, match="No directory is set up"):
        run("sync")
