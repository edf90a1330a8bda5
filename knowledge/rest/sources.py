"""Sources of documents, for their managers: list, create, test, read now."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers, status
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from authz.principal import Principal
from authz.rest.views import PrincipalView, PrincipalViewSet
from authz.rights.checks import get_visible
from authz.scopes import TokenScope
from copilot_site.lib.errors import NotFound, PermissionDenied
from copilot_site.lib.http.openapi import describe_operation
from copilot_site.lib.http.strict_serializers import Filters, Input
from copilot_site.lib.registry import UnknownName
from knowledge.models import Document, Every, Source, SourceRun, Trigger
from knowledge.sources.origin import SourceOrigin, find_document_origin
from knowledge.sources.reading import SourcePreview, find_connector_type
from knowledge.sources.services import (
    delete_source,
    find_managed_source,
    list_managed_sources,
    list_nameable_problems,
    may_connect_sources,
    save_source,
    try_source,
)
from knowledge.sources.tasks import queue_source_run

KEPT = (TokenScope.INGEST,)


class TriedSource(Input):
    kind = serializers.CharField(max_length=30, help_text="`folder`, `git`, …: as `manage.py source kinds` lists them.")
    settings = serializers.DictField(help_text="What this kind asks for.")
    secret = serializers.CharField(
        default="", allow_blank=True, max_length=2_000, help_text="Password or token; it is never shown again."
    )


class NewSource(TriedSource):
    name = serializers.CharField(max_length=100)
    folder = serializers.UUIDField(help_text="The folder that it fills.")
    every_minutes = serializers.ChoiceField(choices=Every.choices, default=Every.DAY.value)
    grace_hours = serializers.IntegerField(
        default=24,
        min_value=0,
        max_value=24 * 365,
        help_text="Hours for which documents removed at the source stay in answers.",
    )
    most_per_minute = serializers.IntegerField(default=0, min_value=0, max_value=60_000, help_text="Requests; 0: all.")
    takes_rights = serializers.BooleanField(
        default=False, help_text="Whether rights come along, where the kind has any."
    )


class RunSerializer(serializers.ModelSerializer[SourceRun]):
    """`state`: running, done, partial (the rest is kept), failed. `problems`: what failed and why, the first hundred; `what` is ""
    for pages that you may not see.
    """

    problems = serializers.SerializerMethodField()

    class Meta:
        model = SourceRun
        fields = (
            "id", "trigger", "state", "started_at", "finished_at", "seen", "added", "changed", "moved", "unchanged",
            "withdrawn", "failed", "problem", "problems",
        )  # fmt: skip
        read_only_fields = fields

    def get_problems(self, run: SourceRun) -> list[dict[str, str]]:
        return list_nameable_problems(self.context["view"].principal, self.context["request"].user, run)


class SourceSerializer(serializers.ModelSerializer[Source]):
    """`settings` hold no secret; whether there is one is `has_secret`."""

    has_secret = serializers.SerializerMethodField()

    class Meta:
        model = Source
        fields = (
            "id", "name", "folder", "kind", "settings", "has_secret", "is_active", "every_minutes", "grace_hours",
            "most_per_minute", "takes_rights", "next_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_has_secret(self, source: Source) -> bool:
        return bool(source.encrypted_secret)


class PreviewSerializer(serializers.Serializer[SourcePreview]):
    """The expected result of a run: number of pages (at least so many if `is_more`) and the first ten titles."""

    count = serializers.IntegerField()
    is_more = serializers.BooleanField()
    titles = serializers.ListField(child=serializers.CharField())
    problems = serializers.ListField(child=serializers.CharField())


class OriginSerializer(serializers.Serializer[SourceOrigin]):
    """`checked_at`: when it last matched the source; `gone_at`: since when the source lacks it."""

    source = serializers.CharField()  # type: ignore[assignment]  # a field of this name, not where values come from
    noun = serializers.CharField()
    path = serializers.CharField()
    url = serializers.CharField()
    author = serializers.CharField()
    modified_at = serializers.DateTimeField(allow_null=True)
    checked_at = serializers.DateTimeField(allow_null=True)
    gone_at = serializers.DateTimeField(allow_null=True)


class Sources(ListModelMixin, PrincipalViewSet):
    token_scopes = {"list": KEPT, "create": KEPT, "retrieve": KEPT, "destroy": KEPT}
    serializer_class = SourceSerializer

    def get_queryset(self) -> QuerySet[Source]:
        Filters.checked(self.request.query_params)
        return _list_sources(self.principal, self.request).order_by("name")

    @describe_operation("List the sources you look after", answer=SourceSerializer(many=True), problems=(400, 401))
    def list(self, request: Request) -> Response:
        return super().list(request)

    @describe_operation(
        "Make a source; its first run begins at once",
        body=NewSource,
        answer=SourceSerializer,
        status=201,
        problems=(400, 401, 403, 404, 409),
    )
    def create(self, request: Request) -> Response:
        given = NewSource.checked(request.data)
        _refuse_folder_token(self.principal)
        secret, folder = given.pop("secret"), given.pop("folder")
        _require_known_kind(given["kind"])
        source = Source(folder_id=folder, **given)
        save_source(_require_connecting_person(request), source, secret=secret)
        queue_source_run(source, Trigger.HAND, by=self.principal)
        return Response(self.get_serializer(source).data, status.HTTP_201_CREATED)

    @describe_operation("Read a source", answer=SourceSerializer, problems=(401, 404))
    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(self.get_serializer(_find_source(self.principal, request, pk)).data)

    @describe_operation("Delete a source; its documents stay as they are", status=204, problems=(401, 403, 404))
    def destroy(self, request: Request, pk: UUID) -> Response:
        source = _find_source(self.principal, request, pk)
        _refuse_folder_token(self.principal)
        delete_source(_require_connecting_person(request), source, withdraw=False)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SourceTry(PrincipalView):
    token_scopes = {"post": KEPT}
    serializer_class = PreviewSerializer

    @describe_operation(
        "Show what a source would bring; nothing is stored",
        body=TriedSource,
        answer=PreviewSerializer,
        problems=(400, 401, 403, 404),
    )
    def post(self, request: Request) -> Response:
        given = TriedSource.checked(request.data)
        _refuse_folder_token(self.principal)
        _require_known_kind(given["kind"])
        source = Source(kind=given["kind"], settings=given["settings"])
        return Response(
            self.get_serializer(try_source(_require_connecting_person(request), source, secret=given["secret"])).data
        )


class SourceRuns(ListModelMixin, PrincipalView):
    token_scopes = {"get": KEPT, "post": KEPT}
    serializer_class = RunSerializer

    def get_queryset(self) -> Any:
        Filters.checked(self.request.query_params)
        source = _find_source(self.principal, self.request, self.kwargs["pk"])
        return SourceRun.objects.filter(source=source).select_related("source").order_by("-started_at", "-id")

    @describe_operation("List the runs of a source, newest first", answer=RunSerializer(many=True))
    def get(self, request: Request, pk: UUID) -> Response:
        return self.list(request)

    @describe_operation("Read a source now", status=202, problems=(401, 404))
    def post(self, request: Request, pk: UUID) -> Response:
        queue_source_run(_find_source(self.principal, request, pk), Trigger.HAND, by=self.principal)
        return Response(status=status.HTTP_202_ACCEPTED)


class DocumentOrigin(PrincipalView):
    token_scopes = {"get": (TokenScope.SEARCH, TokenScope.INGEST)}
    serializer_class = OriginSerializer

    @describe_operation(
        "Where a document comes from, if a source brought it", answer=OriginSerializer, problems=(401, 404)
    )
    def get(self, request: Request, pk: UUID) -> Response:
        origin = find_document_origin(self.principal, get_visible(Document, self.principal, pk=pk))
        if origin is None:
            raise NotFound(_("No source brought this document."))
        return Response(self.get_serializer(origin).data)


def _list_sources(principal: Principal, request: Request) -> QuerySet[Source]:
    """Return the sources that this person manages and may view, or all if they may connect sources by a whole token."""
    rows = list_managed_sources(principal, request.user)
    is_whole = may_connect_sources(request.user) and principal.folder_id is None
    return rows if is_whole else rows.filter(pk__in=Source.objects.visible_to(principal))


def _find_source(principal: Principal, request: Request, pk: UUID) -> Source:
    """Return a source that this person may see. Raises NotFound."""
    if not may_connect_sources(request.user) or principal.folder_id is not None:
        get_visible(Source, principal, pk=pk)
    return find_managed_source(principal, request.user, pk)


def _require_connecting_person(request: Request) -> User:
    """Return who asks. Raises PermissionDenied unless they may connect sources."""
    if not isinstance(request.user, User) or not may_connect_sources(request.user):
        raise PermissionDenied(_("Only administrators set where documents come from."))
    return request.user


def _refuse_folder_token(principal: Principal) -> None:
    if principal.folder_id is not None:
        raise PermissionDenied(_("A token for one folder cannot create or delete sources."))


def _require_known_kind(kind: str) -> None:
    try:
        find_connector_type(kind)
    except UnknownName as error:
        raise NotFound(str(error)) from None
