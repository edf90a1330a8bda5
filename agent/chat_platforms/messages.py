"""Messages to bots as rows: stored once, claimed by a worker, and closed."""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from agent.chat_platforms.feishu import Incoming
from agent.models import ChatBot, ChatMessage

LEASE = timedelta(seconds=60)  # without a heartbeat of the worker
MAX_ATTEMPTS = 3
KEPT = timedelta(days=30)  # longer than platforms redeliver events


def store_message(bot: ChatBot, incoming: Incoming) -> UUID | None:
    """Store a message; return None where it is stored already."""
    row = ChatMessage(bot=bot, **vars(incoming))
    made = ChatMessage.objects.bulk_create([row], ignore_conflicts=True)
    return row.pk if made and ChatMessage.objects.filter(pk=row.pk).exists() else None


@transaction.atomic
def claim_message(pk: UUID) -> ChatMessage | None:
    """Claim a message; return None where it is claimed or answered already. The attempt is counted before the work."""
    rows = ChatMessage.objects.select_for_update(skip_locked=True, of=("self",)).select_related("bot")
    row = rows.filter(_build_unclaimed_filter(), pk=pk, bot__is_active=True).first()
    if row is not None:
        row.attempts, row.claimed_at = row.attempts + 1, timezone.now()
        row.save(update_fields=["attempts", "claimed_at"])
    return row


def renew_claim(pk: UUID) -> None:
    ChatMessage.objects.filter(pk=pk).update(claimed_at=timezone.now())


def update_message(row: ChatMessage, values: Mapping[str, object]) -> None:
    ChatMessage.objects.filter(pk=row.pk).update(**values)


def close_message(row: ChatMessage, problem: str = "") -> None:
    """Mark a message as answered or given up, and delete its text, which its conversation has."""
    update_message(row, {"answered_at": timezone.now(), "problem": problem[:300], "text": ""})


def find_abandoned_messages() -> list[UUID]:
    """Return the messages whose worker died, the oldest first, and delete those too old to be sent again."""
    ChatMessage.objects.filter(received_at__lt=timezone.now() - KEPT).delete()
    is_late = Q(claimed_at__isnull=False) | Q(received_at__lt=timezone.now() - LEASE / 2)
    rows = ChatMessage.objects.filter(_build_unclaimed_filter(), is_late, bot__is_active=True)
    return list(rows.order_by("received_at").values_list("pk", flat=True)[:100])


def _build_unclaimed_filter() -> Q:
    unclaimed = Q(claimed_at=None) | Q(claimed_at__lt=timezone.now() - LEASE)
    return unclaimed & Q(answered_at=None, attempts__lt=MAX_ATTEMPTS)
