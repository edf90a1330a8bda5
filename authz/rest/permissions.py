"""The few rules that do not hang on a row. Reading is decided by the rows' own door."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request


class WrittenBySuperusers(BasePermission):
    message = _("Only an administrator of the system may do this.")

    def has_permission(self, request: Request, view: Any) -> bool:
        return request.method in SAFE_METHODS or view.principal.is_superuser
