"""Reviews of rights for whoever governs or audits places, on pages and API: folders by groups, and the yearly export."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record
from authz.governing import is_reviewer
from authz.principal import Principal
from copilot_site.lib.errors import NotFound
from knowledge.governance.effective_rights import bases_of
from knowledge.governance.governed_places import reviewed_places
from knowledge.governance.parameters import Place, kind_of
from knowledge.governance.review import Matrix, effective_access, matrix
from knowledge.models import KnowledgeBase

MOST_ROWS = 500  # places of a matrix; the export has all


def reviewed_matrix(by: Principal, base_id: UUID) -> tuple[KnowledgeBase, Matrix]:
    """Raises NotFound, the same for missing and for a base in which nothing is governed."""
    shown = reviewed_places(by)
    base = bases_of(shown).filter(pk=base_id).first()
    if base is None:
        raise _nothing()
    record_review(by, base)
    return base, matrix(base.pk, set(shown), most_rows=MOST_ROWS)


def export_access(by: Principal, base_id: UUID | None = None) -> tuple[Iterator[Sequence[Any]], str]:
    """The rows of everybody's effective access with a name for their file; recorded. base_id: only this knowledge base.

    Raises NotFound, the same for missing and for where nothing is governed.
    """
    shown = reviewed_places(by)
    chosen = [pk for pk in bases_of(shown).values_list("pk", flat=True) if base_id in {None, pk}]
    if not chosen:
        raise _nothing()
    record(by, Action.ACCESS_EXPORTED, detail={"knowledge_bases": [str(pk) for pk in chosen]})
    return effective_access(chosen, set(shown)), f"effective-access-{timezone.localdate():%Y-%m-%d}.csv"


def record_review(by: Principal, place: Place) -> None:
    """An auditor has looked at the rights on a place; its managers look at what is theirs."""
    if is_reviewer(by) and not by.is_superuser:
        record(by, Action.ACCESS_EXPLAINED, place, detail={"review": kind_of(place)})


def _nothing() -> NotFound:
    return NotFound(_("There is no such knowledge base, or you manage nothing in it."))
