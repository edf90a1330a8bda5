"""Every address below /api/."""

from typing import Any, NoReturn

from django.urls import include, path, re_path
from django.utils.translation import gettext as _
from drf_spectacular.plumbing import get_lib_doc_excludes
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

import agent.rest.urls
import authz.rest.urls
import knowledge.rest.urls
from authz.rest.views import PrincipalView, PrincipalViewSet

app_name = "api"


def undescribed() -> list[type]:
    """Return base classes whose docstrings are for developers; the API's description leaves them out."""
    return [PrincipalView, PrincipalViewSet, *get_lib_doc_excludes()]  # type: ignore[no-untyped-call]  # of a library without types


class NoSuchAddress(APIView):
    """What is no address of the API is a problem document, too."""

    permission_classes = [AllowAny]

    @extend_schema(exclude=True)
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotFound(_("There is no such address. All of them are listed at /api/docs/; none ends with a slash."))


urlpatterns = [
    path(
        "v1/", include([*knowledge.rest.urls.urlpatterns, *agent.rest.urls.urlpatterns, *authz.rest.urls.urlpatterns])
    ),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path(
        "docs/", SpectacularSwaggerSplitView.as_view(url_name="api:schema", template_name="api_docs.html"), name="docs"
    ),
    re_path("", NoSuchAddress.as_view(schema=None)),
]
