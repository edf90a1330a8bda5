"""The admin's pages of accounts, groups, units and roles: what a change there does to whom is shown before it is saved."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar
from uuid import UUID

from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.contrib.messages.storage import default_storage
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from authz.account_admin import AccountAdmin, PlainGroupAdmin
from authz.admin_pages import render_admin_page
from authz.explanations.impact import Effects
from authz.models import OrgUnit, Role
from authz.people.unit_admin import OrgUnitAdmin, RoleAdmin
from authz.principal import Principal
from authz.rights.holders import find_bases_about_group, find_bases_about_person
from knowledge.governance.dry_run import apply_confirmed_change
from knowledge.governance.effective_rights import MAX_TITLES, list_document_titles

M = TypeVar("M", bound=models.Model)
OURS = {"csrfmiddlewaretoken", "confirmed"}  # of a posted form: no fields of the row


def render_effects_page(
    request: HttpRequest, effects: Effects, context: Mapping[str, Any], *, fields: Iterable[str]
) -> HttpResponse:
    """Show the change for confirmation, as hidden fields, with its effects.

    context: title, way ((address, name) above), back and back_name, action (where the change is posted again), asked or sentence.
    fields: names of the form that was posted.
    """
    by = Principal.of(request.user)
    shown = {"gained": effects.gained_documents, "lost": effects.lost_documents}
    return render_admin_page(
        request,
        "admin/rights/confirm.html",
        {
            **context,
            "effects": effects,
            "titles": {name: list_document_titles(by, ids, most=MAX_TITLES) for name, ids in shown.items()},
            "fields": [(name, value) for name in fields for value in request.POST.getlist(name)],
            "is_again": "confirmed" in request.POST,
        },
    )


class Rehearsed(admin.ModelAdmin[M]):
    """Saves and deletes that are made, compared and undone until their effects have been shown and confirmed."""

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        view = super().changeform_view
        return self._preview_before_saving(
            request, object_id, lambda: view(request, object_id, form_url, extra_context), _("Save “%(name)s”")
        )

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        view = super().delete_view
        return self._preview_before_saving(
            request, object_id, lambda: view(request, object_id, extra_context), _("Delete “%(name)s”")
        )

    def _preview_before_saving(
        self, request: HttpRequest, object_id: str | None, view: Callable[[], HttpResponseBase], sentence: str
    ) -> HttpResponseBase:
        row = (
            self.get_object(request, object_id)
            if object_id
            else _find_row_by_id(OrgUnit, request.POST.get("parent", ""))
        )
        if request.method != "POST" or row is None:
            return view()
        answers: list[HttpResponseBase] = []
        effects = apply_confirmed_change(
            Principal.of(request.user),
            lambda: answers.append(view()),
            what=self.opts.model_name or "",
            target=row,
            base_ids=_find_affected_bases(row, request),
            confirmed=request.POST.get("confirmed", ""),
        )
        if effects is None:
            return answers[0]
        setattr(request, "_messages", default_storage(request))  # noqa: B010 - as its middleware does: what was said is that it was saved
        name = request.POST.get("name") or str(row)
        context = {
            "title": _("Review the change to “%(name)s”") % {"name": name},
            "way": [
                (
                    reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"),
                    capfirst(self.opts.verbose_name_plural),
                )
            ],
            "back": request.get_full_path(),
            "back_name": name,
            "action": request.get_full_path(),
            "sentence": sentence % {"name": name},
        }
        return render_effects_page(
            request, effects, context, fields=[field for field in request.POST if field not in OURS]
        )


def _find_affected_bases(row: models.Model, request: HttpRequest) -> set[UUID]:
    """Return the knowledge bases in which a change of this row can change anything; for a unit, including those of its new place."""
    if isinstance(row, User):
        return find_bases_about_person(row)
    if isinstance(row, Group):
        return find_bases_about_group(row)
    assert isinstance(row, OrgUnit | Role)
    parent = _find_row_by_id(OrgUnit, request.POST.get("parent", ""))
    return find_bases_about_group(row.group) | (find_bases_about_group(parent.group) if parent else set())


def _find_row_by_id(model: type[M], pk: str) -> M | None:
    return model.objects.filter(pk=pk).first() if pk.isdecimal() else None  # type: ignore[attr-defined]


class RehearsedUnitAdmin(Rehearsed[OrgUnit], OrgUnitAdmin):
    pass


class RehearsedRoleAdmin(Rehearsed[Role], RoleAdmin):
    pass


class RehearsedGroupAdmin(Rehearsed[Group], PlainGroupAdmin):
    pass


class RehearsedAccountAdmin(Rehearsed[User], AccountAdmin):
    pass


REHEARSED: dict[type[models.Model], type[admin.ModelAdmin[Any]]] = {
    OrgUnit: RehearsedUnitAdmin,
    Role: RehearsedRoleAdmin,
    Group: RehearsedGroupAdmin,
    User: RehearsedAccountAdmin,
}
for model, page in REHEARSED.items():
    admin.site.unregister(model)
    admin.site.register(model, page)
