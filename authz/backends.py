"""Who may sign in and stay signed in."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, User


class PeopleBackend(ModelBackend):
    """Django's own, for people alone: neither a password nor a session lets a service account in, however it came by one."""

    def user_can_authenticate(self, user: User | AnonymousUser | None) -> bool:
        return super().user_can_authenticate(user) and not hasattr(user, "service_account")

    def get_user(self, user_id: Any) -> User | None:
        """The person of a session, asked at each request; None ends it for a disabled account."""
        user = User.objects.select_related("service_account").filter(pk=user_id).first()
        return user if self.user_can_authenticate(user) else None
