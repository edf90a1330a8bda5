"""Where a row lies, as far as its reader may know: ids of folders above that are not theirs to see do not leave."""

from typing import Any, cast
from uuid import UUID

from rest_framework import serializers

from knowledge.models import Folder


class VisibleFolderField(serializers.UUIDField):
    """The id of a folder, null where the reader may not see it. The rows of a list are looked up together.

    context: `principal`, who reads.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **options)

    def to_representation(self, value: UUID) -> str | None:  # type: ignore[override]  # null is what this field is for
        known: dict[UUID, bool] = cast("dict[str, Any]", self.context).setdefault("visible_folders", {})
        if value not in known:
            rows = self.root.instance if isinstance(self.root, serializers.ListSerializer) else ()
            ids: set[UUID] = {value, *filter(None, (getattr(row, str(self.source), None) for row in rows or ()))}
            seen = Folder.objects.visible_to(self.context["principal"]).filter(pk__in=ids)
            visible = set(seen.values_list("pk", flat=True))
            known |= {one: one in visible for one in ids}
        return super().to_representation(value) if known[value] else None
