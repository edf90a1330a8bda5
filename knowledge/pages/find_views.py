"""The page on which documents are found, and what is done to several of them at once."""

from collections.abc import Callable
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from authz.pages import require_sign_in
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, InvalidInput
from copilot_site.lib.http.forms import validate_form
from knowledge import library
from knowledge.documents.search import FindForm, find_documents
from knowledge.embedding.base import EmbeddingError
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.pages.document_views import add_trash_notice, redirect_to_folder
from knowledge.pages.forms import SelectionForm
from knowledge.pages.search_comparison import SearchTestForm, compare_search_settings
from knowledge.services.documents import move_document
from knowledge.services.fields import list_fields
from knowledge.services.trash import restore_document, trash_document


@require_safe
@require_sign_in
def find(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Find documents by `?q=` and FindForm's filters, among all readable ones or in `?base=` or `?folder=`."""
    given = FindForm(request.GET).given
    folder = Folder.objects.visible_to(principal).filter(pk=given["folder"]).first() if "folder" in given else None
    base = folder.knowledge_base if folder else None
    if base is None and "base" in given:
        base = KnowledgeBase.objects.visible_to(principal).filter(pk=given["base"]).first()
    form = FindForm(request.GET, of=list(list_fields(principal, base.pk)) if base else [])
    found = find_documents(principal, form.given, request.GET.get("page", 1), conditions=form.conditions)
    context = {
        "form": form,
        "found": found,
        "page": found.page,
        "folder": folder,
        "base": base,
        "places": library.list_document_destinations(principal, base) if base and found.changeable else [],
        "back": request.GET.urlencode(),
    }
    return render(request, "knowledge/find.html", context)


@require_safe
@require_sign_in
def search_test(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Compare two search settings (`?q=`, `?base=`, `?left=`, `?right=`); without a question show the empty form."""
    form = SearchTestForm(principal, request.GET if "q" in request.GET else None)
    found, problem = None, ""
    if form.is_bound and form.is_valid():
        given = form.cleaned_data
        base = given["base"]
        try:
            found = compare_search_settings(
                principal, given["q"], base_id=base.pk if base else None, left=given["left"], right=given["right"]
            )
        except InvalidInput as error:
            problem = str(error)
        except EmbeddingError:
            problem = _("Search is not working right now. Try again in a moment, or tell your administrator.")
    return render(request, "knowledge/search_test.html", {"form": form, "found": found, "problem": problem})


@require_POST
@require_sign_in
def several(request: HttpRequest, principal: Principal) -> HttpResponse:
    """Move (`what=move`, `folder`), trash (`what=trash`), put back out of the trash (`what=restore`) or go to the rights
    (`what=rights`) of the documents that `documents` names; each by itself, so that one refusal stops no other. Redirect to the list
    that they were chosen in; for restored ones to their folder.
    """
    chosen = validate_form(SelectionForm(request.POST))
    if chosen["what"] == "rights":
        return redirect(f"{reverse('rights-several')}?{urlencode({'documents': chosen['documents']}, doseq=True)}")
    if chosen["what"] == "move" and chosen["folder"] is None:
        raise InvalidInput(_("Choose a folder to move them to."))

    acts: dict[str, Callable[[UUID], Document]] = {
        "move": lambda pk: move_document(principal, document_id=pk, folder_id=chosen["folder"]),
        "trash": lambda pk: trash_document(principal, document_id=pk),
        "restore": lambda pk: restore_document(principal, document_id=pk),
    }
    done, refused = _apply_to_documents(principal, chosen["documents"], acts[chosen["what"]])
    if done:
        _add_result_notice(request, chosen["what"], done)
    for sentence in refused:
        messages.error(request, sentence)
    if chosen["what"] == "restore":
        return redirect_to_folder(principal, done[0]) if done else redirect("trash")
    return redirect(f"{reverse('find')}?{chosen['back']}")


def _add_result_notice(request: HttpRequest, what: str, done: list[Document]) -> None:
    n = len(done)
    if what == "trash":
        message = ngettext("%(n)s document is in the trash.", "%(n)s documents are in the trash.", n)
        add_trash_notice(request, message % {"n": n}, [row.pk for row in done])
    elif what == "move":
        messages.success(request, ngettext("%(n)s document is moved.", "%(n)s documents are moved.", n) % {"n": n})
    else:
        message = ngettext("%(n)s document is back where it was.", "%(n)s documents are back where they were.", n)
        messages.success(request, message % {"n": n})


def _apply_to_documents(
    principal: Principal, ids: list[UUID], act: Callable[[UUID], Document]
) -> tuple[list[Document], list[str]]:
    """Return the successes, and the title and reason of each failure."""
    done, refused = [], []
    for pk in ids:
        try:
            done.append(act(pk))
        except CopilotError as problem:
            title = Document.objects.visible_to(principal).filter(pk=pk).values_list("title", flat=True).first()
            refused.append(f"{title}: {problem}" if title else str(problem))
    return done, refused
