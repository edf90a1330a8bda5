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


@dataclass(frozen=True)
class _Kept:
    action: Action
    target: models.Model | None
    outcome: Outcome
    reason: str
    detail: dict[str, Any]


@dataclass
class DeferredEntries:
    """A Recorder that keeps what it is given. Who did it, and in which run, is said when it is written: not who it was tried for."""

    _kept: list[_Kept] = field(default_factory=list)

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
        self._kept.append(_Kept(action, target, outcome, reason, dict(detail or {})))

    @transaction.atomic
    def write(self, by: Actor, *, on_behalf_of: Actor) -> None:
        """Record all of it as a trial by one person with another's rights, in its order. Raises whatever the database raises."""
        for each in self._kept:
            record(
                by,
                each.action,
                each.target,
                outcome=each.outcome,
                reason=each.reason,
                detail=each.detail | {"trial": True},
                on_behalf_of=on_behalf_of,
            )
        self._kept.clear()
