"""Tokens and service accounts in the admin."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from authz.models import ApiToken, ServiceAccount
from authz.people.accounts import create_service_account, set_enabled
from authz.principal import Principal
from authz.tokens.api_tokens import issue_token, withdraw_token
from authz.tokens.forms import AccountTokenForm, clean_name
from copilot_site.lib.errors import CopilotError

SHOWN = ("name", "prefix", "user", "scopes", "folder", "created_at", "expires_at", "last_used_at", "revoked_at")


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin[ApiToken]):
    """All API tokens, to view and revoke; people make their own, and service accounts are given theirs."""

    list_display = ("name", "prefix", "user", "scopes", "expires_at", "last_used_at", "revoked_at")
    list_select_related = ("user",)
    list_filter = ("revoked_at", "expires_at")
    search_fields = ("name", "prefix", "user__username")
    readonly_fields = fields = SHOWN
    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False  # a revoked token stays, so that its holder is told why it fails

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("authz.delete_apitoken")

    @admin.action(description=_("Revoke the chosen tokens"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        by = Principal.of(request.user)
        for token in queryset:
            withdraw_token(by, token)
        messages.success(request, _("Revoked: programs that use these tokens are refused from now on."))


class ServiceAccountForm(forms.ModelForm[ServiceAccount]):
    """A form for a new service account; later for its purpose, its keeper, and whether it is enabled."""

    username = forms.CharField(label=capfirst(_("name")), max_length=150)
    is_active = forms.BooleanField(
        label=capfirst(_("enabled")),
        required=False,
        initial=True,
        help_text=_("When off, every token of the account is refused."),
    )

    class Meta:
        model = ServiceAccount
        fields = ("username", "purpose", "keeper", "is_active")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["username"].disabled = True
            user = self.instance.user
            self.initial.update(username=user.username, is_active=user.is_active)

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        return name if self.instance.pk else clean_name(name)


@admin.register(ServiceAccount)
class ServiceAccountAdmin(admin.ModelAdmin[ServiceAccount]):
    """Accounts of programs, granted rights like people; their tokens are made here, and shown once."""

    form = ServiceAccountForm
    list_display = ("user", "purpose", "keeper", "is_enabled", "new_token")
    list_select_related = ("user", "keeper")
    search_fields = ("user__username", "purpose")
    autocomplete_fields = ("keeper",)
    readonly_fields = ("new_token",)

    def get_fields(self, request: HttpRequest, obj: ServiceAccount | None = None) -> Any:
        fields = ["username", "purpose", "keeper", "is_active"]
        return [*fields, "new_token"] if obj else fields

    @admin.display(boolean=True, description=_("enabled"))
    def is_enabled(self, account: ServiceAccount) -> bool:
        return account.user.is_active

    @admin.display(description=_("API tokens"))
    def new_token(self, account: ServiceAccount) -> str:
        url = reverse("admin:authz_serviceaccount_token", args=[account.pk])
        return format_html('<a href="{}">{}</a>', url, _("Create token"))

    def has_delete_permission(self, request: HttpRequest, obj: ServiceAccount | None = None) -> bool:
        return False  # without this row the account would be a person's: disable it, never delete it

    def save_model(self, request: HttpRequest, obj: ServiceAccount, form: Any, change: bool) -> None:
        by, given = Principal.of(request.user), form.cleaned_data
        if change:
            super().save_model(request, obj, form, change)
        else:
            made = create_service_account(
                by, username=given["username"], purpose=given["purpose"], keeper=given["keeper"]
            )
            obj.pk, obj.user, obj._state.adding = made.pk, made.user, False
        set_enabled(by, obj, enabled=given["is_active"])

    def get_urls(self) -> list[URLPattern]:
        own = path("<int:account_id>/token/", self.admin_site.admin_view(self.token), name="authz_serviceaccount_token")
        return [own, *super().get_urls()]

    def token(self, request: HttpRequest, account_id: int) -> HttpResponseBase:
        return never_cache(self._show_token_form)(request, account_id)

    def _show_token_form(self, request: HttpRequest, account_id: int) -> HttpResponse:
        """Show a form for a token of the account; only the response to its POST has the secret."""
        account = get_object_or_404(ServiceAccount, pk=account_id)
        if not self.has_change_permission(request, account):
            raise PermissionDenied
        form, secret = AccountTokenForm(request.POST or None), ""
        if request.method == "POST" and form.is_valid():
            try:
                _row, secret = issue_token(
                    Principal.of(request.user), owner=Principal.of(account.user), **form.cleaned_data
                )
            except CopilotError as problem:
                form.add_error(None, str(problem))
        context = {
            **self.admin_site.each_context(request),
            "title": _("New token of %(name)s") % {"name": account},
            "opts": self.opts,
            "account": account,
            "form": form,
            "secret": secret,
        }
        status = 400 if form.errors else 200
        return TemplateResponse(request, "admin/authz/serviceaccount/token.html", context, status=status)
