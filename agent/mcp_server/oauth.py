"""OAuth discovery for `/mcp`, and access tokens of the company's sign-in, where it is configured (RFC 9728, RFC 6750)."""

from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe
from rest_framework.authentication import get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from authz.access_tokens import authenticate_access_token, list_issuers
from authz.oidc import list_sign_ins
from authz.rest.authentication import TokenAuthentication, TokenScheme
from authz.tokens.api_tokens import Bearer, TokenRefused
from copilot_site.lib.site import find_site_address


class McpAuthentication(TokenAuthentication):
    """API tokens of ours and, where the company's sign-in is configured, its access tokens for this address."""

    def authenticate(self, request: Request) -> tuple[User, Bearer] | None:
        scheme, _space, token = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or token.count(".") != 2 or not accepts_sign_in_tokens(request._request):
            return super().authenticate(request)
        try:
            bearer = authenticate_access_token(
                request._request, token.strip(), audience=build_resource_address(request._request)
            )
        except TokenRefused as refused:
            raise AuthenticationFailed(str(refused)) from refused
        return bearer.user, bearer

    def authenticate_header(self, request: Request) -> str:
        """Return the header that tells a program where to find its token issuer."""
        if not accepts_sign_in_tokens(request._request):
            return super().authenticate_header(request)
        return f'Bearer resource_metadata="{find_site_address(request._request)}{reverse("mcp-metadata")}"'


class McpScheme(TokenScheme):  # type: ignore[no-untyped-call]
    target_class = McpAuthentication
    name = "tokenOrSignIn"


@require_safe
def metadata(request: HttpRequest) -> JsonResponse:
    """Return the metadata of `/mcp` as a protected resource; 404 where no sign-in is configured."""
    if not accepts_sign_in_tokens(request):
        raise Http404
    return JsonResponse(
        {
            "resource": build_resource_address(request),
            "authorization_servers": list_issuers(request),
            "bearer_methods_supported": ["header"],
            "resource_name": "Enterprise Knowledge Copilot",
        }
    )


def accepts_sign_in_tokens(request: HttpRequest) -> bool:
    """Return whether sign-in tokens are accepted.

    They are where a sign-in is configured and this site knows its own name, the tokens' audience.
    """
    return bool(settings.SITE_URL or "*" not in settings.ALLOWED_HOSTS) and bool(list_sign_ins(request))


def build_resource_address(request: HttpRequest) -> str:
    return find_site_address(request) + reverse("mcp")
