"""Shared parts of admin pages: those without a model, and those of models that are changed by services."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from django.apps import apps
from django.contrib import admin, messages
from django.contrib.admin.options import IS_POPUP_VAR
from django.core.exceptions import ValidationError
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound

P = ParamSpec("P")
M = TypeVar("M", bound=models.Model)


def admin_page(
    view: Callable[Concatenate[HttpRequest, Principal, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Make a page for staff, behind the admin's own sign-in; it gets the principal as second argument."""

    @wraps(view)
    def page(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        return view(request, Principal.of(request.user), *args, **kwargs)

    return cast("Callable[Concatenate[HttpRequest, P], HttpResponseBase]", admin.site.admin_view(page))


def require_staff(login: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return the admin's sign-in, which tells signed-in people without staff status what they lack."""

    @wraps(login)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated or request.user.is_staff:
            return login(request, *args, **kwargs)
        context = {
            "sentence": _("Administration is for staff accounts only."),
            "advice": _("If you manage folders or knowledge bases, ask an administrator for a staff account."),
        }
        return render(request, "403.html", context, status=403)

    return page


@admin_page
def on_site(_request: HttpRequest, _principal: Principal, /, **_row: str) -> HttpResponse:
    """Raise NotFound in place of Django's redirect from a content type and an id to a row: nothing links to it."""
    raise NotFound(_("There is no such page, or you cannot see it."))


def drop_invalid_initial_ids(
    initial_data: Callable[[Any, HttpRequest], dict[str, Any]],
) -> Callable[..., dict[str, Any]]:
    """Drop initial values of an admin form that are not the id of a row."""

    @wraps(initial_data)
    def usable(options: Any, request: HttpRequest) -> dict[str, Any]:
        given = initial_data(options, request)
        related = {field.name: field for field in options.opts.get_fields() if field.is_relation and field.concrete}
        return {
            name: value for name, value in given.items() if name not in related or _are_valid_ids(related[name], value)
        }

    return usable


def _are_valid_ids(field: Any, value: str | list[str]) -> bool:
    try:
        for item in value if isinstance(value, list) else [value]:
            field.target_field.to_python(item)
    except ValidationError:
        return False
    return True


def render_admin_page(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render a template of ours within the admin's frame."""
    return render(request, template, admin.site.each_context(request) | dict(context), status=status)


class FromOutside:
    """A list of data from the company's sign-in or directory, with links to the others. lead_sentence: its content."""

    change_list_template: Any = "admin/authz/directory_list.html"
    lead_sentence: Any = ""
    model: Any

    def ways(self) -> list[tuple[Any, str, bool]]:
        """Return (name, address, whether it is this one) of each list."""
        found = []
        for name in ("directoryaccount", "directorygroup", "claimmapping", "unmappedclaim", "claimmembership"):
            model = apps.get_model("authz", name)
            label = capfirst(model._meta.verbose_name_plural)
            found.append((label, reverse(f"admin:authz_{name}_changelist"), model is self.model))
        return found


class OnOwnPage(admin.ModelAdmin[M]):
    """Rows that a page of ours lists: who saves or deletes one goes back there. own_page: its route."""

    own_page = ""

    def _response_post_save(self, request: HttpRequest, obj: M) -> HttpResponse:
        return redirect(self.own_page)

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        answer: HttpResponse = super().response_delete(request, obj_display, obj_id)
        return answer if IS_POPUP_VAR in request.POST else redirect(self.own_page)


class SuperusersOnly(admin.ModelAdmin[M]):
    """Rows that superusers change, one at a time and through services, whose errors are shown instead of saving."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {}  # each is deleted on its own page, where a service can refuse

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        view = super().changeform_view
        return _show_refusal_as_message(request, lambda: view(request, object_id, form_url, extra_context))

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        view = super().delete_view
        return _show_refusal_as_message(request, lambda: view(request, object_id, extra_context))


def _show_refusal_as_message(request: HttpRequest, view: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Show a service's refusal as a message; Django's transaction is rolled back."""
    try:
        return view()
    except InvalidInput as problem:
        messages.error(request, str(problem))
        return redirect(request.get_full_path())
