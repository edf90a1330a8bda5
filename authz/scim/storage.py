"""The storage of scim2-server: our rows, as the resources of `authz.scim.resources`."""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from scim2_models import (
    InvalidValueException,
    NotFoundException,
    PreconditionFailedException,
    Resource,
    ResourceType,
    ResponseParameters,
    ScimFilter,
    SearchRequest,
    UniquenessException,
)
from scim2_models.path.expressions import CompareOperator, Comparison, FilterNode, LogicalExpr, LogicalOperator
from scim2_server.storage import ScimStorage, SearchPage

from authz.principal import Principal
from authz.scim.rows import Accounts, Groups
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from copilot_site.lib.text.json_input import remove_forbidden_characters


class ResourceStore(Protocol):
    """The rows of one type of resource."""

    lookups: dict[str, str]

    def rows(self) -> QuerySet[Any]: ...
    def resources(self, rows: Collection[Any], left_out: Collection[str]) -> list[Any]: ...
    def create(self, given: Any) -> Any: ...
    def update(self, row: Any, given: Any) -> None: ...
    def delete(self, row: Any) -> None: ...


class RowStorage(ScimStorage):
    """The rows that SCIM keeps, for one request. by: the token's owner."""

    def __init__(self, by: Principal) -> None:
        self._kinds: dict[str, ResourceStore] = {"User": Accounts(by), "Group": Groups(by)}

    def operation(self) -> AbstractContextManager[None]:
        return transaction.atomic()

    def get(
        self,
        resource_type: ResourceType,
        resource_id: str,
        *,
        response_parameters: ResponseParameters[Any] | None = None,
    ) -> Resource[Any]:
        kind = self._find_kind(resource_type)
        return _build_resource(kind, _find_row(kind, resource_id), _list_excluded_attributes(response_parameters))

    def search(
        self, resource_types: list[ResourceType], search_request: SearchRequest[Any], *, position: Any = None
    ) -> SearchPage:
        """Read one page where nothing is filtered; a filter narrows the rows read as far as the database can."""
        kinds = [self._find_kind(name) for name in resource_types]
        start, count = search_request.start_index_0 or 0, search_request.count
        stop = None if count is None else start + count
        left_out = _list_excluded_attributes(search_request)
        if len(kinds) == 1 and search_request.filter is None:
            rows = kinds[0].rows()
            return SearchPage(rows.count(), kinds[0].resources(rows[start:stop], left_out))
        found = [
            resource for kind in kinds for resource in _find_matching_resources(kind, search_request.filter, left_out)
        ]
        return SearchPage(len(found), found[start:stop])

    def create(self, resource_type: ResourceType, resource: Resource[Any]) -> Resource[Any]:
        kind = self._find_kind(resource_type)
        with _translate_errors():
            row = kind.create(_check_texts(resource))
        return _build_resource(kind, row)

    def update(
        self, resource_type: ResourceType, resource: Resource[Any], *, expected_version: str | None = None
    ) -> Resource[Any]:
        kind = self._find_kind(resource_type)
        with _translate_errors():
            kind.update(_lock_row(kind, resource.id or "", expected_version), _check_texts(resource))
        return _build_resource(kind, _find_row(kind, resource.id or ""))

    def delete(self, resource_type: ResourceType, resource_id: str, *, expected_version: str | None = None) -> None:
        kind = self._find_kind(resource_type)
        with _translate_errors():
            kind.delete(_lock_row(kind, resource_id, expected_version))

    def _find_kind(self, resource_type: ResourceType) -> ResourceStore:
        return self._kinds[str(resource_type.name)]


def _find_row(kind: ResourceStore, resource_id: str, *, locked: bool = False) -> Any:
    """Return a row. Raises NotFoundException, the same for missing rows and those SCIM does not keep."""
    rows = kind.rows().select_for_update(of=("self",)) if locked else kind.rows()
    try:
        row = rows.filter(pk=UUID(resource_id)).first()
    except ValueError:
        row = None
    if row is None:
        raise NotFoundException(detail=f"There is no {resource_id[:100]!r} here.")
    return row


def _check_texts(resource: Resource[Any]) -> Resource[Any]:
    """Check a resource's texts, filters in paths included, and return it. Raises InvalidInput for unstorable ones."""
    given = resource.model_dump()
    if remove_forbidden_characters(given) != given:
        raise InvalidInput(_("A text of this request holds a character that cannot be kept."))
    return resource


def _lock_row(kind: ResourceStore, resource_id: str, version: str | None) -> Any:
    """Return the row to change, locked, still at this version. Raises NotFoundException, PreconditionFailedException."""
    row = _find_row(kind, resource_id, locked=True)
    meta = _build_resource(kind, row).meta
    if version is not None and meta is not None and meta.version != version:
        raise PreconditionFailedException
    return row


def _build_resource(kind: ResourceStore, row: Any, left_out: Collection[str] = ()) -> Resource[Any]:
    shown: Resource[Any] = kind.resources([row], left_out)[0]
    return shown


def _list_excluded_attributes(parameters: ResponseParameters[Any] | None) -> set[str]:
    return {str(path).lower() for path in (parameters.excluded_attributes if parameters else None) or ()}


def _find_matching_resources(
    kind: ResourceStore, wanted: ScimFilter[Any] | None, left_out: set[str]
) -> list[Resource[Any]]:
    if wanted is None:
        return kind.resources(kind.rows(), left_out)
    asked, narrowed = str(wanted).lower(), _build_conditions(kind, wanted.ast)
    # no row holds text that no database stores
    rows = kind.rows().filter(**narrowed) if remove_forbidden_characters(narrowed) == narrowed else kind.rows().none()
    read = kind.resources(rows, {name for name in left_out if name not in asked})
    return [resource for resource in read if wanted.match(resource)]


def _build_conditions(kind: ResourceStore, node: FilterNode) -> dict[str, str]:
    """Return conditions on columns that every matching row meets."""
    if isinstance(node, LogicalExpr) and node.op == LogicalOperator.and_:
        return {name: value for term in node.terms for name, value in _build_conditions(kind, term).items()}
    if isinstance(node, Comparison) and node.op == CompareOperator.eq and isinstance(node.value, str):
        name = str(node.attr_path).rpartition(":")[2].lower()
        if name in kind.lookups:
            return {kind.lookups[name]: node.value}
    return {}


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Translate our errors into those of SCIM."""
    try:
        yield
    except Conflict as problem:
        raise UniquenessException(detail=str(problem)) from problem
    except InvalidInput as problem:
        raise InvalidValueException(detail=str(problem)) from problem
    except NotFound as problem:
        raise NotFoundException(detail=str(problem)) from problem
