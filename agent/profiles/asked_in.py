"""Filters of a question or a search besides ids, as clients and models write them."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field

from authz.principal import Principal
from authz.scopes import TokenScope
from business.sources.data_scope import TableName
from business.sources.table_choice import find_tables_by_name
from copilot_site.lib.errors import NotFound, PermissionDenied
from knowledge.retrieval.conditions import FieldCondition
from knowledge.services.fields import parse_conditions

MAX_TABLES = 20
Said = str | int | float | None


class FieldSays(BaseModel):
    """A condition on a field of the documents."""

    model_config = ConfigDict(extra="forbid")

    field: str = Field(max_length=60, description="Its name; get_document_info shows them.")
    equals: Said = None
    contains: str = Field(default="", description="A part of its text.")
    at_least: Said = Field(default=None, description="A number or an ISO date.")
    at_most: Said = None


class TableAsked(BaseModel):
    """A table of a data source: a question is asked of those that are named, and of no other data."""

    model_config = ConfigDict(extra="forbid")

    source: str = Field(max_length=50, description="Name of the data source.")
    table: str = Field(max_length=63, description="Name of the table in its semantic layer.")

    @property
    def named(self) -> TableName:
        return TableName(self.source, self.table)


def require_tables(principal: Principal, names: Sequence[TableName]) -> None:
    """Require that this person may query each table.

    Raises NotFound, in the same words for a hidden and a missing table, and PermissionDenied for a token without the
    scope `sql`.
    """
    if names and not principal.may_use(TokenScope.SQL):
        raise PermissionDenied(_("To ask tables, a token needs the scope “sql”."))
    found = find_tables_by_name(principal, names) if names else {}
    missing = next((name for name in names if name not in found), None)
    if missing is not None:
        raise NotFound(
            _("There is no table %(table)s in a data source %(source)s that you can ask.")
            % {"table": missing.table, "source": missing.source}
        )


def build_conditions(
    principal: Principal, says: Iterable[FieldSays], base_ids: Sequence[UUID] = ()
) -> tuple[FieldCondition, ...]:
    """Return the conditions as the search takes them.

    Raises InvalidInput for a field that this person does not see in these bases, and for a value that does not fit.
    """
    return parse_conditions(principal, (item.model_dump() for item in says), base_ids)
