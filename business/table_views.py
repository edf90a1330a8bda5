"""Pages of the admin for the tables of a semantic layer, one at a time."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from authz.admin_pages import admin_page, show
from authz.governing import governed
from authz.principal import Principal
from business.models import DataSource
from business.semantic_layer.yaml_io import write_table
from business.table_edits import remove_table, save_table, table_of
from copilot_site.lib.errors import Conflict, CopilotError, NotFound


class TableForm(forms.Form):
    """version: of the table when the form was opened."""

    text = forms.CharField(
        label=gettext_lazy("As YAML"),
        widget=forms.Textarea(attrs={"rows": 30, "spellcheck": "false", "class": "vLargeTextField"}),
    )
    version = forms.CharField(widget=forms.HiddenInput, max_length=64)


@require_http_methods(["GET", "POST"])
@admin_page
def table(request: HttpRequest, by: Principal, source_id: UUID) -> HttpResponseBase:
    """`name`: the table; `remove` in a POST takes it out of the layer."""
    source = governed(DataSource, by).filter(pk=source_id).first()
    if source is None:
        raise NotFound(_("There is no data source that you manage."))
    name = request.GET.get("name", "")
    model, version = table_of(source, name)
    form = TableForm(request.POST or None, initial={"text": write_table(model), "version": version})
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            given = form.cleaned_data
            try:
                if "remove" in request.POST:
                    remove_table(by, source, name, version=given["version"])
                    messages.success(
                        request, _("The table %(name)s is no part of the layer any more.") % {"name": name}
                    )
                    return redirect("source-layer", source.pk)
                save_table(by, source, name, given["text"], version=given["version"])
            except CopilotError as error:
                form.add_error(None, str(error))
                status = 409 if isinstance(error, Conflict) else 400
            else:
                messages.success(request, _("Saved: %(name)s.") % {"name": name})
                return redirect(request.get_full_path())
    context = {"title": _("Table %(name)s") % {"name": name}, "source": source, "form": form, "tables": [model]}
    return show(request, "admin/business/table.html", context, status=status)
