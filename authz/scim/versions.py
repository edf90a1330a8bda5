"""Which state of a resource an answer shows: the `ETag` that a change may name."""

import hashlib
import json
from datetime import datetime
from typing import Any

from scim2_models import Meta, Resource


def meta_of(resource: Resource[Any], kind: str, created_at: datetime, changed_at: datetime) -> Meta:
    """Its times, and as version a hash of all that it says: what changed by another way counts, too."""
    said = json.dumps(resource.model_dump(mode="json", exclude={"meta"}), sort_keys=True)
    version = f'W/"{hashlib.sha256(said.encode()).hexdigest()[:24]}"'
    return Meta(resource_type=kind, created=created_at, last_modified=changed_at, version=version)
