"""The only door to protected rows."""

from typing import Any, Generic, NoReturn, Protocol, TypeVar

from django.db import models
from django.db.models import Case, Q, QuerySet, Value, When

from authz.permissions import Right
from authz.principal import Principal


class MissingPrincipal(Exception):
    """Protected rows were asked for without saying who asks."""


class Protected(Protocol):
    """A model whose rows belong to folders: it says which of them a right reaches."""

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q: ...


M = TypeVar("M", bound=models.Model)


class GuardedManager(models.Manager[M], Generic[M]):
    """A manager with one door: `visible_to(principal)`, or `reachable_by(principal, right)` for another right."""

    def get_queryset(self) -> NoReturn:
        raise MissingPrincipal(f"{self.model.__name__}.objects needs .visible_to(principal)")

    def visible_to(self, principal: Principal) -> QuerySet[M]:
        """Return the rows this person may be answered from."""
        return self.reachable_by(principal, Right.VIEW)

    def reachable_by(self, principal: Principal, right: Right) -> QuerySet[M]:
        """Return the rows on which this person holds `right`."""
        model: Any = self.model
        return super().get_queryset().filter(model.reach(principal, right))

    def permitted(self, principal: Principal, right: Right, **lookup: Any) -> QuerySet[M]:
        """Return the rows that match, of those on which this person holds `right`, which is looked for after a row is found.

        As a plain condition PostgreSQL may plan it as a join that begins with the rights, or ask for it before the id.
        """
        model: Any = self.model
        is_reached = Case(When(model.reach(principal, right), then=Value(True)), default=Value(False))
        rows = super().get_queryset().filter(**lookup)
        return rows.filter(Case(When(Q(**lookup), then=is_reached), default=Value(False)))
