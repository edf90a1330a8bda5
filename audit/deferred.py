"""Entries of what is done where the database may not be written: kept until it may, then recorded as done by whoever looks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.db import models, transaction

from audit.actions import Action, Outcome
from audit.record import Actor, record


class Recorder(Protocol):
    """How work is recorded: `audit.record.record`, or something that keeps the entries for later."""

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
