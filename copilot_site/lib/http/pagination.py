"""Pages of API lists. A page that is too large, or not a number, is an error that names the field: nothing is cut silently."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination, LimitOffsetPagination, PageNumberPagination
from rest_framework.request import Request

DEFAULT_ROWS = 50
MAX_ROWS = 100


def parse_whole_number(request: Request, name: str, *, default: int, least: int, most: int | None = None) -> int:
    """Return the query parameter `name`; raises ValidationError, naming it."""
    asked = request.query_params.get(name)
    if asked is None:
        return default
    try:
        return int(serializers.IntegerField(min_value=least, max_value=most).run_validation(asked))
    except serializers.ValidationError as error:
        raise serializers.ValidationError({name: error.detail}) from error


class CappedPagination(PageNumberPagination):
    """`?page=2&page_size=50`; at most 100 rows an answer."""

    page_size = DEFAULT_ROWS
    reads = frozenset({"page", "page_size"})
    page_size_query_param = "page_size"
    max_page_size = MAX_ROWS

    def get_page_size(self, request: Request) -> int:
        return parse_whole_number(request, "page_size", default=DEFAULT_ROWS, least=1, most=MAX_ROWS)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        parse_whole_number(request, "page", default=1, least=1)
        try:
            return super().paginate_queryset(queryset, request, view)
        except NotFound as error:
            raise serializers.ValidationError({"page": _("There is no such page: the list ends before it.")}) from error


class CappedOffsets(LimitOffsetPagination):
    """`?offset=100&limit=50`, for rows whose place is a number of its own; at most 100 rows an answer."""

    reads = frozenset({"limit", "offset"})
    default_limit = DEFAULT_ROWS
    max_limit = MAX_ROWS

    def get_limit(self, request: Request) -> int:
        return parse_whole_number(request, "limit", default=DEFAULT_ROWS, least=1, most=MAX_ROWS)

    def get_offset(self, request: Request) -> int:
        return parse_whole_number(request, "offset", default=0, least=0)


class CappedCursor(CursorPagination):
    """`?cursor=…`, for lists that grow while they are read; oldest first, at most 100 rows an answer."""

    reads = frozenset({"cursor", "page_size"})
    ordering: tuple[str, ...] = ("created_at", "id")
    page_size = DEFAULT_ROWS
    page_size_query_param = "page_size"
    max_page_size = MAX_ROWS

    def get_page_size(self, request: Request) -> int:
        return parse_whole_number(request, "page_size", default=DEFAULT_ROWS, least=1, most=MAX_ROWS)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        try:
            return super().paginate_queryset(queryset, request, view)
        except (NotFound, ValueError, ValidationError) as error:  # no cursor, or one with a place that no row can have
            raise serializers.ValidationError({"cursor": _("This cursor did not come from this list.")}) from error


class NewestFirst(CappedCursor):
    """`?cursor=…`, for rows with a sequence number; newest first."""

    ordering = ("-seq",)
