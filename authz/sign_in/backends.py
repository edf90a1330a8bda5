"""Authentication backends: who may sign in and stay signed in, and who holds a right on a row."""

from typing import Any, TypeGuard

from django.contrib.auth.backends import BaseBackend, ModelBackend
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model

from authz.permissions import Right, build_codename
from authz.principal import Principal
from authz.rights.checks import has_right
from authz.rights.managers import GuardedManager


class PeopleBackend(ModelBackend):
    """Django's backend, for people only: no password or session lets a service account in."""

    def user_can_authenticate(self, user: User | AnonymousUser | None) -> bool:
        return super().user_can_authenticate(user) and not hasattr(user, "service_account")

    def get_user(self, user_id: Any) -> User | None:
        """Return the person of a session, at each request; None for a disabled account ends the session."""
        user = User.objects.select_related("service_account").filter(pk=user_id).first()
        return user if self.user_can_authenticate(user) else None


class RightsBackend(BaseBackend):
    """Answers `user.has_perm("knowledge.view_folder", folder)` as `visible_to` does: denials, ends and units count.

    For superusers Django answers yes before it asks any backend, although they read nothing without a grant: our code
    asks `authz.rights.checks.has_right`, as a test enforces. The backend ignores unprotected models, and calls without a row.
    """

    def has_perm(self, user_obj: Any, perm: str, obj: Model | None = None) -> bool:
        if not _is_protected(obj):
            return False
        app, _, name = perm.rpartition(".")
        right = next((right for right in Right if build_codename(right, type(obj)) == name), None)
        return right is not None and app in {"", obj._meta.app_label} and has_right(Principal.of(user_obj), right, obj)

    def get_all_permissions(self, user_obj: Any, obj: Model | None = None) -> set[str]:
        if not _is_protected(obj):
            return set()
        who = Principal.of(user_obj)
        return {
            f"{obj._meta.app_label}.{build_codename(right, type(obj))}" for right in Right if has_right(who, right, obj)
        }


def _is_protected(obj: Model | None) -> TypeGuard[Model]:
    return obj is not None and isinstance(getattr(type(obj), "objects", None), GuardedManager)
