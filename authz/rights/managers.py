"""The only manager that returns protected rows."""

from typing import Any, Generic, NoReturn, TypeVar

from django.db import models
from django.db.models import Case, Q, QuerySet, Value, When

from authz.permissions import Right
from authz.principal import Principal


class MissingPrincipal(Exception):
    """Protected rows were queried without a principal."""


M = TypeVar("M", bound=models.Model)


class GuardedManager(models.Manager[M], Generic[M]):
    """A manager that returns rows only through `visible_to(principal)`, or `reachable_by(principal, right)`."""

    def get_queryset(self) -> NoReturn:
        raise MissingPrincipal(f"{self.model.__name__}.objects needs .visible_to(principal)")

    def visible_to(self, principal: Principal) -> QuerySet[M]:
        """Return the rows this person may view."""
        return self.reachable_by(principal, Right.VIEW)

    def reachable_by(self, principal: Principal, right: Right) -> QuerySet[M]:
        """Return the rows on which this person holds `right`."""
        model: Any = self.model
        return super().get_queryset().filter(model.reach(principal, right))

    def permitted(self, principal: Principal, right: Right, **lookup: Any) -> QuerySet[M]:
        """Return the matching rows on which this person holds `right`; rights are read after a row is found.

        With a plain condition PostgreSQL may begin with the rights as a join, or check them before the id.
        """
        model: Any = self.model
        is_reached = Case(When(model.reach(principal, right), then=Value(True)), default=Value(False))
        rows = super().get_queryset().filter(**lookup)
        return rows.filter(Case(When(Q(**lookup), then=is_reached), default=Value(False)))
