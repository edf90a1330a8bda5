"""Show a draft's progress; let a manager accept its tables and choose who reads the rows of each."""

from collections.abc import Iterable, Iterator
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from business.layer_drafts import discard_draft, draft_of, list_proposed_tables, take_over_tables
from business.models import DataSource
from business.semantic_layer.model import SemanticModel, UnitRule
from business.source_pages.table_forms import BY_COLUMN, CLOSED, WHO, org_unit_of
from business.sources.checks import build_unchecked_message
from business.sources.connection_rights import managed_source
from business.table_edits import filter_tables_by_text
from copilot_site.lib.errors import CopilotError

PAGE_SIZE = 20
PREFIX = "who-"


class ReadersForm(forms.Form):
    """A choice of readers for each table: the draft's proposal, nobody where it found no column of org units.

    for_all: a single choice for all of them.
    """

    for_all = forms.ChoiceField(
        label=gettext_lazy("Who reads the rows of all of these"),
        choices=(("", gettext_lazy("as chosen for each table")), *(one for one in WHO if one[0] != BY_COLUMN)),
        required=False,
    )

    def __init__(self, data: QueryDict | None, models: Iterable[SemanticModel]) -> None:
        super().__init__(data)
        self.models = list(models)
        for model in self.models:
            self.fields[PREFIX + model.name] = forms.ChoiceField(
                label=_("Who reads the rows of %(table)s") % {"table": model.full_name},
                choices=_list_reader_choices(model),
                initial=_find_proposed_readers(model.org_unit),
                required=False,
            )

    def opened(self, *, at_once: bool) -> list[SemanticModel]:
        """Return the tables with their chosen readers; without a valid choice as drafted.

        at_once: apply the single choice to all.
        """
        self.is_valid()
        for_all = self.cleaned_data.get("for_all", "") if at_once else ""
        return [_set_readers(model, for_all or self.cleaned_data.get(PREFIX + model.name, "")) for model in self.models]

    def of_tables(self) -> Iterator[tuple[SemanticModel, forms.BoundField]]:
        for model in self.models:
            yield model, self[PREFIX + model.name]


def _list_reader_choices(model: SemanticModel) -> list[tuple[str, str]]:
    choices = [(key, str(words)) for key, words in WHO if key != BY_COLUMN]
    by_column = _("each the rows of their org units, by the column %(name)s")
    return [*choices, *((f"{BY_COLUMN}:{name}", by_column % {"name": name}) for name in model.columns)]


def _find_proposed_readers(unit: UnitRule | None) -> str:
    if unit is None:
        return CLOSED
    return unit.shared_with or f"{BY_COLUMN}:{unit.column}"


def _set_readers(model: SemanticModel, chosen: str) -> SemanticModel:
    """Return the table with the chosen readers, unchanged without a valid choice."""
    if not chosen:
        return model
    key, _colon, column = chosen.partition(":")
    unit = org_unit_of(key, column)
    return model.model_copy(update={"org_unit": UnitRule.model_validate(unit) if unit else None})


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def layer_draft(request: HttpRequest, by: Principal, source_id: UUID) -> HttpResponseBase:
    """Show a draft's progress, and its tables that the layer does not describe yet.

    `q` filters them. A POST takes over one (`take`), the ticked ones (`ticked` with `table`) or `all` matches, or
    discards the draft (`discard_draft`).
    """
    source = managed_source(by, source_id)
    row = draft_of(source)
    if row is None:
        return redirect("source-layer", source.pk)
    asked = request.GET.get("q", "")
    if request.method == "POST":
        return _apply_draft_action(request, by, source, filter_tables_by_text(list_proposed_tables(source, row), asked))
    tables = list_proposed_tables(source, row)
    found = filter_tables_by_text(tables, asked)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    form = ReadersForm(None, page)
    context = {
        "title": _("Draft of the semantic layer of %(name)s") % {"name": source.name},
        "source": source,
        "draft": row,
        "percent": round(100 * row.done / row.count) if row.count else None,
        "page": page,
        "page_query": f"&{urlencode({'q': asked})}" if asked else "",
        "asked": asked,
        "form": form,
        "found": len(found),
        "left": len(tables),
        "is_saved": False,
    }
    return render_admin_page(request, "admin/business/draft.html", context)


def _apply_draft_action(
    request: HttpRequest, by: Principal, source: DataSource, found: list[SemanticModel]
) -> HttpResponseBase:
    if "discard" in request.POST:
        discard_draft(by, source)
        return redirect("source-layer", source.pk)
    names = request.POST.getlist("table") if "ticked" in request.POST else request.POST.getlist("take")
    tables = [model for model in found if "all" in request.POST or model.name in names]
    if "ticked" in request.POST and not tables:
        messages.error(request, _("Tick the tables you want to accept; nothing was changed."))
        return redirect(request.get_full_path())
    try:
        is_known = take_over_tables(
            by, source, ReadersForm(request.POST, tables).opened(at_once="take" not in request.POST)
        )
    except CopilotError as error:
        messages.error(request, str(error))
        return redirect("source-draft", source.pk)
    message = ngettext("Accepted: %(n)d table.", "Accepted: %(n)d tables.", len(tables))
    messages.success(request, message % {"n": len(tables)})
    if not is_known:
        messages.warning(request, build_unchecked_message())
    return redirect(request.path if "all" in request.POST else request.get_full_path())
