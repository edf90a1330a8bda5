"""What Django asks: who may sign in and stay signed in, and whether somebody holds a right on a row."""

from typing import Any, TypeGuard

from django.contrib.auth.backends import BaseBackend, ModelBackend
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model

from authz.checks import can
from authz.managers import GuardedManager
from authz.permissions import Right, codename
from authz.principal import Principal


class PeopleBackend(ModelBackend):
    """Django's own, for people alone: neither a password nor a session lets a service account in, however it came by one."""

    def user_can_authenticate(self, user: User | AnonymousUser | None) -> bool:
        return super().user_can_authenticate(user) and not hasattr(user, "service_account")

    def get_user(self, user_id: Any) -> User | None:
        """Return the person of a session, asked at each request; None ends it for a disabled account."""
        user = User.objects.select_related("service_account").filter(pk=user_id).first()
        return user if self.user_can_authenticate(user) else None


class RightsBackend(BaseBackend):
    """`user.has_perm("knowledge.view_folder", folder)` says what `visible_to` says: with denials, ends, breaks and units.

    Of superusers Django says yes before it asks any backend, although they read nothing without a grant: our own code asks
    `authz.checks.can`, and a test keeps it so. Nothing is said of models that are not protected, nor without a row.
    """

    def has_perm(self, user_obj: Any, perm: str, obj: Model | None = None) -> bool:
        if not _is_protected(obj):
            return False
        app, _, name = perm.rpartition(".")
        right = next((right for right in Right if codename(right, type(obj)) == name), None)
        return right is not None and app in {"", obj._meta.app_label} and can(Principal.of(user_obj), right, obj)

    def get_all_permissions(self, user_obj: Any, obj: Model | None = None) -> set[str]:
        if not _is_protected(obj):
            return set()
        who = Principal.of(user_obj)
        return {f"{obj._meta.app_label}.{codename(right, type(obj))}" for right in Right if can(who, right, obj)}


def _is_protected(obj: Model | None) -> TypeGuard[Model]:
    return obj is not None and isinstance(getattr(type(obj), "objects", None), GuardedManager)
