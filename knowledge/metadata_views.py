"""Where the fields of a base are set, and where a document says something in them."""

from uuid import UUID

from django.contrib import messages
from django.forms import BaseFormSet, formset_factory
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from authz.admin_pages import admin_page, show
from authz.checks import get_visible
from authz.governing import get_governed
from authz.pages import signed_in
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.forms import checked, first_fault
from knowledge.metadata_forms import FieldForm, ValuesForm
from knowledge.models import Document, DocumentField, KnowledgeBase
from knowledge.services.fields import MOST_FIELDS, FieldSpec, change_metadata, fields_of, set_fields

EMPTY = 2  # forms for new fields

FieldForms = formset_factory(FieldForm, extra=EMPTY, max_num=MOST_FIELDS)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def fields_of_base(request: HttpRequest, by: Principal, base_id: UUID) -> HttpResponseBase:
    """A form for each field and empty ones for new ones; a field without a name is taken away, with its values."""
    base = get_governed(KnowledgeBase, by, pk=base_id)
    kept = DocumentField.unscoped.filter(knowledge_base=base)
    initial = [{"name": each.name, "kind": each.kind, "choices": "\n".join(each.choices)} for each in kept]
    forms = FieldForms(request.POST if request.method == "POST" else None, initial=initial)
    problem = ""
    if request.method == "POST":
        try:
            set_fields(by, base_id, _specs(forms))
        except InvalidInput as error:
            problem = str(error)
        else:
            messages.success(request, _("The fields are saved."))
            return redirect("fields-of-base", base_id)
    title = _("Fields of documents: %(base)s") % {"base": base.name}
    context = {"title": title, "base": base, "forms": forms, "problem": problem}
    return show(request, "admin/document_fields.html", context, status=400 if problem else 200)


def _specs(forms: BaseFormSet[FieldForm]) -> list[FieldSpec]:
    """Raises InvalidInput."""
    for form in forms:
        if not form.is_valid():
            raise InvalidInput(first_fault(form))
    if not forms.is_valid():
        raise InvalidInput(_("The form is not complete: load the page again."))
    return [form.spec for form in forms if form.cleaned_data.get("name")]


@require_POST
@signed_in
def metadata(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponse:
    """What the document says in each field of its base, all of them at once."""
    row = get_visible(Document, principal, pk=document_id)
    form = ValuesForm(request.POST, of=list(fields_of(principal, row.knowledge_base_id)))
    try:
        checked(form)
        change_metadata(principal, document_id=document_id, values=form.values)
    except InvalidInput as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, _("Saved."))
    return redirect("document", document_id)
