"""Pages of the admin that belong to no single model."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from authz.principal import Principal

P = ParamSpec("P")


def admin_page(
    view: Callable[Concatenate[HttpRequest, Principal, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """A page for staff, behind the admin's own sign-in; it gets the principal as second argument."""

    @wraps(view)
    def page(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        return view(request, Principal.of(request.user), *args, **kwargs)

    return cast("Callable[Concatenate[HttpRequest, P], HttpResponseBase]", admin.site.admin_view(page))


def show(request: HttpRequest, template: str, context: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    """A template of ours within the admin's frame."""
    return render(request, template, admin.site.each_context(request) | dict(context), status=status)
