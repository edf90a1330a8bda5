"""The only manager that returns protected rows, and the models that have it."""

from typing import Any, ClassVar, Generic, NoReturn, Self, TypeVar

from django.db import models
from django.db.models import Case, Q, QuerySet, Value, When

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import select_folder_ids


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


class Guarded(models.Model):
    """A model whose rows people read through `objects`; `unscoped` serves workers, and what Django reads by itself.

    RIGHTS_AT: the field, or the path to it, of the folder that a row's rights are read from. A model without one has a `reach` of its own.
    """

    RIGHTS_AT: ClassVar[str]

    unscoped: ClassVar[models.Manager[Self]] = models.Manager()
    objects: ClassVar[GuardedManager[Self]] = GuardedManager()

    class Meta:
        abstract = True
        default_manager_name = base_manager_name = "unscoped"

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        """Return a filter for the rows on which this person holds the right."""
        return Q(**{f"{cls.RIGHTS_AT}__in": select_folder_ids(principal, right)})
