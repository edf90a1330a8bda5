"""Read as another person, on the page and in the API: the access is audited first, then nothing can be written."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from agent.oversight.dry_run import open_read_only_review
from audit.actions import Action
from audit.record import DeferredEntries, record_action
from authz.principal import Principal
from authz.rights.snapshot import take_snapshot
from knowledge.retrieval.search import FoundPassages, Scope, search


@dataclass(frozen=True)
class Impersonation:
    """One impersonation. sees: the person with today's rights, nobody for a disabled account.

    perm_snapshot_id: of these rights, "" for nobody. withheld: audit records of tools, until they may be written.
    """

    user: User
    sees: Principal
    perm_snapshot_id: str
    withheld: DeferredEntries

    def search(self, query: str, *, top_k: int, scope: Scope | None = None) -> FoundPassages:
        """Search with their rights; that passages were shown is audited after the block. Raises as `search` does."""
        found = search(self.sees, query, scope=scope, top_k=top_k)
        if documents := sorted({str(hit.passage.document_id) for hit in found.hits}):
            self.withheld(self.sees, Action.EVIDENCE_SHOWN, detail={"documents": documents})
        return found


@dataclass(frozen=True)
class _Eyes:
    """The impersonated person, for the audit log; a disabled person has no principal."""

    user_id: int
    username: str


@contextmanager
def impersonate_user(by: Principal, user: User, *, what: str, text: str = "") -> Iterator[Impersonation]:
    """Open a block in which `by`, who may oversee, reads with this person's rights, and the database refuses to write.

    what: `tree`, `search` or `ask`, for the audit record, which is committed before the block begins. text: the search
    or question; only its length is recorded, because it is the reviewer's and not the person's.
    """
    person, eyes = Principal.of(user), _Eyes(user.pk, user.get_username())
    with transaction.atomic():
        snapshot_id = "" if person.is_nobody else take_snapshot(person)
        detail: dict[str, object] = {"what": what}
        detail |= {"perm_snapshot_id": snapshot_id} if snapshot_id else {}
        detail |= {} if what == "tree" else {"characters": len(text)}
        record_action(by, Action.ACCESS_PREVIEWED, user, detail=detail, on_behalf_of=eyes)
    with open_read_only_review(by, on_behalf_of=eyes) as withheld:
        yield Impersonation(user, person, snapshot_id, withheld)
