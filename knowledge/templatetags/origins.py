"""What templates need to know about where documents come from."""

from django import template
from django.http import HttpRequest

from authz.principal import Principal
from knowledge.sources.services import may_connect, seen_sources

register = template.Library()


@register.simple_tag
def looks_after_sources(request: HttpRequest) -> bool:
    """Tell whether there is a source for this person to look after; whoever may make the first one has one to make."""
    return may_connect(request.user) or seen_sources(Principal.of(request.user), request.user).exists()
