"""Keep the promises to people: which questions are listed without a name, and that they learn who looked at their conversations."""

from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from agent.models import ConversationView, PrivacySettings, Session
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, PermissionDenied

ENOUGH_PEOPLE = 3  # different askers hide who asked
THE_ROW = 1


def load_privacy_settings() -> PrivacySettings:
    """Return the settings; unsaved ones with the defaults where nobody changed them."""
    return PrivacySettings.objects.filter(pk=THE_ROW).first() or PrivacySettings(pk=THE_ROW)


@transaction.atomic
def change_privacy(principal: Principal, *, reason: str, **fields: bool | int) -> None:
    """Change the settings; audited with the reason, the old and the new values.

    Raises PermissionDenied (no superuser) and InvalidInput (no reason).
    """
    if not principal.is_superuser:
        raise PermissionDenied(_("Only system administrators change privacy settings."))
    if not reason.strip():
        raise InvalidInput(_("Give the reason: a case or file number."))
    row = load_privacy_settings()
    before = {name: getattr(row, name) for name in fields}
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()
    record_action(
        principal, Action.SETTING_CHANGED, row, reason=reason.strip(), detail={"before": before, "after": fields}
    )


def record_conversation_view(viewer: Principal, session: Session) -> ConversationView | None:
    """Store that somebody looked at a conversation, for its owner; None for one's own. Call it in the look's transaction."""
    if session.user_id == viewer.user_id:
        return None
    told_at = timezone.now() + timedelta(days=load_privacy_settings().told_after_days)
    return ConversationView.objects.create(session=session, viewer_id=viewer.user_id, told_at=told_at)


def visible_views(principal: Principal) -> QuerySet[ConversationView]:
    """Return the looks at this person's conversations that they are told of by now, the latest first."""
    views = ConversationView.objects.filter(session__user_id=principal.user_id, told_at__lte=timezone.now())
    return (views if principal.folder_id is None else views.none()).select_related("session", "viewer")


def mark_views_seen(principal: Principal, session: Session) -> None:
    visible_views(principal).filter(session=session, seen_at=None).update(seen_at=timezone.now())
