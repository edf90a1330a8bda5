"""Template tags about requests for access."""

from django import template
from django.http import HttpRequest

from authz.models import RequestState
from authz.principal import Principal
from knowledge.services.access_requests import requests_for

register = template.Library()


@register.simple_tag
def waiting_requests(request: HttpRequest) -> int:
    """Return how many requests wait for the person asking to decide; they are decided in the administration, by staff."""
    return requests_for(Principal.of(request.user)).filter(state=RequestState.OPEN).count()
