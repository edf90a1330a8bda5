"""What a secret opens, asked as a program asks it."""

from django.contrib.auth.models import User
from rest_framework.test import APIClient

from authz.tokens.api_tokens import TokenRefused, authenticate_token


def owner_of(secret: str) -> User | None:
    """Whose token this is; None when it opens nothing."""
    try:
        return authenticate_token(secret).user
    except TokenRefused:
        return None


def client_with(secret: str, **headers: str) -> APIClient:
    """An API client that sends this token and nothing else."""
    return APIClient(headers={"Authorization": f"Bearer {secret}"} | headers)
