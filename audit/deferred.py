"""Audit entries of work in a read-only transaction: kept until it ends, then recorded under the name of whoever ran it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.db import models, transaction

from audit.actions import Action, Outcome
from audit.record import Actor, record


class Recorder(Protocol):
    """A function that records work: `audit.record.record`, or one that keeps the entries for later."""

    def __call__(
        self,
        actor: Actor | None,
        action: Action,
        target: models.Model | None = None,
        *,
        outcome: Outcome = Outcome.ALLOW,
        reason: str = "",
        run_id: str = "",
        detail: Mapping[str, Any] | None = None,
    ) -> object: ...


@dataclass
class DeferredEntries:
    """A Recorder that keeps its entries. Actor and run are set by `write`: they are not those of the trial."""

    _kept: list[dict[str, Any]] = field(default_factory=list)

    def __call__(
        self,
        actor: Actor | None,
        action: Action,
        target: models.Model | None = None,
        *,
        outcome: Outcome = Outcome.ALLOW,
        reason: str = "",
        run_id: str = "",
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        marked = {**(detail or {}), "trial": True}
        self._kept.append({"action": action, "target": target, "outcome": outcome, "reason": reason, "detail": marked})

    @transaction.atomic
    def write(self, by: Actor, *, on_behalf_of: Actor) -> None:
        """Record the kept entries in order, as a trial by one person with another's rights. Raises whatever the database raises."""
        for entry in self._kept:
            record(by, **entry, on_behalf_of=on_behalf_of)
        self._kept.clear()
