"""The site with one address too many: it names what it refuses, and asks for more where there is something."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from copilot_site import urls
from knowledge.models import Document


def backdoor(_request: HttpRequest, document_id: str) -> HttpResponse:
    """What every one of our views must not be."""
    row = Document.unscoped.filter(pk=document_id).select_related("folder").first()
    if row is None:
        return HttpResponse("There is no such document.", status=404)
    return HttpResponse(f"{row.versions.count()} versions: not yours.", status=403)


urlpatterns = [*urls.urlpatterns, path("backdoor/<uuid:document_id>/", backdoor)]
