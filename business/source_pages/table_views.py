"""Show and change one table of a semantic layer in the admin, as fields and as YAML."""

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from business.semantic_layer.yaml_io import write_yaml
from business.source_pages.table_forms import TableEditor
from business.sources.connection_rights import managed_source
from business.table_edits import find_table_with_version, remove_table, save_model, save_table
from copilot_site.lib.errors import Conflict, CopilotError


class TableForm(forms.Form):
    """version: of the table when the form was opened."""

    text = forms.CharField(
        label=gettext_lazy("As YAML"),
        widget=forms.Textarea(attrs={"rows": 30, "spellcheck": "false", "class": "vLargeTextField"}),
    )
    version = forms.CharField(widget=forms.HiddenInput, max_length=64)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def table(request: HttpRequest, by: Principal, source_id: UUID) -> HttpResponseBase:
    """Show and change the table `name`. A POST has its fields, or its YAML in `text`; `remove` deletes it."""
    source, name = managed_source(by, source_id), request.GET.get("name", "")
    model, version = find_table_with_version(source, name)
    form = TableForm(initial={"text": write_yaml(model), "version": version})
    editor, problem, status = TableEditor(model), "", 200
    if request.method == "POST":
        sent = request.POST.get("version", "")
        act: Callable[[], None]
        if "remove" in request.POST:
            message = _("The table %(name)s is no longer in the layer.")
            act = lambda: remove_table(by, source, name, version=sent)  # noqa: E731
        elif "fields" in request.POST:
            editor, message = TableEditor(model, request.POST), _("Saved: %(name)s.")
            act = lambda: save_model(by, source, name, editor.changed_table(), version=sent)  # noqa: E731
        else:
            form, message = TableForm(request.POST), _("Saved: %(name)s.")
            act = lambda: save_table(by, source, name, form.cleaned_data["text"], version=sent)  # noqa: E731
        problem, status = _apply_change(form, act)
        if not problem:
            messages.success(request, message % {"name": name})
            return (
                redirect("source-layer", source.pk) if "remove" in request.POST else redirect(request.get_full_path())
            )
    context = {
        "title": _("Table %(name)s") % {"name": name},
        "source": source,
        "form": form,
        "editor": editor,
        "version": request.POST.get("version", version),
        "problem": problem,
        "model": model,
    }
    return render_admin_page(request, "admin/business/table.html", context, status=status)


def _apply_change(form: TableForm, act: Callable[[], None]) -> tuple[str, int]:
    """Return what is wrong, in one sentence, and the status that says so; "" where it was done."""
    if form.is_bound and not form.is_valid():
        return str(next(iter(form.errors.values()))[0]), 400
    try:
        act()
    except CopilotError as error:
        return str(error), 409 if isinstance(error, Conflict) else 400
    return "", 200
