"""Base classes of API views: they load the principal and check the token's scopes."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.routers import DynamicRoute, Route, SimpleRouter
from rest_framework.viewsets import ViewSetMixin

from authz.principal import Principal
from authz.rest.parsers import BoundedJSONParser
from authz.scopes import TokenScope
from authz.tokens.api_tokens import Bearer


class PrincipalView(GenericAPIView[Any]):
    """A view that knows its principal, read from the database once for each request.

    token_scopes: what a token must be for, by method; one of them is enough: {"get": (TokenScope.SEARCH,)}. A method that is not
    named refuses every token: a route that nobody thought of is closed to programs.
    besides: what a token must be for, too, whatever the method.
    """

    parser_classes = [BoundedJSONParser]
    token_scopes: ClassVar[Mapping[str, tuple[TokenScope, ...]]] = {}
    besides: ClassVar[tuple[TokenScope, ...]] = ()

    @cached_property
    def principal(self) -> Principal:
        if isinstance(self.request.auth, Bearer):
            return self.request.auth.principal
        return Principal.of(self.request.user).signed_in(self.request.session.session_key)

    def get_serializer_context(self) -> dict[str, Any]:
        """Add the principal who reads."""
        return {**super().get_serializer_context(), "principal": self.principal}

    def scoped(self, method: str) -> str:
        """Return the name of a request with this method in `token_scopes`."""
        return "get" if method == "head" else method

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if not isinstance(request.auth, Bearer):
            return
        method = (request.method or "").lower()
        if not hasattr(self, method):  # an unsupported method is not a missing scope
            raise MethodNotAllowed(request.method or "")
        scopes = self.token_scopes.get(self.scoped(method), ())
        if not scopes:
            self.permission_denied(request, message=_("A token cannot do this. Sign in as a person."), code="no_tokens")
        for choice in (scopes, *((scope,) for scope in self.besides)):
            if not any(request.auth.principal.may_use(scope) for scope in choice):
                self.permission_denied(
                    request, message=_format_missing_scope(choice[0], request.auth), code="missing_scope"
                )


class PrincipalViewSet(ViewSetMixin, PrincipalView):
    """A resource with a list, rows, and what is done to them. token_scopes: by action, {"list": (TokenScope.SEARCH,)}."""

    lookup_value_converter = "uuid"

    def scoped(self, method: str) -> str:
        return self.action or ""


class ResourceRouter(SimpleRouter):
    """`folders` and `folders/<uuid:pk>`, called `folders` and `folder`; no address ends with a slash."""

    routes = [
        Route("{prefix}", {"get": "list", "post": "create"}, name="{basename}s", detail=False, initkwargs={}),
        Route("{prefix}/{lookup}", {"get": "retrieve", "delete": "destroy"}, "{basename}", detail=True, initkwargs={}),
        DynamicRoute("{prefix}/{lookup}/{url_path}", "{basename}-{url_name}", detail=True, initkwargs={}),
    ]

    def __init__(self) -> None:
        super().__init__(trailing_slash=False, use_regex_path=False)


def _format_missing_scope(scope: TokenScope, bearer: Bearer) -> str:
    return _(
        "This token is for %(has)s; this needs the scope “%(scope)s”. Create a token with it on your tokens page."
    ) % {
        "has": ", ".join(f"“{name}”" for name in bearer.scopes),
        "scope": scope.value,
    }
