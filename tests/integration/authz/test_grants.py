"""Rights are given and taken back by one service, which records each change once."""

import pytest
from django.contrib.auth.models import Group, User

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights, list_grants, revoke_rights
from copilot_site.lib.errors import NotFound
from knowledge.models import Folder
from tests.factories import make_base, make_folder, make_group, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder() -> Folder:
    return make_folder(make_base("Handbook"), "rules")


@pytest.fixture
def keeper() -> Principal:
    return Principal.of(make_user("kim"))


def recorded(action: Action) -> list[tuple[str, str, str, dict[str, object]]]:
    rows = Entry.objects.filter(action=action).order_by("id")
    return [(row.actor_name, row.target_type, row.target_name, row.detail) for row in rows]


@pytest.mark.parametrize("kind", ["user", "group"])
def test_each_right_is_recorded_with_holder_row_and_giver(folder: Folder, keeper: Principal, kind: str) -> None:
    holder: User | Group = make_user() if kind == "user" else make_group()
    grant_rights(keeper, [Right.VIEW, Right.ADD], folder, to=holder)
    expected = [("kim", "folder", "rules", {"right": right, kind: holder.pk}) for right in ("view", "add")]
    assert recorded(Action.GRANT_GIVEN) == expected
    revoke_rights(keeper, [Right.ADD], folder, of=holder)
    assert recorded(Action.GRANT_REVOKED) == expected[1:]


def test_a_right_that_is_held_is_not_recorded_again(folder: Folder, keeper: Principal) -> None:
    anna = make_user()
    for _twice in range(2):
        grant_rights(keeper, [Right.VIEW], folder, to=anna)
    assert len(recorded(Action.GRANT_GIVEN)) == 1
    for _twice in range(2):
        revoke_rights(keeper, [Right.VIEW], folder, of=anna)
    assert len(recorded(Action.GRANT_REVOKED)) == 1
    assert list_grants(folder) == []


def test_what_comes_from_above_is_not_taken_back_below(folder: Folder, keeper: Principal) -> None:
    anna = make_user()
    grant_rights(keeper, [Right.VIEW], folder.knowledge_base, to=anna)
    revoke_rights(keeper, [Right.VIEW], folder, of=anna)
    assert recorded(Action.GRANT_REVOKED) == []
    assert list(Folder.objects.visible_to(Principal.of(anna)).filter(pk=folder.pk)) == [folder]


def test_a_disabled_or_missing_person_is_nobody() -> None:
    gone = make_user(is_active=False)
    assert Principal.of(gone) == Principal.of(None) == Principal.nobody()
    with pytest.raises(NotFound):
        Principal.load(gone.pk)
    with pytest.raises(NotFound):
        Principal.load(0)
    with pytest.raises(NotFound, match="'who'"):
        Principal.named("who")
