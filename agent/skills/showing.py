"""Which files of answers can still be downloaded by whoever asked."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from agent.skills.models import MadeFile
from authz.principal import Principal
from business.results.visibility import Queried, visible_queries

KEPT = timedelta(days=7)


def kept_files() -> QuerySet[MadeFile]:
    """Those that are not thrown away yet, without their content."""
    return MadeFile.objects.filter(created_at__gt=timezone.now() - KEPT).defer("content")


def made_files(principal: Principal, message_ids: Collection[UUID]) -> list[MadeFile]:
    """Of these answers, as far as the person may see all that they were made of."""
    if not message_ids:
        return []
    rows = list(kept_files().filter(message__in=message_ids))
    grounds = {row.pk: {Queried.model_validate_json(key) for key in row.grounds} for row in rows}
    visible = visible_queries(principal, {one for each in grounds.values() for one in each})
    return [row for row in rows if grounds[row.pk] <= visible]
