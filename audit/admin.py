"""Read-only admin pages of the audit log: nothing here adds, changes or deletes an entry."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import QuerySet, prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import NoReverseMatch, URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from audit.actions import Action, Outcome, list_actions_by_group
from audit.chain.keys import list_trusted_keys
from audit.chain.malformed_rows import load_partial_rows
from audit.export import build_file_name, export_entries, find_export_format
from audit.models import Checkpoint, Entry, Hold
from audit.record import UserActor, record_action
from audit.retention import check_hold, place_hold, release_hold
from audit.selectors import SEARCHED, EntryFilter, find_signing_state, list_run_entries, searched
from audit.titles import find_document_titles, format_detail_value, format_target, list_named_documents
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.http.read_only_admin import ReadOnlyAdmin
from copilot_site.lib.storage.files import StreamedPieces


@dataclass(frozen=True)
class TimelineStep:
    """An entry of a run, seconds after its first; its detail as lists, shown folded, and as plain facts."""

    entry: Entry
    seconds: float | None
    lists: list[tuple[str, list[str]]]
    facts: list[tuple[str, Any]]

    @classmethod
    def of(cls, entry: Entry, *, began: datetime | None, titles: Mapping[UUID, str]) -> "TimelineStep":
        detail = sorted(entry.detail.items())
        lists = [
            (name, [format_detail_value(item, titles) for item in value])
            for name, value in detail
            if isinstance(value, list)
        ]
        facts = [(name, value) for name, value in detail if value is not None and not isinstance(value, list)]
        seconds = (entry.at - began).total_seconds() if began and "at" not in entry.unreadable else None
        return cls(entry, seconds, lists, facts)


class ReadInPart(ChangeList):
    """A list that shows unreadable rows with their readable fields. unreadable: what the page calls such rows."""

    model_admin: "LogAdmin"
    unreadable: Sequence[str] = ()

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = load_partial_rows(self.model, list(self.result_list.values_list("pk", flat=True)))
        self.model_admin.prepare(self.result_list)
        self.unreadable = [self.model_admin.place(row) for row in self.result_list if row.unreadable]


class LogAdmin(admin.ModelAdmin[Any]):
    """Pages over rows that may have been changed from outside."""

    def prepare(self, rows: list[Any]) -> None:
        """Read what a page shows beside its rows, with the same number of queries for any number of them."""

    def place(self, row: Any) -> str:
        """Return the name of a row."""
        return str(row.pk)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ReadInPart

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        if not object_id.isdecimal():
            return None
        keys = self.get_queryset(request).filter(pk=object_id).values_list("pk", flat=True)
        rows = load_partial_rows(self.model, list(keys))
        self.prepare(rows)
        return next(iter(rows), None)


class ExportForm(forms.Form):
    """A form for what to export, and in which format."""

    file = forms.ChoiceField(
        label=_("file"),
        choices=[
            ("jsonl", _("JSON lines with all hashes, for verify_export.py")),
            ("csv-bom", _("CSV for Excel (UTF-8 with BOM)")),
            ("csv", _("CSV")),
            ("ocsf", _("OCSF events for a SIEM")),
        ],
    )
    since = forms.DateField(label=_("from"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=_("before"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    actor = forms.CharField(
        label=_("actor"), required=False, help_text=_("A sign-in name, or the number of an account.")
    )
    action = forms.ChoiceField(
        label=_("action"), required=False, choices=lambda: [("", _("all")), *list_actions_by_group()]
    )
    outcome = forms.ChoiceField(label=_("outcome"), required=False, choices=[("", _("all")), *Outcome.choices])
    run_id = forms.CharField(label=_("run id"), required=False)
    text = forms.CharField(label=_("Search"), required=False)

    def chosen(self) -> EntryFilter:
        """Return the filter; days begin at midnight of the site's time zone."""
        days = {name: forms.DateTimeField(required=False).clean(self.data.get(name)) for name in ("since", "until")}
        return EntryFilter(**{name: value for name, value in self.cleaned_data.items() if name != "file"} | days)


class ActionFilter(admin.ChoicesFieldListFilter):
    """One choice among more than a hundred: groups that open, and a field that finds in them."""

    template = "admin/audit/choice_filter.html"

    def __init__(self, field: Any, request: HttpRequest, params: dict[str, Any], *model: Any, field_path: str) -> None:
        """Drop an empty choice, which means “all”."""
        if not any(params.get(f"{field_path}__exact", ())):
            params.pop(f"{field_path}__exact", None)
        super().__init__(field, request, params, *model, field_path)  # type: ignore[call-arg]

    def choices(self, changelist: Any) -> Iterator[Any]:
        others = [(name, value) for name, value in changelist.params.items() if name != self.lookup_kwarg]
        chosen = (self.lookup_val or [""])[-1]
        groups = [(name, options, chosen in dict(options)) for name, options in list_actions_by_group()]
        yield {"parameter": self.lookup_kwarg, "groups": groups, "chosen": chosen, "others": others}


@admin.register(Entry)
class EntryAdmin(LogAdmin, ReadOnlyAdmin):
    """Reading needs `audit.view_entry`, exporting `audit.export_entry`; both are recorded."""

    change_list_template = "admin/audit/entry/change_list.html"
    list_display = ("place", "second", "who", "action", "outcome", "target", "run")
    list_display_links = ("place", "second")
    list_filter = ("outcome", ("at", admin.DateFieldListFilter), ("action", ActionFilter))
    search_fields = SEARCHED
    list_per_page = 50
    show_full_result_count = False
    fields = (
        "place", "moment", "actor_id", "actor_name", "on_behalf_of_id", "on_behalf_of_name", "action", "outcome", "reason",
        "target_type", "target_id", "target_name", "documents", "run", "request_id", "address", "detail", "hash",
    )  # fmt: skip

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        return queryset.filter(searched(search_term)), False

    def prepare(self, rows: list[Any]) -> None:
        """Attach links and the titles of named documents."""
        prefetch_related_objects(rows, "link")
        titles = find_document_titles(pk for row in rows for pk in list_named_documents(row))
        for row in rows:
            row.titles = titles

    @admin.display(description=_("number"), ordering="link__seq")
    def place(self, entry: Entry) -> str:
        return str(entry.link.seq) if hasattr(entry, "link") else "–"

    @admin.display(description=_("time"), ordering="at")
    def second(self, entry: Entry) -> str:
        return "–" if "at" in entry.unreadable else f"{localtime(entry.at):%Y-%m-%d %H:%M:%S}"

    @admin.display(description=_("actor"), ordering="actor_name")
    def who(self, entry: Entry) -> str:
        """Return who acted, and for whom."""
        return " → ".join(filter(None, (entry.actor_name, entry.on_behalf_of_name))) or "–"

    @admin.display(description=_("time"), ordering="at")
    def moment(self, entry: Entry) -> str:
        """Format the time to the second with its offset, to compare with the logs of other systems."""
        return "–" if "at" in entry.unreadable else localtime(entry.at).isoformat(sep=" ", timespec="seconds")

    @admin.display(description=_("target"), ordering="target_name")
    def target(self, entry: Any) -> str:
        """Return the target of the action; where it is a conversation or missing, the documents or the tool."""
        return format_target(entry, entry.titles)

    @admin.display(description=_("documents"))
    def documents(self, entry: Any) -> str:
        return "\n".join(entry.titles[pk] for pk in list_named_documents(entry)) or "–"

    @admin.display(description=_("hash of the chain"))
    def hash(self, entry: Entry) -> str:
        return bytes(entry.link.hash or b"").hex() if hasattr(entry, "link") else "–"

    @admin.display(description=_("run"), ordering="run_id")
    def run(self, entry: Entry) -> str | SafeString:
        try:
            page = reverse("admin:audit_entry_run", args=[entry.run_id])
        except NoReverseMatch:  # an empty or malformed run id
            return entry.run_id or "–"
        return format_html('<a href="{}" title="{}">{}…</a>', page, entry.run_id, entry.run_id[:8])

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        ours = [
            path("run/<str:run_id>/", view(self.run_view), name="audit_entry_run"),
            path("export/", view(self.export_view), name="audit_entry_export"),
        ]
        return ours + super().get_urls()

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if self.has_view_permission(request):
            record_action(UserActor(request.user), Action.AUDIT_READ, detail={"filter": sorted(request.GET)})
        state = {"signing": find_signing_state(), "may_export": request.user.has_perm("audit.export_entry")}
        return super().changelist_view(request, state | (extra_context or {}))

    def run_view(self, request: HttpRequest, run_id: str) -> HttpResponse:
        """Show everything about one run, in order."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        entries = list_run_entries(run_id)
        if not entries:
            raise Http404
        record_action(UserActor(request.user), Action.AUDIT_READ, detail={"run": run_id})
        began = next((entry.at for entry in entries if "at" not in entry.unreadable), None)
        titles = find_document_titles(pk for entry in entries for pk in list_named_documents(entry))
        steps = [TimelineStep.of(entry, began=began, titles=titles) for entry in entries]
        return self._render_page(
            request, "admin/audit/entry/run.html", title=_("Timeline of a run"), run_id=run_id, steps=steps
        )

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show the export form, filled with the filter of the list, and send the file it asks for."""
        if not request.user.has_perm("audit.export_entry"):
            raise PermissionDenied
        chosen = {name: request.GET.get(f"{name}__exact", "") for name in ("action", "outcome")}
        days = {"since": request.GET.get("at__gte", "")[:10], "until": request.GET.get("at__lt", "")[:10]}
        form = ExportForm(request.POST or None, initial=chosen | days | {"text": request.GET.get("q", "")})
        if request.method == "POST" and form.is_valid():
            made = find_export_format(form.cleaned_data["file"])
            pieces = export_entries(UserActor(request.user), chosen=form.chosen(), form=made)
            return StreamedPieces(pieces, media_type=made.media_type, filename=build_file_name(made))
        return self._render_page(
            request,
            "admin/audit/entry/export.html",
            title=_("Export the audit log"),
            form=form,
            keys=sorted(list_trusted_keys()),
        )

    def _render_page(self, request: HttpRequest, template: str, **context: Any) -> HttpResponse:
        return render(request, template, self.admin_site.each_context(request) | {"opts": self.opts} | context)


@admin.register(Checkpoint)
class CheckpointAdmin(LogAdmin, ReadOnlyAdmin):
    list_display = ("seq", "kind", "at", "key")
    ordering = ("-seq", "-id")
    list_filter = ("kind",)
    fields = ("seq", "kind", "at", "key", "signature")

    def place(self, row: Checkpoint) -> str:
        return str(row.seq)


class HoldForm(forms.ModelForm[Hold]):
    def clean(self) -> dict[str, Any]:
        """Refuse on the form what the service would refuse."""
        given = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                check_hold(Hold(**given))
            except CopilotError as error:
                raise forms.ValidationError(str(error)) from error
        return given


@admin.register(Hold)
class HoldAdmin(LogAdmin):
    """Holds are placed and released, never edited or deleted."""

    form = HoldForm
    fields = ("reason", "person_id", "from_at", "until_at")
    list_display = ("reason", "person_id", "from_at", "until_at", "placed_at", "released_at")
    actions = ("release",)
    formfield_overrides = {  # Django splits it into two fields without labels
        models.DateTimeField: {
            "form_class": forms.DateTimeField,
            "widget": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        }
    }

    def has_change_permission(self, request: HttpRequest, obj: Hold | None = None) -> bool:
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Hold | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Hold, form: Any, change: bool) -> None:
        place_hold(UserActor(request.user), obj)

    @admin.action(description=_("Release the chosen legal holds"), permissions=["change"])
    def release(self, request: HttpRequest, queryset: QuerySet[Hold]) -> None:
        for hold in load_partial_rows(Hold, list(queryset.values_list("pk", flat=True))):
            try:
                release_hold(UserActor(request.user), hold)
            except CopilotError as error:
                messages.error(request, str(error))
            else:
                messages.success(request, _("Released: %(hold)s.") % {"hold": hold})
