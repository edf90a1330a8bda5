"""Whoever says which sign-in leads to which account, or to which group, could be anybody: that is for superusers, as accounts are."""

from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount, SocialApp
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from authz.models import ClaimMapping
from tests.factories import make_group, make_user
from tests.integration.governance.world import client_of, staff

pytestmark = pytest.mark.django_db
ROWS: dict[str, Any] = {
    "socialaccount_socialaccount": SocialAccount, "socialaccount_socialapp": SocialApp, "authz_claimmapping": ClaimMapping,
}  # fmt: skip


@pytest.fixture
def delegate() -> User:
    """Staff with every permission of Django's on the three models."""
    person = staff("dele")
    for name in ROWS:
        app, model = name.split("_")
        person.user_permissions.add(*Permission.objects.filter(content_type__app_label=app, content_type__model=model))
    return User.objects.get(pk=person.pk)


def forms() -> dict[str, dict[str, Any]]:
    return {
        "socialaccount_socialaccount": {"user": User.objects.get(username="root").pk, "provider": "company", "uid": "dele"},
        "socialaccount_socialapp": {
            "name": "Mine", "provider_id": "company", "server_url": "https://issuer.dele.example", "client_id": "x",
            "secret": "x", "groups_claim": "groups",
        },
        "authz_claimmapping": {"value": "everybody", "group": make_group("Board").pk, "provider": ""},
    }  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_a_delegated_permission_makes_nobody_somebody_else(delegate: User, name: str, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ("private", "public")
    root, form = make_user("root", is_superuser=True), forms()[name]
    address = reverse(f"admin:{name}_add")
    assert client_of(delegate).post(address, form).status_code == 403
    assert [rows.objects.count() for rows in ROWS.values()] == [0, 0, 0]
    assert client_of(root).post(address, form).status_code == 302, "the control: a superuser may"
    row = ROWS[name].objects.get()
    for page in ("change", "delete"):
        assert (
            client_of(delegate).post(reverse(f"admin:{name}_{page}", args=[row.pk]), form | {"post": "yes"}).status_code
            == 403
        )
    listed = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    assert client_of(delegate).post(reverse(f"admin:{name}_changelist"), listed).status_code == 403
    assert ROWS[name].objects.exists()
