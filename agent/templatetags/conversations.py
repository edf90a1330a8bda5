"""What templates need to know about conversations."""

from django import template
from django.db.models import QuerySet
from django.http import HttpRequest

from agent.models import Session
from agent.sessions import sessions_of
from authz.principal import Principal
from knowledge.ingestion.language import language_of

register = template.Library()

RECENT = 40  # conversations in the rail; older ones are reached by their address


@register.simple_tag
def recent_conversations(request: HttpRequest) -> QuerySet[Session]:
    """The latest conversations of the person asking that have a question in them."""
    return sessions_of(Principal.of(request.user)).exclude(title="")[:RECENT]


@register.filter
def script(text: str) -> str:
    """The `lang` attribute for a text that came without one."""
    return language_of(text) or "en"
