"""Admin pages of the accounts and groups that a directory keeps; a superuser hands existing ones over, and back."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import FromOutside, SuperusersOnly
from authz.models import Directory, DirectoryAccount, DirectoryGroup
from authz.principal import Principal


class DirectoryAccountForm(forms.ModelForm[DirectoryAccount]):
    class Meta:
        model = DirectoryAccount
        fields = ("user", "directory", "external_id")

    def clean_user(self) -> User:
        user: User = self.cleaned_data["user"]
        if user.is_superuser or hasattr(user, "service_account"):
            raise forms.ValidationError(_("System administrators and service accounts are always managed here."))
        return user

    def clean(self) -> dict[str, Any]:
        """Require the id for LDAP, which looks people up by it; SCIM finds them by name at first."""
        given: dict[str, Any] = super().clean() or {}
        if given.get("directory") == Directory.LDAP and not given.get("external_id"):
            self.add_error("external_id", _("Give the id of the entry; manage.py directory show NAME tells it."))
        return given


@admin.register(DirectoryAccount)
class DirectoryAccountAdmin(FromOutside, SuperusersOnly[DirectoryAccount]):
    """Accounts kept by a directory, which names, disables and enables them; deleting a row ends that."""

    form = DirectoryAccountForm
    lead_sentence = _(
        "Accounts that the company's directory keeps: it names, disables and enables them. They come with a person's first sign-in "
        "(LDAP) or are sent by the identity provider (SCIM); add one here to hand over an account that was made here. "
        "To connect SCIM, give the provider the address /scim/v2 of this site and a token of a service account that may keep "
        "accounts and groups."
    )
    list_display = ("user", "full_name", "directory", "ended", "changed_at", "external_id")
    list_filter = ("directory", "is_gone")
    list_select_related = ("user",)
    search_fields = ("user__username", "external_id")
    autocomplete_fields = ("user",)

    @admin.display(description=_("name"), ordering="user__last_name")
    def full_name(self, row: DirectoryAccount) -> str:
        return row.user.get_full_name() or "–"

    @admin.display(description=_("disabled by the directory"), ordering="is_gone")
    def ended(self, row: DirectoryAccount) -> str:
        return str(_("disabled")) if row.is_gone else "–"

    def has_change_permission(self, request: HttpRequest, obj: DirectoryAccount | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: DirectoryAccount, form: object, change: bool) -> None:
        super().save_model(request, obj, form, change)
        record_action(Principal.of(request.user), Action.PROVIDER_LINKED, obj.user, detail={"directory": obj.directory})

    def delete_model(self, request: HttpRequest, obj: DirectoryAccount) -> None:
        record_action(
            Principal.of(request.user), Action.PROVIDER_UNLINKED, obj.user, detail={"directory": obj.directory}
        )
        super().delete_model(request, obj)


@admin.register(DirectoryGroup)
class DirectoryGroupAdmin(FromOutside, SuperusersOnly[DirectoryGroup]):
    """Groups, units and roles whose members come through SCIM; they are still named and deleted here."""

    lead_sentence = _(
        "Groups, units and roles that the identity provider fills through SCIM. Groups of LDAP are mapped under “Claim mappings”."
    )
    fields = ("group", "external_id")
    list_display = ("group", "external_id", "is_made", "changed_at")
    list_select_related = ("group",)
    search_fields = ("group__name", "external_id")
    autocomplete_fields = ("group",)

    def has_change_permission(self, request: HttpRequest, obj: DirectoryGroup | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: DirectoryGroup, form: object, change: bool) -> None:
        super().save_model(request, obj, form, change)
        record_action(
            Principal.of(request.user), Action.GROUP_CHANGED, obj.group, detail={"directory": "scim", "kept": True}
        )

    def delete_model(self, request: HttpRequest, obj: DirectoryGroup) -> None:
        record_action(
            Principal.of(request.user), Action.GROUP_CHANGED, obj.group, detail={"directory": "scim", "kept": False}
        )
        super().delete_model(request, obj)
