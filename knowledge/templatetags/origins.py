"""Template tags about the origins of documents."""

from django import template
from django.http import HttpRequest

from authz.principal import Principal
from knowledge.sources.services import may_connect, seen_sources

register = template.Library()


@register.simple_tag
def looks_after_sources(request: HttpRequest) -> bool:
    """Tell whether this person manages a source, or may create one."""
    return may_connect(request.user) or seen_sources(Principal.of(request.user), request.user).exists()
