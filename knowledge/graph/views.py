"""The pages of a neighbourhood: of a document, and of an entity."""

from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.actions import Action
from audit.record import record_action
from authz.pages import require_sign_in
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, has_right
from knowledge.graph.drawing import build_picture
from knowledge.graph.traversal import traverse_from_document, traverse_from_entity
from knowledge.models import Document, GraphEntity


@require_safe
@require_sign_in
def of_document(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponseBase:
    """Show the entities that a document names, and their relations."""
    document = get_visible(Document, principal, pk=document_id)
    around = traverse_from_document(principal, document.pk)
    record_action(principal, Action.EVIDENCE_SHOWN, document, detail={"graph": len(around.entities)})
    context = {
        "document": document,
        "base": document.knowledge_base,
        "name": document.title,
        "picture": build_picture(principal, around),
        "may_manage": has_right(principal, Right.MANAGE, document.knowledge_base),
    }
    return render(request, "knowledge/graph.html", context)


@require_safe
@require_sign_in
def of_entity(request: HttpRequest, principal: Principal, entity_id: UUID) -> HttpResponseBase:
    """Show the relations of an entity, from passages that this person may read."""
    entity = get_visible(GraphEntity, principal, pk=entity_id)
    around = traverse_from_entity(principal, entity.pk)
    record_action(principal, Action.EVIDENCE_SHOWN, entity.knowledge_base, detail={"graph": len(around.entities)})
    context = {
        "base": entity.knowledge_base,
        "name": next((item.name for item in around.entities if item.id == entity.pk), ""),
        "picture": build_picture(principal, around),
        "may_manage": has_right(principal, Right.MANAGE, entity.knowledge_base),
    }
    return render(request, "knowledge/graph.html", context)
