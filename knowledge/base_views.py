"""Making a knowledge base: one page, one step."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from authz.pages import signed_in
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, InvalidInput, PermissionDenied
from knowledge import library
from knowledge.forms import NewBaseForm
from knowledge.models import KnowledgeBase
from knowledge.services.bases import may_make_bases, set_up_knowledge_base
from knowledge.services.folders import root_folder
from knowledge.services.uploads import upload_document


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def new_base(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """A base, who may read it and its first files. A file that is refused does not undo the rest: it is said why.

    Raises PermissionDenied (no administrator).
    """
    if not may_make_bases(principal):
        raise PermissionDenied(_("Only an administrator of the system makes knowledge bases. Ask for one there."))
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
            _add(request, principal, base)
            return redirect("base", base.pk)
    return render(request, "knowledge/new_base.html", {"form": form, "accepted": library.accepted()})


def _add(request: HttpRequest, principal: Principal, base: KnowledgeBase) -> None:
    folder = root_folder(base)
    for file in request.FILES.getlist("first_files"):
        try:
            upload_document(principal, folder_id=folder.pk, filename=file.name or "", file=file)
        except CopilotError as problem:
            messages.error(request, str(problem))
