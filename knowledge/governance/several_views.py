"""Rights on several documents at once, chosen in the library: shown with whom it touches, then made on all of them or on none."""

from collections.abc import Sequence
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from authz.admin_pages import admin_page, show
from authz.governing import governed
from authz.impact import Effects
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from copilot_site.lib.forms import checked
from knowledge.forms import ChosenForm
from knowledge.governance import dry_run
from knowledge.governance.changes import ABOUT_A_HOLDER, Change, ChangeForm
from knowledge.governance.dry_run_admin import show_effects
from knowledge.governance.parameters import NARROW, holder_names
from knowledge.models import Document


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def several(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """`documents`: ids. Those that this person does not govern are counted, and stay as they are.

    Raises InvalidInput (no ids), NotFound (none of them is governed).
    """
    ids: list[UUID] = checked(ChosenForm(request.POST if request.method == "POST" else request.GET))["documents"]
    rows = list(governed(Document, principal).filter(pk__in=ids, **NARROW[Document]).select_related("knowledge_base"))
    if not rows:
        raise NotFound(_("There is no such document, or others manage its rights."))
    if request.method != "POST":
        return _page(request, rows, left_out=len(ids) - len(rows))
    form = ChangeForm(request.POST)
    try:
        asked = form.change()
        effects = _carry_out(principal, rows, asked, confirmed=request.POST.get("confirmed", ""))
    except (InvalidInput, Conflict) as problem:
        messages.error(request, str(problem))
        return _page(request, rows, left_out=len(ids) - len(rows), form=form, status=400)
    if effects is not None:
        return _ask_to_confirm(request, rows, asked, effects)
    done = ngettext("Done on one document: %(what)s.", "Done on %(n)d documents: %(what)s.", len(rows))
    messages.success(request, done % {"n": len(rows), "what": asked.what.label})
    return redirect(_address(rows))


def _carry_out(by: Principal, rows: Sequence[Document], asked: Change, *, confirmed: str) -> Effects | None:
    if asked.what not in ABOUT_A_HOLDER:
        raise InvalidInput(_("This is changed on each document by itself."))

    def make() -> None:
        for row in rows:
            asked.apply(by, row)

    bases = {row.knowledge_base_id for row in rows}
    return dry_run.carry_out(by, make, what=asked.what.value, target=None, base_ids=bases, confirmed=confirmed)


def _page(
    request: HttpRequest, rows: Sequence[Document], *, left_out: int, form: ChangeForm | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "title": _("Rights on several documents"),
        "documents": rows,
        "left_out": left_out,
        "rights": list(Right),
        "names": holder_names(),
        "form": form,
    }
    return show(request, "admin/rights/several.html", context, status=status)


def _ask_to_confirm(request: HttpRequest, rows: Sequence[Document], asked: Change, effects: Effects) -> HttpResponse:
    count = ngettext("one document", "%(n)d documents", len(rows)) % {"n": len(rows)}
    context = {
        "title": _("Check the change of rights on %(count)s") % {"count": count},
        "way": [(reverse("rights-tree"), _("Folders and rights"))],
        "back": _address(rows),
        "back_name": count,
        "action": reverse("rights-several"),
        "asked": asked,
    }
    return show_effects(request, effects, context, fields=[*ChangeForm.base_fields, "documents"])


def _address(rows: Sequence[Document]) -> str:
    return f"{reverse('rights-several')}?{urlencode([('documents', row.pk) for row in rows])}"
