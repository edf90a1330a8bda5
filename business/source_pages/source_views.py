"""Pages of the admin for data sources: the list, a trial before saving, a statement on trial, and the layer as YAML."""

from urllib.parse import urlencode
from uuid import UUID

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows, require_oversight
from business.admin import ConnectionForm, DataSourceForm
from business.connections.account_faults import AccountFault
from business.layer_drafts import draft_of, start_draft
from business.models import DataSource
from business.semantic_layer.yaml_io import write_yaml
from business.sources.checks import build_missing_indexes, build_unchecked_message, check_source
from business.sources.connection_rights import list_seen_sources, managed_source, may_connect
from business.sources.services import import_layer, open_source, saved_layer
from business.statements.run_query import StatementVerdict, judge_statement
from business.table_edits import filter_tables_by_text
from copilot_site.lib.errors import Conflict, CopilotError, NotFound, PermissionDenied
from copilot_site.lib.http.forms import find_first_fault
from knowledge.governance.parameters import find_user_by_name, list_holder_names

LAYER_BYTES = 10_000_000  # 300 tables of 30 columns, with words in both languages, are 3 MB
TABLES_AS_TEXT = 30  # a larger layer is too much for one field of a form
PAGE_SIZE = 50


@require_safe
@admin_page
def source_list(request: HttpRequest, by: Principal) -> HttpResponseBase:
    """List the data sources this person looks after, with their state; `?q=` searches names. Raises NotFound without any."""
    seen, may = list_seen_sources(by, request.user), may_connect(request.user)
    if not may and not seen.exists():
        raise NotFound(_("There is no data source that you manage."))
    asked = request.GET.get("q", "").strip()
    rows = seen.filter(name__icontains=asked).order_by("name").defer("encrypted_password")
    context = {
        "title": _("Data sources"),
        "asked": asked,
        "rows": [(row, len(row.semantic_layer.semantic_models)) for row in rows],
        "may_connect": may,
    }
    return render_admin_page(request, "admin/business/sources.html", context)


class CheckForm(forms.Form):
    """The input of `manage.py check_sql`, which goes through guard and sandbox like every question."""

    source = forms.ChoiceField(label=gettext_lazy("Data source"))
    person = forms.CharField(
        label=gettext_lazy("Person"),
        max_length=150,
        help_text=gettext_lazy("Sign-in name. The statement is checked with this person's rights."),
        widget=forms.TextInput(attrs={"list": "people", "autocomplete": "off"}),
    )
    sql = forms.CharField(
        label=gettext_lazy("SQL"), max_length=20_000, widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"})
    )
    execute = forms.BooleanField(label=gettext_lazy("Run it and show the rows"), required=False)

    def __init__(self, data: object, *, names: list[str], person: str) -> None:
        super().__init__(data, initial={"person": person})  # type: ignore[arg-type]  # request.POST or None
        self.fields["source"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]


class LayerForm(forms.Form):
    text = forms.CharField(
        label=gettext_lazy("Semantic layer"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 30, "spellcheck": "false", "class": "vLargeTextField"}),
    )
    file = forms.FileField(label=gettext_lazy("or a YAML file"), required=False)
    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)

    @classmethod
    def of(cls, source: DataSource) -> "LayerForm":
        """Return the form with the saved layer if it is small."""
        saved = saved_layer(source)
        form = cls(initial={"version": source.changed_at.isoformat()})
        if len(saved.semantic_models) <= TABLES_AS_TEXT:
            form.initial["text"] = write_yaml(saved)
        else:
            del form.fields["text"]
        return form

    def clean(self) -> dict[str, str]:
        """Set text from the file, if one is given."""
        file, version = self.cleaned_data.get("file"), self.cleaned_data.get("version", "")
        if file is None:
            return {"text": self.cleaned_data.get("text", ""), "version": version}
        if file.size > LAYER_BYTES:
            raise forms.ValidationError(_("The file is larger than 10 MB: no semantic layer is."))
        try:
            return {"text": file.read().decode(), "version": version}
        except UnicodeDecodeError as error:
            raise forms.ValidationError(_("The file is not UTF-8 text: save it as UTF-8.")) from error


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def check_sql(request: HttpRequest, by: Principal) -> HttpResponseBase:
    """Show a statement pasted in, judged as one person would have it; another person's rows need the right to oversee."""
    names = list(filter_governed_rows(DataSource, by).order_by("name").values_list("name", flat=True))
    if not names:
        raise NotFound(_("There is no data source that you manage."))
    form = CheckForm(request.POST if request.method == "POST" else None, names=names, person=by.username)
    found: StatementVerdict | None = None
    if form.is_valid():
        given = form.cleaned_data
        if given["person"] != by.username:
            require_oversight(request.user)
        try:
            found = _judge_statement(by, given)
        except CopilotError as error:
            form.add_error(None, str(error))
    context = {"title": _("Check a statement"), "form": form, "found": found, "names": list_holder_names()}
    return render_admin_page(request, "admin/business/check.html", context, status=400 if form.errors else 200)


def _judge_statement(by: Principal, given: dict[str, str]) -> StatementVerdict:
    user = find_user_by_name(given["person"])
    opened = open_source(Principal.of(user), given["source"])
    record_action(by, Action.SQL_CHECKED, opened.source, detail={"person": user.pk})
    return async_to_sync(judge_statement)(by, opened, given["sql"], execute=bool(given["execute"]))


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def connection(request: HttpRequest, by: Principal, source_id: UUID) -> HttpResponseBase:
    """Show whether a source can be asked, tried out on demand: its server, its account, its tables, and a sandbox."""
    source = list_seen_sources(by, request.user).filter(pk=source_id).first()
    if source is None:
        raise NotFound(_("There is no data source that you manage."))
    texts: list[str] | None = None
    indexes: list[str] = []
    if request.method == "POST":
        try:
            texts = [str(fault) for fault in check_source(source)]
            indexes = [] if texts else build_missing_indexes(source)
        except CopilotError as error:
            texts = [str(error)]
        record_action(by, Action.SOURCE_CHECKED, source, detail={"faults": len(texts)})
    context = {
        "title": _("Connection of %(name)s") % {"name": source.name},
        "source": source,
        "told": texts,
        "indexes": indexes,
    }
    return render_admin_page(request, "admin/business/connection.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def layer(request: HttpRequest, by: Principal, source_id: UUID) -> HttpResponseBase:
    """Show the semantic layer in place: edited, read from a file, or, with `draft` in a POST, drafted anew by a worker."""
    source = managed_source(by, source_id)
    form = LayerForm.of(source)
    if "draft" in request.POST:
        start_draft(by, source)
        return redirect("source-draft", source.pk)
    if request.method == "POST":
        form = LayerForm(request.POST, request.FILES)
        if form.is_valid():
            given = form.cleaned_data
            try:
                saved, is_known = import_layer(by, source, given["text"], version=given["version"])
            except CopilotError as error:
                form = LayerForm.of(source) if request.FILES else LayerForm(initial=given)
                messages.error(request, str(error))
                return _render_layer_page(request, source, form, status=409 if isinstance(error, Conflict) else 400)
            messages.success(request, _("Saved: %(n)d tables.") % {"n": len(saved.semantic_models)})
            if not is_known:
                messages.warning(request, build_unchecked_message())
            return redirect("source-layer", source.pk)
    return _render_layer_page(request, source, form, status=400 if form.errors else 200)


@require_safe
@admin_page
def layer_file(_request: HttpRequest, by: Principal, source_id: UUID) -> HttpResponseBase:
    source = managed_source(by, source_id)
    return _build_file_response(write_yaml(saved_layer(source)), f"{source.name}.yaml", "application/yaml")


def _render_layer_page(request: HttpRequest, source: DataSource, form: LayerForm, *, status: int) -> HttpResponse:
    asked, saved = request.GET.get("q", ""), saved_layer(source)
    tables = Paginator(filter_tables_by_text(saved.semantic_models, asked), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "title": _("Semantic layer of %(name)s") % {"name": source.name},
        "source": source,
        "form": form,
        "tables": list(tables),
        "page": tables,
        "page_query": f"&{urlencode({'q': asked})}" if asked else "",
        "asked": asked,
        "is_saved": True,
        "is_open": status != 200,  # what was entered is in sight
        "sample_questions": saved.sample_questions,
        "draft": draft_of(source),
    }
    return render_admin_page(request, "admin/business/layer.html", context, status=status)


def _build_file_response(text: str, filename: str, content_type: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"}
    return HttpResponse(text, content_type=f"{content_type}; charset=utf-8", headers=headers)


@require_POST
@admin_page
def try_source(request: HttpRequest, by: Principal) -> HttpResponseBase:
    """Try what the form says, with the stored password of the row `id` where none is entered and the address is the same.
    Nothing is saved.

    Raises PermissionDenied for whoever may not say where data sources are.
    """
    if not may_connect(request.user):
        raise PermissionDenied(_("Only administrators can change the connection of a data source."))
    stored = _load_source(request, by)
    before = stored.where if stored else ""
    form = (ConnectionForm if stored else DataSourceForm)(request.POST, instance=stored, is_tried=False)
    if not form.is_valid():
        return _render_trial_result(request, [find_first_fault(form)])
    source = form.save(commit=False)
    if password := form.cleaned_data.get("password"):
        source.set_password(password)
    elif source.where != before:
        source.encrypted_password = b""
    faults: list[AccountFault | str]
    try:
        faults = [*check_source(source)]
    except CopilotError as error:
        faults = [str(error)]
    record_action(
        by, Action.SOURCE_CHECKED, detail={"address": source.where, "faults": len(faults)}, target_name=source.name
    )
    return _render_trial_result(request, faults)


def _load_source(request: HttpRequest, by: Principal) -> DataSource | None:
    """Return the row `id`; None for a new one, and for a database that the product made, which has no address to try."""
    try:
        source_id = UUID(request.POST.get("id", ""))
    except ValueError:
        return None
    return list_seen_sources(by, request.user).filter(pk=source_id, is_embedded=False).first()


def _render_trial_result(request: HttpRequest, faults: list[AccountFault | str] | list[str]) -> HttpResponseBase:
    well = _("Server, account, tables and a test sandbox: everything works. Save it now.")
    found = [fault if isinstance(fault, AccountFault) else AccountFault(fault, "") for fault in faults]
    return render(request, "admin/_tried.html", {"ok": not found, "sentence": well, "faults": found})
