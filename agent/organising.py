"""How a person keeps their conversations: by what they call them, where they file them, what stays on top and what is put away."""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from agent.models import Session
from agent.sessions import get_session, sessions_of
from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput

TITLE_LENGTH, LABEL_LENGTH = 200, 40  # characters


@transaction.atomic
def organise(principal: Principal, session_id: UUID, **changes: str | bool) -> None:
    """Change what is given of `title`, `label`, `is_pinned` and `is_archived`; when it was last asked in stays as it is.

    Raises NotFound and InvalidInput (a title is never empty: it would be in no list).
    """
    session = get_session(principal, session_id)
    given = {name: value.strip() if isinstance(value, str) else value for name, value in changes.items()}
    if given.get("title") == "":
        raise InvalidInput(_("Give the conversation a name."))
    for name, most in (("title", TITLE_LENGTH), ("label", LABEL_LENGTH)):
        if len(str(given.get(name, ""))) > most:
            raise InvalidInput(_("A name has at most %(most)s characters.") % {"most": most})
    Session.objects.filter(pk=session.pk).update(**given)
    record(principal, Action.CONVERSATION_FILED, session, detail={"changed": sorted(given)})


def labels_of(principal: Principal) -> list[str]:
    """Those that the person has given, each once, by name."""
    rows = sessions_of(principal).exclude(label="").order_by("label")
    return list(rows.values_list("label", flat=True).distinct())
