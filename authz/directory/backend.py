"""Sign-in with name and password from the company's directory, on the same page and under the same limits as ours."""

from typing import Any

import structlog
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import User

from authz.directory.ldap_client import DirectoryUnavailable, LdapSettings
from authz.directory.ldap_people import authenticate_person
from authz.sign_in.backends import PeopleBackend

log = structlog.get_logger(__name__)


class DirectoryBackend(BaseBackend):
    """The backend tried after our own passwords, so that administrators can sign in while the directory is down."""

    def authenticate(
        self, request: Any, username: str | None = None, password: str | None = None, **credentials: Any
    ) -> User | None:
        """Return the account for this directory password, updated from the directory. Raises DirectoryUnavailable."""
        given = LdapSettings.read()
        if given is None or not username or not password:
            return None
        try:
            user = authenticate_person(given, username, password)
        except DirectoryUnavailable:
            log.warning("sign_in.directory_unavailable", exc_info=True)
            raise
        return user if PeopleBackend().user_can_authenticate(user) else None

    def get_user(self, user_id: Any) -> User | None:
        """Return the person of a session, as for a password of ours."""
        return PeopleBackend().get_user(user_id)
