from typing import Any

import pytest


@pytest.fixture
def provider_account() -> Any:
    """The service account of an identity provider."""
    from django.contrib.auth.models import Permission

    from authz.people.accounts import create_service_account, set_permissions
    from authz.principal import Principal
    from tests.factories import make_user

    root = Principal.of(make_user("root", is_superuser=True))
    account = create_service_account(root, username="okta", purpose="keeps accounts")
    set_permissions(root, account.user, [Permission.objects.get(codename="provision")])
    return account


@pytest.fixture
def secret(provider_account: Any) -> str:
    from authz.principal import Principal
    from authz.scopes import TokenScope
    from authz.tokens.api_tokens import issue_token

    _row, secret = issue_token(Principal.of(provider_account.user), name="okta", scopes=[TokenScope.PROVISION])
    return secret


@pytest.fixture
def scim(secret: str) -> Any:
    from tests.integration.scim.program import Program

    return Program(secret)
