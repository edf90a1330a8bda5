"""The few rules that do not hang on a row. Reading is decided by the rows' own door."""

from django.utils.translation import gettext_lazy as _
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from authz.principal import Principal
from authz.rest.authentication import TokenAuthentication


class WrittenBySuperusers(BasePermission):
    message = _("Only an administrator of the system may do this.")

    def has_permission(self, request: Request, view: object) -> bool:
        return request.method in SAFE_METHODS or Principal.of(request.user).is_superuser


class MadeByHand(BasePermission):
    """A token that could make tokens would never really expire."""

    message = _("A token cannot make tokens. Sign in with your password to make one.")

    def has_permission(self, request: Request, view: object) -> bool:
        return request.method in SAFE_METHODS or not isinstance(request.successful_authenticator, TokenAuthentication)
