"""The page of the administration for the graph of a base: its settings, what it holds, and what was decided by hand."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from authz.rights.governing import get_governed
from copilot_site.lib.errors import CopilotError, InvalidInput
from copilot_site.lib.http.forms import show_problem_as_message, validate_form
from knowledge.graph.building import find_unread_documents
from knowledge.graph.services import change_graph, merge_entities, refuse_graph_relation, undo_merge
from knowledge.models import (
    GraphEntity,
    GraphMention,
    GraphMerge,
    GraphMode,
    GraphReading,
    GraphRelation,
    KnowledgeBase,
)

SHOWN = 50


class GraphForm(forms.Form):
    graph = forms.ChoiceField(choices=GraphMode.choices, label=gettext_lazy("Made of"))


class NamesForm(forms.Form):
    one = forms.CharField(max_length=200)
    other = forms.CharField(max_length=200)


class MergeForm(forms.Form):
    merge = forms.UUIDField()


class RelationForm(forms.Form):
    relation = forms.UUIDField()
    back = forms.BooleanField(required=False)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def graph_of_base(request: HttpRequest, by: Principal, base_id: UUID) -> HttpResponseBase:
    base = get_governed(KnowledgeBase, by, pk=base_id)
    form = GraphForm(request.POST if request.method == "POST" else None, initial={"graph": base.graph})
    if form.is_valid():
        try:
            change_graph(by, base_id, graph=form.cleaned_data["graph"])
        except InvalidInput as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The knowledge graph is set up; documents are read for it in the background."))
            return redirect("graph-of-base", base_id)
    return render_admin_page(
        request, "admin/graph.html", _summarise_graph(by, base) | {"form": form}, status=400 if form.errors else 200
    )


def _summarise_graph(by: Principal, base: KnowledgeBase) -> dict[str, Any]:
    """Return counts of the whole base, and names only from passages that this person may read."""
    merges = list(GraphMerge.objects.filter(knowledge_base=base)[:SHOWN])
    refused = list(GraphRelation.unscoped.filter(knowledge_base=base, is_refused=True)[:SHOWN])
    ends = [end for row in merges for end in (row.one_id, row.other_id)]
    ends += [end for row in refused for end in (row.subject_id, row.object_id)]
    visible = GraphEntity.objects.visible_to(by).filter(pk__in=ends).values_list("pk", flat=True)
    mentions = GraphMention.objects.visible_to(by).filter(entity__in=list(visible)).order_by("-defines", "said")
    names = dict(reversed(list(mentions.values_list("entity_id", "said"))))
    hidden = _("(hidden name)")
    return {
        "title": _("Knowledge graph: %(base)s") % {"base": base},
        "base": base,
        "counts": {
            "entities": GraphEntity.unscoped.filter(knowledge_base=base).count(),
            "relations": GraphRelation.unscoped.filter(knowledge_base=base, is_refused=False).count(),
            "read": GraphReading.objects.filter(document__knowledge_base=base).count(),
            "left": find_unread_documents(base.pk).count() if base.graph != GraphMode.OFF else 0,
        },
        "problems": GraphReading.objects.filter(document__knowledge_base=base).exclude(problem="").count(),
        "problem": GraphReading.objects.filter(document__knowledge_base=base)
        .exclude(problem="")
        .order_by("-read_at")
        .first(),
        "merges": [(row.pk, names.get(row.one_id, hidden), names.get(row.other_id, hidden)) for row in merges],
        "refused": [(row.pk, names.get(row.subject_id, hidden), names.get(row.object_id, hidden)) for row in refused],
    }


@require_POST
@admin_page
def merge_names(request: HttpRequest, by: Principal, base_id: UUID) -> HttpResponse:
    given = NamesForm(request.POST)
    with show_problem_as_message(request):
        get_governed(KnowledgeBase, by, pk=base_id)
        fields = validate_form(given)
        merge_entities(by, base_id, names=[fields["one"], fields["other"]])
        messages.success(request, _("Both names are now one. You can undo it here."))
    return redirect("graph-of-base", base_id)


@require_POST
@admin_page
def separate_names(request: HttpRequest, by: Principal, base_id: UUID) -> HttpResponse:
    get_governed(KnowledgeBase, by, pk=base_id)
    with show_problem_as_message(request, CopilotError):
        undo_merge(by, base_id, merge_id=validate_form(MergeForm(request.POST))["merge"])
    return redirect("graph-of-base", base_id)


@require_POST
@admin_page
def refuse_relation(request: HttpRequest, by: Principal, base_id: UUID) -> HttpResponse:
    """Remove a relation from the graph, or restore it with `back`."""
    get_governed(KnowledgeBase, by, pk=base_id)
    with show_problem_as_message(request, CopilotError):
        given = validate_form(RelationForm(request.POST))
        refuse_graph_relation(by, base_id, relation_id=given["relation"], is_refused=not given["back"])
        messages.success(request, _("Put back.") if given["back"] else _("Taken out. You can put it back here."))
    return redirect("graph-of-base", base_id)
