"""Pages that manage a document: its metadata, its versions, its place, and the trash."""

from collections.abc import Iterable
from dataclasses import replace as replace_facts
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from authz.pages import require_sign_in
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, has_right
from authz.rights.holders import find_people_with_right
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.http.forms import show_problem_as_message, validate_form
from knowledge.documents.text import find_visible_successor
from knowledge.documents.version_diff import compare_versions
from knowledge.library import list_document_destinations
from knowledge.models import Document, Folder
from knowledge.pages.forms import FactsForm, PlaceForm, ReplaceForm
from knowledge.services.documents import move_document
from knowledge.services.metadata import (
    approve_version,
    change_document_facts,
    confirm_document,
    replace_file,
    restore_version,
)
from knowledge.services.trash import (
    KEPT,
    compute_deletion_time,
    erase_document,
    list_trashed_documents,
    restore_document,
    trash_document,
)
from knowledge.services.uploads import UploadOutcome

SENT = "facts-sent"  # in the session: what a form with a mistake said, until it is shown again


def build_facts_form(request: HttpRequest, principal: Principal, document: Document) -> FactsForm:
    """Return the form of a document, as it is now; right after a mistake, once, as it was sent: `has_mistake`."""
    successor = find_visible_successor(principal, document)
    facts = {
        "title": document.title,
        "owner": document.owner.username if document.owner else "",
        "review_on": document.review_on,
        "superseded_by": successor.filename if successor else "",
    }
    others = _list_other_documents(principal, document)
    sent = request.session.pop(SENT, {}) if SENT in request.session else {}
    has_mistake = sent.pop("document", "") == str(document.pk)
    form = FactsForm(initial=facts | sent if has_mistake else facts, others=others)
    form.has_mistake = has_mistake
    form.offer(_list_owner_choices(principal, document, others), others.exclude(pk=document.pk))
    return form


def _list_owner_choices(principal: Principal, document: Document, others: QuerySet[Document]) -> QuerySet[User]:
    """Return the owners to offer: its readers for whoever governs its rights, else the owners of visible documents."""
    if has_right(principal, Right.MANAGE, document):
        return find_people_with_right(Right.VIEW, document.access)
    keepers = Q(pk__in=others.values("owner")) | Q(pk__in=others.values("created_by")) | Q(pk=principal.user_id)
    return User.objects.filter(keepers, is_active=True)


def list_move_destinations(principal: Principal, document: Document) -> list[tuple[UUID, str]]:
    """Return the folders this person may move it to, as (id, path), without its own folder."""
    places = list_document_destinations(principal, document.knowledge_base)
    return [(pk, path) for pk, path in places if pk != document.folder_id]


def _list_other_documents(principal: Principal, document: Document) -> QuerySet[Document]:
    return Document.objects.visible_to(principal).filter(knowledge_base_id=document.knowledge_base_id)


@require_POST
@require_sign_in
def facts(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponse:
    """Save the facts. A successor hidden from this person is not in their form and stays unless they name another."""
    row = get_visible(Document, principal, pk=document_id)
    form = FactsForm(request.POST, others=_list_other_documents(principal, row))
    try:
        validate_form(form)
        hidden = row.superseded_by if find_visible_successor(principal, row) is None else None
        found = form.facts if form.facts.superseded_by else replace_facts(form.facts, superseded_by=hidden)
        change_document_facts(principal, document_id=document_id, facts=found)
    except InvalidInput as problem:
        messages.error(request, str(problem))
        request.session[SENT] = {name: request.POST.get(name, "") for name in form.fields} | {"document": str(row.pk)}
    else:
        messages.success(request, _("Saved."))
    return redirect("document", document_id)


@require_POST
@require_sign_in
def confirm(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponse:
    with show_problem_as_message(request):
        next_review = confirm_document(principal, document_id=document_id)
        day = date_format(next_review, "SHORT_DATE_FORMAT")
        messages.success(request, _("Thank you. The next review is on %(day)s.") % {"day": day})
    return redirect("document", document_id)


@require_POST
@require_sign_in
def replace(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponse:
    get_visible(Document, principal, pk=document_id)
    with show_problem_as_message(request):
        done = replace_file(
            principal, document_id=document_id, file=validate_form(ReplaceForm(request.POST, request.FILES))["file"]
        )
        if done.outcome is UploadOutcome.UNCHANGED:
            messages.info(request, _("The content is the same as the current version; nothing was changed."))
    return redirect("document", document_id)


@require_POST
@require_sign_in
def version_again(request: HttpRequest, principal: Principal, document_id: UUID, version_number: int) -> HttpResponse:
    with show_problem_as_message(request):
        made = restore_version(principal, document_id=document_id, number=version_number)
        messages.success(
            request,
            _("Version %(old)s is back, as version %(new)s.") % {"old": version_number, "new": made.number},
        )
    return redirect("document", document_id)


@require_POST
@require_sign_in
def approve(request: HttpRequest, principal: Principal, document_id: UUID, version_number: int) -> HttpResponse:
    with show_problem_as_message(request):
        approve_version(principal, document_id=document_id, number=version_number)
        messages.success(request, _("Version %(number)s is approved.") % {"number": version_number})
    return redirect("document", document_id)


@require_safe
@require_sign_in
def compare(request: HttpRequest, principal: Principal, document_id: UUID, older: int, newer: int) -> HttpResponseBase:
    found = compare_versions(principal, document_id, older=older, newer=newer)
    return render(request, "knowledge/compare.html", {"comparison": found, "document": found.older.document})


@require_POST
@require_sign_in
def move(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponse:
    get_visible(Document, principal, pk=document_id)
    with show_problem_as_message(request):
        moved = move_document(
            principal, document_id=document_id, folder_id=validate_form(PlaceForm(request.POST))["folder"]
        )
        messages.success(request, _("“%(name)s” is moved.") % {"name": moved.title})
    return redirect("document", document_id)


@require_POST
@require_sign_in
def remove(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponse:
    row = trash_document(principal, document_id=document_id)
    message = _("“%(name)s” is in the trash. It can be restored for %(days)s days.")
    add_trash_notice(request, message % {"name": row.title, "days": KEPT.days}, [row.pk])
    return redirect_to_folder(principal, row)


def add_trash_notice(request: HttpRequest, text: str, document_ids: Iterable[UUID]) -> None:
    """Add a notice about trashed documents; `partials/notices.html` makes its undo button from their ids."""
    messages.success(request, text, extra_tags=" ".join(map(str, document_ids)))


def redirect_to_folder(principal: Principal, document: Document) -> HttpResponse:
    """Redirect to the document's present or former folder; to its base where this person does not see the folder."""
    is_seen = Folder.objects.visible_to(principal).filter(pk=document.folder_id).exists()
    return redirect("folder", document.folder_id) if is_seen else redirect("base", document.knowledge_base_id)


@require_safe
@require_sign_in
def trash(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show the documents this person may restore, latest first; a folder that they do not see is not named."""
    documents = list(list_trashed_documents(principal)[:500])
    folders = {document.folder_id for document in documents}
    seen = dict(Folder.objects.visible_to(principal).filter(pk__in=folders).values_list("pk", "name"))
    rows = [(document, seen.get(document.folder_id, ""), compute_deletion_time(document)) for document in documents]
    return render(request, "knowledge/trash.html", {"rows": rows, "days": KEPT.days})


@require_POST
@require_sign_in
def put_back(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponse:
    try:
        row = restore_document(principal, document_id=document_id)
    except InvalidInput as problem:
        messages.error(request, str(problem))
        return redirect("trash")
    messages.success(request, _("“%(name)s” is back where it was.") % {"name": row.title})
    return redirect("document", row.pk)


@require_POST
@require_sign_in
def erase(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponse:
    erase_document(principal, document_id=document_id)
    messages.success(request, _("Deleted for good. The audit log records what is left of it: nothing."))
    return redirect("trash")
