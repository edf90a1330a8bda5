"""The library: knowledge bases, folders, documents, and the passage behind a citation."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from authz.pages import require_sign_in
from authz.principal import Principal
from authz.rights.checks import get_visible
from copilot_site.lib.errors import CopilotError, InvalidInput, PermissionDenied
from copilot_site.lib.http.forms import show_problem_as_message, validate_form
from copilot_site.lib.storage.files import StreamedFile
from knowledge import library
from knowledge.documents import text as document_text
from knowledge.documents.metadata_forms import ValuesForm, build_initial_values, format_metadata
from knowledge.documents.search import FindForm
from knowledge.losses import format_unread_parts
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.pages.document_views import build_facts_form, list_move_destinations
from knowledge.pages.forms import FolderNameForm, FolderPlaceForm, NewBaseForm, OpeningForm, UploadForm
from knowledge.selectors import discoverable_folders
from knowledge.services.attachments import scope_to_document_conversation, scope_to_passage_conversation
from knowledge.services.documents import open_original, retry_document
from knowledge.services.fields import list_fields
from knowledge.services.folders import (
    create_folder,
    delete_folder,
    find_root_folder,
    may_make_bases,
    move_folder,
    rename_folder,
    set_up_knowledge_base,
    upload_to_path,
)
from knowledge.services.uploads import upload_document
from knowledge.stated_fields import select_unmatched_values


@require_safe
@require_sign_in
def bases(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    context = {
        "bases": library.list_knowledge_bases(principal),
        "may_make": may_make_bases(principal),
        "find_form": FindForm(),
        "reviews_due": library.count_due_reviews(principal),
        "is_keeper": library.is_place_manager(principal),
        "may_ask": discoverable_folders(principal).exists(),
    }
    return render(request, "knowledge/bases.html", context)


@require_safe
@require_sign_in
def base(request: HttpRequest, principal: Principal, base_id: UUID) -> HttpResponseBase:
    """Show a knowledge base at its one visible top folder; with several, or documents beside them, a choice."""
    row = get_visible(KnowledgeBase, principal, pk=base_id)
    tops = library.list_top_folders(principal, row)
    beside = library.list_hidden_folder_documents(principal, row)
    if len(tops) == 1 and not beside:
        return redirect("folder", tops[0].pk)
    context = {"base": row, "folders": tops, "beside": beside, "tree": library.build_folder_tree(principal, row, None)}
    return render(request, "knowledge/base.html", context)


@require_safe
@require_sign_in
def folder(request: HttpRequest, principal: Principal, folder_id: UUID) -> HttpResponseBase:
    row = get_visible(Folder, principal, pk=folder_id)
    rights = library.check_row_rights(principal, row)
    context = {
        "folder": row,
        "base": row.knowledge_base,
        "breadcrumbs": library.list_breadcrumbs(principal, row),
        "tree": library.build_folder_tree(principal, row.knowledge_base, row),
        "subfolders": Folder.objects.visible_to(principal).filter(parent=row),
        "page": library.list_folder_documents(principal, row, request.GET.get("page", 1)),
        "unfinished": library.count_unfinished_documents(principal, row),
        "rights": rights,
        "places": library.list_folder_destinations(principal, row) if rights["change"] and row.parent_id else [],
        "accepted": library.describe_accepted_files(),
    }
    return render(request, "knowledge/folder.html", context)


@require_safe
@require_sign_in
def folder_progress(request: HttpRequest, principal: Principal, folder_id: UUID) -> JsonResponse:
    """Return how many documents are unfinished at and below a folder, and the rows of those there that `?id=` names, as HTML."""
    row = get_visible(Folder, principal, pk=folder_id)
    asked = list(_parse_uuids(request.GET.getlist("id")))[: library.PAGE_SIZE]
    rows = [
        {
            "id": str(shown.document.pk),
            "is_here": shown.document.folder_id == row.pk,
            "html": render_to_string("knowledge/_row.html", {"row": shown}, request),
        }
        for shown in library.load_document_rows(principal, row, asked)
    ]
    return JsonResponse({"unfinished": library.count_unfinished_documents(principal, row), "rows": rows})


@require_POST
@require_sign_in
def upload(request: HttpRequest, principal: Principal, folder_id: UUID) -> JsonResponse:
    """Upload one file (`file`) with its folders (`path`, "" for none); return 201 with the result."""
    given = validate_form(UploadForm(request.POST, request.FILES))
    file = given["file"]
    done = upload_to_path(principal, folder_id=folder_id, path=given["path"], filename=file.name or "", file=file)
    body = {
        "outcome": done.outcome,
        "document_id": str(done.document.pk),
        "folder_id": str(done.document.folder_id),
        "folder_url": reverse("folder", args=[done.document.folder_id]),
        "url": reverse("document", args=[done.document.pk]),
    }
    return JsonResponse(body, status=201)


@require_POST
@require_sign_in
def new_folder(request: HttpRequest, principal: Principal, folder_id: UUID) -> HttpResponse:
    try:
        made = create_folder(principal, parent_id=folder_id, **validate_form(FolderNameForm(request.POST)))
    except InvalidInput as problem:
        messages.error(request, str(problem))
        return redirect("folder", folder_id)
    return redirect("folder", made.pk)


@require_POST
@require_sign_in
def change_name(request: HttpRequest, principal: Principal, folder_id: UUID) -> HttpResponse:
    with show_problem_as_message(request):
        rename_folder(principal, folder_id=folder_id, **validate_form(FolderNameForm(request.POST)))
    return redirect("folder", folder_id)


@require_POST
@require_sign_in
def change_place(request: HttpRequest, principal: Principal, folder_id: UUID) -> HttpResponse:
    """Move the folder into the one of id `parent`; an invalid id counts as the folder itself, which is refused."""
    form = FolderPlaceForm(request.POST)
    parent_id = form.cleaned_data["parent"] if form.is_valid() else folder_id
    with show_problem_as_message(request):
        moved = move_folder(principal, folder_id=folder_id, parent_id=parent_id)
        messages.success(request, _("The folder “%(name)s” is moved.") % {"name": moved.name})
    return redirect("folder", folder_id)


@require_POST
@require_sign_in
def remove_folder(request: HttpRequest, principal: Principal, folder_id: UUID) -> HttpResponse:
    """Delete a folder and redirect to its parent; with the reason, when the folder has to stay."""
    row = get_visible(Folder, principal, pk=folder_id)
    try:
        delete_folder(principal, folder_id=folder_id)
    except InvalidInput as problem:
        messages.error(request, str(problem))
        return redirect("folder", folder_id)
    messages.success(request, _("The folder “%(name)s” is deleted.") % {"name": row.name})
    return redirect("base", row.knowledge_base_id)


@require_safe
@require_sign_in
def document(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponseBase:
    """Show a document at `?chunk=&start=&end=` or `?part=`; at its beginning if these are invalid."""
    asked, principal = OpeningForm(request.GET), scope_to_document_conversation(principal, document_id)
    opened = document_text.open_document(
        principal, document_id, cited=asked.cited, part=asked.asked_part, number=asked.asked_version
    )
    rights = library.check_row_rights(principal, opened.document)
    fields = list(list_fields(principal, opened.document.knowledge_base_id))
    context = {
        "reader": opened,
        "document": opened.document,
        "base": opened.document.knowledge_base,
        "breadcrumbs": library.list_breadcrumbs(principal, opened.document.folder),
        "row": library.DocumentRow(opened.document, opened.newest),
        "stages": library.list_ingestion_stages(opened.newest),
        "rights": rights,
        "current_number": next((v.number for v in opened.versions if v.pk == opened.document.current_version_id), None),
        "successor": document_text.find_visible_successor(principal, opened.document),
        "metadata": format_metadata(fields, opened.document),
        "own_fields": select_unmatched_values(fields, opened.shown.stated if opened.shown else {}),
        "not_read": format_unread_parts(opened.shown.not_read) if opened.shown else "",
    }
    if rights["change"]:
        context |= {
            "facts_form": build_facts_form(request, principal, opened.document),
            "metadata_form": ValuesForm(initial=build_initial_values(fields, opened.document.metadata), of=fields),
            "places": list_move_destinations(principal, opened.document),
        }
    return render(request, "knowledge/document.html", context)


@require_safe
@require_sign_in
def document_progress(request: HttpRequest, principal: Principal, document_id: UUID) -> JsonResponse:
    """Return the stages of the newest version as HTML, and whether they are still running."""
    row = get_visible(Document, principal, pk=document_id)
    shown = library.DocumentRow(row, library.list_document_versions(principal, row)[0])
    context = {
        "row": shown,
        "stages": library.list_ingestion_stages(shown.version),
        "rights": library.check_row_rights(principal, row),
    }
    html = render_to_string("knowledge/_stages.html", context, request)
    return JsonResponse({"is_unfinished": shown.is_unfinished, "html": html})


@require_POST
@require_sign_in
def retry(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponse:
    with show_problem_as_message(request):
        retry_document(principal, document_id=document_id)
    return redirect("document", document_id)


@require_safe
@require_sign_in
def download(_request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponseBase:
    """Send the original, always as a download: a foreign file is never shown inside our own origin."""
    version = open_original(scope_to_document_conversation(principal, document_id), document_id=document_id)
    return StreamedFile(
        version.file.open("rb"),
        as_attachment=True,
        filename=version.document.filename,
        content_type="application/octet-stream",
    )


@require_safe
@require_sign_in
def page_image(
    _request: HttpRequest, principal: Principal, document_id: UUID, version_number: int, page: int
) -> HttpResponseBase:
    """Show a page as PNG. The server caches it, the browser must not: it would leave text on somebody's disk."""
    reader = scope_to_document_conversation(principal, document_id)
    return HttpResponse(
        document_text.open_page_image(reader, document_id, version_number, page), content_type="image/png"
    )


@require_safe
@require_sign_in
def picture(
    _request: HttpRequest, principal: Principal, document_id: UUID, version_number: int, number: int
) -> HttpResponseBase:
    """Show a picture inside an Office file as PNG. As for pages, the browser must not cache it."""
    reader = scope_to_document_conversation(principal, document_id)
    return HttpResponse(
        document_text.open_embedded_picture(reader, document_id, version_number, number), content_type="image/png"
    )


@require_safe
@require_sign_in
def source(request: HttpRequest, principal: Principal, base_id: UUID, chunk_id: UUID) -> HttpResponseBase:
    """Show the passage behind a citation, for the drawer; `?start=&end=` are offsets into it."""
    reader = scope_to_passage_conversation(principal, base_id, chunk_id)
    opened = document_text.open_cited_source(reader, base_id, chunk_id, OpeningForm(request.GET).span)
    return render(request, "knowledge/_source.html", {"source": opened, "query": request.GET.urlencode()})


def _parse_uuids(texts: Iterable[str]) -> Iterator[UUID]:
    for text in texts:
        with suppress(ValueError):
            yield UUID(text)


@require_http_methods(["GET", "HEAD", "POST"])
@require_sign_in
def new_base(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Create a base with its readers and first files. A refused file does not undo the rest; its reason is shown.

    Raises PermissionDenied (no administrator).
    """
    if not may_make_bases(principal):
        raise PermissionDenied(_("Only system administrators create knowledge bases. Ask one of them."))
    form = NewBaseForm(request.POST, request.FILES) if request.method == "POST" else NewBaseForm()
    if form.is_bound and form.is_valid():
        given = form.cleaned_data
        try:
            base = set_up_knowledge_base(
                principal, name=given["name"], description=given["description"], readers=given["readers"]
            )
        except InvalidInput as problem:
            form.add_error("name", str(problem))
        else:
            _upload_first_files(request, principal, base)
            return redirect("base", base.pk)
    return render(request, "knowledge/new_base.html", {"form": form, "accepted": library.describe_accepted_files()})


def _upload_first_files(request: HttpRequest, principal: Principal, base: KnowledgeBase) -> None:
    folder = find_root_folder(base)
    for file in request.FILES.getlist("first_files"):
        try:
            upload_document(principal, folder_id=folder.pk, filename=file.name or "", file=file)
        except CopilotError as problem:
            messages.error(request, str(problem))
