"""The service's own description, and the deviations from the standard that it accepts.

Loaded by the first request: schemas and grammar take 20 MB and a second.
"""

from collections.abc import Mapping
from functools import cache

from scim2_models import (
    AuthenticationScheme,
    Bulk,
    ChangePassword,
    ETag,
    Filter,
    Patch,
    SCIMException,
    ScimPolicy,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
)
from scim2_server.handler import ScimHandler
from scim2_server.requests import ScimRequest
from scim2_server.responses import ScimResponse
from scim2_server.service import ScimService

from authz.principal import Principal
from authz.scim.requests import BoundedService
from authz.scim.resources import Group, User
from authz.scim.storage import RowStorage

MAX_RESULTS = 200  # of one page


@cache
def build_service() -> ScimService:
    """Set up the protocol, lenient to Entra ID: unknown attributes, removal by value, writes to missing entries."""
    token = AuthenticationScheme(
        type=AuthenticationScheme.Type.oauthbearertoken,
        name="API token",
        description="A token with the scope “provision” of an account that may keep accounts and groups.",
        primary=True,
    )
    config = ServiceProviderConfig(
        patch=Patch(supported=True),
        bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
        filter=Filter(supported=True, max_results=MAX_RESULTS),
        change_password=ChangePassword(supported=False),
        sort=Sort(supported=False),
        etag=ETag(supported=True),
        authentication_schemes=[token],
    )
    policy = ScimPolicy(
        unknown=ScimPolicy.Unknown.ignore,
        remove_value_as_filter=ScimPolicy.RemoveValue.apply,
        unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
    )
    return BoundedService(ScimProvider(models=[User, Group], config=config, policy=policy))


def answer_request(
    by: Principal,
    method: str,
    base_url: str,
    path: str,
    *,
    query: Mapping[str, str],
    headers: Mapping[str, str],
    body: bytes,
) -> ScimResponse:
    """Return the response to a request, refusals included."""
    request = ScimRequest(method, base_url, f"/{path}", query, headers, body)
    try:
        return ScimHandler(build_service(), RowStorage(by)).handle(request)
    except SCIMException as refused:
        return build_service().error_response(refused)
