"""The audit log for auditors: read, export, and the verifier that checks an export without this system.

Whoever holds Django's permission `audit.view_entry` reads, `audit.export_entry` exports; superusers hold both. Reading is recorded.
"""

from pathlib import Path
from typing import Any

from django.http import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from audit import verify_export
from audit.actions import Action, Outcome
from audit.export import build_file_name, export_entries, find_export_format
from audit.models import Entry, Link
from audit.record import record_action
from audit.selectors import EntryFilter, attach_entries, list_links
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import BINARY, describe_operation
from copilot_site.lib.http.pagination import NewestFirst
from copilot_site.lib.http.strict_serializers import CursorFilters
from copilot_site.lib.storage.files import StreamedPieces


class MayRead(BasePermission):
    """A token that is narrowed to one folder is for that folder; the log is about everything."""

    message = _("Only auditors read the audit log.")

    def has_permission(self, request: Request, view: Any) -> bool:
        return view.principal.folder_id is None and request.user.has_perm("audit.view_entry")


class MayExport(BasePermission):
    message = _("Only auditors who can export do this.")

    def has_permission(self, request: Request, view: Any) -> bool:
        return view.principal.folder_id is None and request.user.has_perm("audit.export_entry")


class EntryFilters(CursorFilters):
    since = serializers.DateTimeField(required=False, help_text="Not older than this.")
    until = serializers.DateTimeField(required=False, help_text="Older than this.")
    actor = serializers.CharField(required=False, help_text="A sign-in name, or the number of an account.")
    action = serializers.ChoiceField(choices=Action.values, required=False)
    outcome = serializers.ChoiceField(choices=Outcome.values, required=False)
    target_id = serializers.CharField(required=False)
    run_id = serializers.CharField(required=False)
    request_id = serializers.CharField(required=False)


class ExportFilters(EntryFilters):
    read_elsewhere = frozenset()  # exports all, without pages
    file = serializers.CharField(default="jsonl", help_text="csv, csv-bom, jsonl or ocsf.")


class EntrySerializer(serializers.ModelSerializer[Entry]):
    at = serializers.DateTimeField(allow_null=True, read_only=True)
    unreadable = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="Fields that somebody changed to what cannot be read; they are empty here.",
    )

    class Meta:
        model = Entry
        fields: tuple[str, ...] = (
            "at", "actor_id", "actor_name", "on_behalf_of_id", "on_behalf_of_name", "action", "outcome", "reason", "target_type",
            "target_id", "target_name", "request_id", "run_id", "address", "detail", "unreadable",
        )  # fmt: skip
        read_only_fields = fields


class LinkSerializer(serializers.ModelSerializer[Link]):
    """An entry with its place in the chain."""

    entry = EntrySerializer(read_only=True)
    hash = serializers.SerializerMethodField(help_text="SHA-256 of the chain up to here, hexadecimal.")

    class Meta:
        model = Link
        fields: tuple[str, ...] = ("seq", "hash", "entry")
        read_only_fields = fields

    def get_hash(self, link: Link) -> str:
        return bytes(link.hash or b"").hex()


class AuditEntries(PrincipalView):
    serializer_class = LinkSerializer
    permission_classes = [IsAuthenticated, MayRead]
    pagination_class = NewestFirst
    token_scopes = {"get": (TokenScope.AUDIT,)}

    @describe_operation(
        "Read the audit log, newest first",
        answer=LinkSerializer(many=True),
        query=EntryFilters,
        problems=(400, 401, 403),
    )
    def get(self, request: Request) -> Response:
        chosen = EntryFilter(**EntryFilters.checked(request.query_params))
        record_action(self.principal, Action.AUDIT_READ, detail={"filter": chosen.stored()})
        rows = attach_entries(self.paginate_queryset(list_links(chosen)) or [])
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)


class AuditExport(PrincipalView):
    permission_classes = [IsAuthenticated, MayExport]
    token_scopes = {"get": (TokenScope.AUDIT,)}

    @describe_operation(
        "Export the audit log, streamed; the export itself is recorded",
        answer=BINARY,
        query=ExportFilters,
        problems=(400, 401, 403),
        media_type="application/octet-stream",
    )
    def get(self, request: Request) -> HttpResponseBase:
        given: dict[str, Any] = ExportFilters.checked(request.query_params)
        form = find_export_format(given.pop("file"))
        pieces = export_entries(self.principal, chosen=EntryFilter(**given), form=form)
        return StreamedPieces(pieces, media_type=form.media_type, filename=build_file_name(form))


class AuditVerifier(PrincipalView):
    permission_classes = [IsAuthenticated, MayRead]
    token_scopes = {"get": (TokenScope.AUDIT,)}

    @describe_operation(
        "Get the program that checks a JSONL export offline (Python, standard library only)",
        answer=BINARY,
        problems=(401, 403),
        media_type="text/x-python",
    )
    def get(self, request: Request) -> HttpResponseBase:
        program = Path(verify_export.__file__).read_bytes()
        return StreamedPieces([program], media_type="text/x-python; charset=utf-8", filename="verify_export.py")
