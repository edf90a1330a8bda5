"""The pages of a neighbourhood: of a document, and of an entity."""

from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.actions import Action
from audit.record import record
from authz.pages import signed_in
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import can, get_visible
from knowledge.graph.drawing import picture_of
from knowledge.graph.traversal import about_document, about_entity
from knowledge.models import Document, GraphEntity


@require_safe
@signed_in
def of_document(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponseBase:
    """Show what a document names, and what else is said of it."""
    document = get_visible(Document, principal, pk=document_id)
    around = about_document(principal, document.pk)
    record(principal, Action.EVIDENCE_SHOWN, document, detail={"graph": len(around.entities)})
    context = {
        "document": document,
        "base": document.knowledge_base,
        "name": document.title,
        "picture": picture_of(principal, around),
        "may_manage": can(principal, Right.MANAGE, document.knowledge_base),
    }
    return render(request, "knowledge/graph.html", context)


@require_safe
@signed_in
def of_entity(request: HttpRequest, principal: Principal, entity_id: UUID) -> HttpResponseBase:
    """Show what is said of an entity, in passages that this person may read."""
    entity = get_visible(GraphEntity, principal, pk=entity_id)
    around = about_entity(principal, entity.pk)
    record(principal, Action.EVIDENCE_SHOWN, entity.knowledge_base, detail={"graph": len(around.entities)})
    context = {
        "base": entity.knowledge_base,
        "name": next((item.name for item in around.entities if item.id == entity.pk), ""),
        "picture": picture_of(principal, around),
        "may_manage": can(principal, Right.MANAGE, entity.knowledge_base),
    }
    return render(request, "knowledge/graph.html", context)
