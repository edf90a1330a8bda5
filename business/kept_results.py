"""A result that is kept for minutes: for the same person, under the same rights, of the same statement, as its source allows.

Rights are read for each question as ever; what they come to is part of the key, so that a result is out of reach once they change.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace

from django.core.cache import cache
from django.utils import timezone

from authz.principal import Principal
from business.execute import Answer
from business.sources import OpenSource

FORM = 1  # of what is kept; another one is not read


async def kept(principal: Principal, opened: OpenSource, text: str, run: Callable[[], Awaitable[Answer]]) -> Answer:
    """The kept answer, or what `run` gives, kept from now on. Raises what `run` raises, which is not kept."""
    minutes = opened.source.kept_minutes
    if not minutes or opened.source.document_id is not None:  # a spreadsheet is read in memory
        return await run()
    key = key_of(principal, opened, text)
    found: Answer | None = await cache.aget(key)
    if found is None:
        found = replace(await run(), read_at=timezone.now())
        await cache.aset(key, found, timeout=60 * minutes)
    return found


def key_of(principal: Principal, opened: OpenSource, text: str) -> str:
    """Person, rights, source as it was last saved, day and statement."""
    source = opened.source
    rights, day = opened.access.policy.digest, timezone.now().astimezone(opened.time_zone).date()
    parts = [FORM, principal.user_id, rights, str(source.pk), source.changed_at.isoformat(), day.isoformat(), text]
    return f"business.result.{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"
