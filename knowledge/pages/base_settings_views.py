"""Pages for the settings of search: all bases, how documents are cut into passages, and which fields documents have."""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.forms import BaseFormSet, formset_factory
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from authz.admin_pages import admin_page, render_admin_page
from authz.pages import require_sign_in
from authz.principal import Principal
from authz.rights.checks import get_visible
from authz.rights.governing import filter_governed_rows, get_governed
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.http.forms import find_first_fault, show_problem_as_message, validate_form
from knowledge.documents.metadata_forms import FieldForm, ValuesForm
from knowledge.ingestion.recutting import find_versions_to_cut
from knowledge.models import Document, DocumentField, KnowledgeBase, Language
from knowledge.services.fields import MAX_FIELDS, FieldSpec, change_metadata, list_fields, set_fields
from knowledge.services.passages import (
    FEWEST,
    FEWEST_MOST,
    Cutting,
    PassagePreview,
    change_cutting,
    compute_passage_limit,
    preview_cutting,
)

OFFERED = 200  # documents to look at, the latest
SHOWN = 40  # passages of a preview


@dataclass(frozen=True)
class BaseLine:
    """A base with its settings for search. target: tokens of a passage. fields: of its documents. left: documents still to cut."""

    base: KnowledgeBase
    target: int
    fields: int
    left: int


@require_safe
@admin_page
def search_settings(request: HttpRequest, by: Principal) -> HttpResponseBase:
    """Show how each base that this person governs is searched; to superusers also the models in use."""
    bases = filter_governed_rows(KnowledgeBase, by).order_by("name")
    kept = DocumentField.unscoped.filter(knowledge_base__in=bases).values_list("knowledge_base_id", flat=True)
    fields = Counter(kept)
    models = {
        "embedder": settings.EMBEDDER,
        "embedder_model": settings.EMBEDDER_OPTIONS["model"],
        "reranker": settings.RERANKER,
        "reranker_model": settings.RERANKER_MODEL,
    }
    context = {
        "title": _("Search settings"),
        "rows": [
            BaseLine(
                base, base.chunk_tokens or settings.CHUNK_TOKENS, fields[base.pk], find_versions_to_cut(base).count()
            )
            for base in bases
        ],
        "models": models if by.is_superuser else None,
    }
    return render_admin_page(request, "admin/search_settings.html", context)


class PassagesForm(forms.Form):
    """Sizes, in tokens of the embedder; a language; and a document to look at."""

    target = forms.IntegerField(label=gettext_lazy("Target tokens per passage"), required=False)
    most = forms.IntegerField(label=gettext_lazy("Maximum tokens per passage"), required=False)
    language = forms.ChoiceField(
        label=gettext_lazy("Language of its documents"),
        choices=[("", gettext_lazy("recognised in each document")), *Language.choices],
        required=False,
    )
    document = forms.ModelChoiceField(
        label=gettext_lazy("Look at"),
        queryset=Document.unscoped.none(),
        required=False,
        empty_label=gettext_lazy("(no document)"),
    )

    def __init__(self, *args: Any, documents: QuerySet[Document], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["document"].queryset = documents  # type: ignore[attr-defined]
        sizes = ("target", FEWEST, settings.CHUNK_TOKENS), ("most", FEWEST_MOST, settings.CHUNK_MAX_TOKENS)
        for name, fewest, default in sizes:
            self.fields[name].widget.attrs |= {"min": fewest, "max": compute_passage_limit(), "placeholder": default}
            self.fields[name].help_text = _(
                "%(fewest)s to %(largest)s; empty for %(default)s, the setting of the system."
            ) % {"fewest": fewest, "largest": compute_passage_limit(), "default": default}

    @property
    def cutting(self) -> Cutting:
        given = self.cleaned_data
        return Cutting(given["target"], given["most"], given["language"])


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def passages_of_base(request: HttpRequest, by: Principal, base_id: UUID) -> HttpResponseBase:
    """Show or save the settings for passages; with `look` they are previewed on a document and not saved."""
    base = get_governed(KnowledgeBase, by, pk=base_id)
    readable = Document.objects.visible_to(by).filter(knowledge_base=base, current_version__isnull=False)
    initial = {"target": base.chunk_tokens, "most": base.chunk_max_tokens, "language": base.language}
    given = request.POST if request.method == "POST" else None
    form = PassagesForm(given, initial=initial, documents=readable.order_by("-updated_at"))
    form.fields["document"].choices = [  # type: ignore[attr-defined]
        ("", _("(no document)")),
        *((row.pk, row.title) for row in readable.order_by("-updated_at")[:OFFERED]),
    ]
    preview: PassagePreview | None = None
    if form.is_valid():
        try:
            if "look" not in request.POST:
                change_cutting(by, base_id, form.cutting)
                messages.success(
                    request, _("Saved. Documents are split in the background, and answer as before until then.")
                )
                return redirect("passages-of-base", base_id)
            if looked_at := form.cleaned_data["document"]:
                preview = preview_cutting(by, base_id, form.cutting, document_id=looked_at.pk)
            else:
                form.add_error("document", _("Choose a document to look at."))
        except InvalidInput as problem:
            form.add_error(None, str(problem))
    left = find_versions_to_cut(base).count()
    total = Document.unscoped.filter(knowledge_base=base, current_version__isnull=False).count()
    context = {
        "title": _("Passages: %(base)s") % {"base": base},
        "base": base,
        "form": form,
        "left": left,
        "done": total - left,
        "total": total,
        "preview": preview,
        "shown": preview.drafts[:SHOWN] if preview else (),
    }
    return render_admin_page(request, "admin/passages.html", context, status=400 if form.errors else 200)


EMPTY = 2  # forms for new fields

FieldForms = formset_factory(FieldForm, extra=EMPTY, max_num=MAX_FIELDS)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def fields_of_base(request: HttpRequest, by: Principal, base_id: UUID) -> HttpResponseBase:
    """Show a form for each field and empty ones for new ones; a field without a name is removed with its values."""
    base = get_governed(KnowledgeBase, by, pk=base_id)
    kept = DocumentField.unscoped.filter(knowledge_base=base)
    initial = [{"name": item.name, "kind": item.kind, "choices": "\n".join(item.choices)} for item in kept]
    forms = FieldForms(request.POST if request.method == "POST" else None, initial=initial)
    problem = ""
    if request.method == "POST":
        try:
            set_fields(by, base_id, _read_field_specs(forms))
        except InvalidInput as error:
            problem = str(error)
        else:
            messages.success(request, _("The fields are saved."))
            return redirect("fields-of-base", base_id)
    title = _("Fields of documents: %(base)s") % {"base": base}
    context = {"title": title, "base": base, "forms": forms, "problem": problem}
    return render_admin_page(request, "admin/document_fields.html", context, status=400 if problem else 200)


def _read_field_specs(forms: BaseFormSet[FieldForm]) -> list[FieldSpec]:
    """Return the fields as they were entered. Raises InvalidInput."""
    for form in forms:
        if not form.is_valid():
            raise InvalidInput(find_first_fault(form))
    if not forms.is_valid():
        raise InvalidInput(_("The form is not complete: load the page again."))
    return [form.spec for form in forms if form.cleaned_data.get("name")]


@require_POST
@require_sign_in
def metadata(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponse:
    """Set the document's values for all fields of its base at once."""
    row = get_visible(Document, principal, pk=document_id)
    form = ValuesForm(request.POST, of=list(list_fields(principal, row.knowledge_base_id)))
    with show_problem_as_message(request):
        validate_form(form)
        change_metadata(principal, document_id=document_id, values=form.values)
        messages.success(request, _("Saved."))
    return redirect("document", document_id)
