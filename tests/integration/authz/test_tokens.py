"""API tokens: shown once, kept as a hash, dead with their end, their owner, or a wrong letter."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from audit.actions import Action
from audit.models import Entry
from authz.models import ApiToken
from authz.principal import Principal
from authz.tokens import PREFIX_LENGTH, issue_token, revoke_token
from copilot_site.lib.errors import InvalidInput, NotFound
from tests.factories import make_user
from tests.tokens import owner_of

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


@pytest.mark.parametrize("days", [1, 90, 366])
def test_a_token_lives_as_many_days_as_asked(anna: User, days: int) -> None:
    token, _secret = issue(anna, days)
    assert abs(token.expires_at - timezone.now() - timedelta(days=days)) < timedelta(minutes=1)


@pytest.mark.parametrize("days", [0, -1, 367])
def test_a_token_without_an_end_in_sight_is_refused(anna: User, days: int) -> None:
    with pytest.raises(InvalidInput, match=f"1 to 366 days; {days} "):
        issue(anna, days)
    assert not ApiToken.objects.exists()


def test_a_token_needs_a_name(anna: User) -> None:
    with pytest.raises(InvalidInput, match="name"):
        issue_token(Principal.of(anna), name="  ")


def test_an_expired_token_is_nobody_s(anna: User) -> None:
    token, secret = issue(anna)
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())
    assert owner_of(secret) is None


def test_the_token_of_a_disabled_account_is_nobody_s(anna: User) -> None:
    _token, secret = issue(anna)
    User.objects.filter(pk=anna.pk).update(is_active=False)
    assert owner_of(secret) is None


@pytest.mark.parametrize(
    "wrong", ["", "ekc_", "{prefix}", "{prefix}_wrong", "{secret}x", "{upper}", " {secret}", "{shorter}", "x" * 10_000]
)
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


def test_a_revoked_token_is_nobody_s_and_that_is_recorded(anna: User) -> None:
    token, secret = issue(anna)
    revoke_token(Principal.of(anna), token_id=token.pk)
    assert owner_of(secret) is None
    assert Entry.objects.get(action=Action.TOKEN_REVOKED).target_id == str(token.pk)


def test_nobody_revokes_the_token_of_another(anna: User) -> None:
    token, secret = issue(anna)
    with pytest.raises(NotFound):
        revoke_token(Principal.of(make_user()), token_id=token.pk)
    assert owner_of(secret) == anna


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
