"""See as another person: their folders, a search and one question, as they would see them now.

The access is audited first, with both people; the page is then rendered in a transaction in which the database refuses
to write. The other person's conversations are unchanged. Queries on data sources are audited after it.
"""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from agent.oversight.dry_run import dry_run_question
from agent.oversight.impersonation import Impersonation, impersonate_user
from authz.admin_pages import admin_page, render_admin_page
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible
from authz.rights.governing import require_oversight
from copilot_site.lib.errors import CopilotError, InvalidInput, NotFound
from copilot_site.lib.http.forms import validate_form
from knowledge import library
from knowledge.governance.parameters import find_user_by_name, list_holder_names
from knowledge.models import Folder, KnowledgeBase

TOP_K = 10


class LookForm(forms.Form):
    """The page to see as another person: the tree, a search, or a question."""

    what = forms.CharField(required=False, empty_value="tree")
    text = forms.CharField(required=False, strip=False)


@require_safe
@admin_page
def choose(request: HttpRequest, _principal: Principal) -> HttpResponseBase:
    """Choose the person to see as. `?user=` is a username."""
    require_oversight(request.user)
    asked = request.GET.get("user", "")
    context = {"title": _("View as someone else"), "names": list_holder_names(), "asked": asked}
    if not asked:
        return render_admin_page(request, "admin/oversight/choose.html", context)
    try:
        user = find_user_by_name(asked)
    except InvalidInput as problem:
        return render_admin_page(
            request, "admin/oversight/choose.html", context | {"problem": str(problem)}, status=400
        )
    return redirect("see-as", user.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def see_as(request: HttpRequest, principal: Principal, user_id: int) -> HttpResponseBase:
    """Show what the person sees; `?folder=` opens a folder.

    A POST with `what` = `search` or `ask` and `text`: a form, so that it stays out of addresses and logs.
    """
    require_oversight(request.user)
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        raise NotFound(_("There is no such person."))
    asked = validate_form(LookForm(request.POST))
    what, text = asked["what"], asked["text"]
    with impersonate_user(principal, user, what=what, text=text) as look:
        context = _build_library_context(look.sees, request.GET.get("folder", "")) | _run_search_or_question(
            look, what, text
        )
        context |= {"title": _("Viewed as %(name)s") % {"name": user.get_username()}, "person": user, "sees": look.sees}
        return _render_page(request, context)


def _build_library_context(person: Principal, folder_id: str) -> dict[str, Any]:
    """Return the library as this person sees it: bases with their folders, and the documents of one folder."""
    folder = _find_shown_folder(person, folder_id)
    bases = library.list_knowledge_bases(person)
    return {
        "bases": [(base, library.build_folder_tree(person, base, folder)) for base in bases],
        "folder": folder,
        "breadcrumbs": library.list_breadcrumbs(person, folder) if folder else [],
        "page": library.list_folder_documents(person, folder) if folder else None,
        "rights": [Right(word) for word, held in library.check_row_rights(person, folder).items() if held]
        if folder
        else [],
    }


def _find_shown_folder(person: Principal, folder_id: str) -> Folder | None:
    if folder_id:
        return get_visible(Folder, person, pk=folder_id)
    first = KnowledgeBase.objects.visible_to(person).first()
    return next(iter(library.list_top_folders(person, first)), None) if first else None


def _run_search_or_question(look: Impersonation, what: str, text: str) -> dict[str, Any]:
    """Return the result of a search or a question as this person."""
    if what == "tree":
        return {}
    try:
        if what == "search":
            return {"what": what, "text": text, "found": look.search(text, top_k=TOP_K)}
        trial = dry_run_question(look.sees, text, language=get_language() or "en", withheld=look.withheld)
    except CopilotError as problem:
        return {"what": what, "text": text, "problem": str(problem)}
    return {"what": what, "text": text, "trial": trial}


def _render_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Render the page within the transaction, because templates read rows too."""
    return render_admin_page(
        request, "admin/oversight/see_as.html", context, status=400 if "problem" in context else 200
    )
