"""Admin pages of the company's sign-in: the claim mapping, the links it made, and unmapped values.

Only superusers change how identities and memberships are decided: anyone else could take over any account.
"""

from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django import forms
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import FromOutside, SuperusersOnly
from authz.models import ClaimMapping, ClaimMembership, UnmappedClaim
from authz.principal import Principal
from authz.sign_in.client_secrets import read_stored_secret, store_secret
from copilot_site.lib.http.read_only_admin import ReadOnlyAdmin
from copilot_site.lib.outgoing.addresses import AddressRefused, build_service_policy, parse_url, require_plausible_host

for model in (EmailAddress, SocialAccount, SocialApp, SocialToken, Authenticator):
    admin.site.unregister(model)  # allauth's own pages show secrets, and audit nothing
# allauth and Django name these by their classes, or by words not used here
SocialApp._meta.verbose_name = _("company sign-in")
SocialApp._meta.verbose_name_plural = _("company sign-ins")
SocialAccount._meta.verbose_name = _("account of a company sign-in")
SocialAccount._meta.verbose_name_plural = _("accounts of a company sign-in")
apps.get_app_config("socialaccount").verbose_name = _("Company sign-in")
apps.get_app_config("auth").verbose_name = _("Accounts and groups")
apps.get_app_config("mfa").verbose_name = _("Second factors")
Authenticator._meta.verbose_name = _("second factor")
Authenticator._meta.verbose_name_plural = _("second factors")
FACTORS = {
    Authenticator.Type.TOTP: _("authenticator app"),
    Authenticator.Type.RECOVERY_CODES: _("recovery codes"),
    Authenticator.Type.WEBAUTHN: _("security key"),
}


@admin.register(ClaimMapping)
class ClaimMappingAdmin(FromOutside, SuperusersOnly[ClaimMapping]):
    """Mappings from values of the groups claim to groups; they apply from a person's next sign-in on."""

    lead_sentence = _(
        "People whom the sign-in or the directory puts in a group there become members of the group here at their next sign-in."
    )
    list_display = ("value", "group", "provider")
    list_select_related = ("group",)
    search_fields = ("value", "group__name")
    autocomplete_fields = ("group",)

    def save_model(
        self, request: HttpRequest, obj: ClaimMapping, form: forms.ModelForm[ClaimMapping], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        record_action(Principal.of(request.user), Action.CLAIM_MAPPED, obj, detail={"group": obj.group_id})

    def delete_model(self, request: HttpRequest, obj: ClaimMapping) -> None:
        record_action(Principal.of(request.user), Action.CLAIM_UNMAPPED, obj, detail={"group": obj.group_id})
        super().delete_model(request, obj)


@admin.register(ClaimMembership)
class ClaimMembershipAdmin(FromOutside, ReadOnlyAdmin):
    lead_sentence = _("People who are in a group here because the sign-in or the directory says so.")
    list_display = ("user", "group", "provider", "given_at")
    list_select_related = ("user", "group")
    search_fields = ("user__username", "group__name")


@admin.register(UnmappedClaim)
class UnmappedClaimAdmin(FromOutside, ReadOnlyAdmin):
    """Values without a mapping, each with a link to add one."""

    lead_sentence = _(
        "Groups that people have out there and that lead to none here. Map those that should; the others do no harm."
    )
    list_display = ("value", "provider", "seen_at", "map_it")
    list_display_links = None
    search_fields = ("value",)

    @admin.display(description="")
    def map_it(self, claim: UnmappedClaim) -> str:
        url = reverse("admin:authz_claimmapping_add")
        return format_html(
            '<a href="{}?value={}&amp;provider={}">{}</a>', url, claim.value, claim.provider, _("Map it")
        )


WIDE = {"class": "vTextField"}  # as wide as the admin makes the fields of models


OPTIONS = ("groups_claim", "link_by_email", "addresses_verified")


class CompanySignInForm(forms.ModelForm[SocialApp]):
    """A form for a company sign-in. The secret is written, never shown."""

    server_url = forms.URLField(
        label=capfirst(_("issuer")),
        assume_scheme="https",
        widget=forms.URLInput(attrs=WIDE),
        help_text=_("https://… as the issuer writes it."),
    )
    groups_claim = forms.CharField(
        label=capfirst(_("groups claim")), initial="groups", widget=forms.TextInput(attrs=WIDE)
    )
    link_by_email = forms.BooleanField(
        label=capfirst(_("link by address")),
        required=False,
        help_text=_("Link a first sign-in to the account with the same verified address. Superusers are never linked."),
    )
    addresses_verified = forms.BooleanField(
        label=capfirst(_("addresses of this issuer are verified")),
        required=False,
        help_text=_(
            "Only if people cannot choose their address there. Meant for issuers like Entra ID, which do not say "
            "whether an address is verified. An address marked unverified never counts."
        ),
    )
    secret = forms.CharField(
        label=capfirst(_("client secret")),
        required=False,
        widget=forms.PasswordInput(attrs=WIDE),
        help_text=_("Leave empty to keep the stored one, as long as issuer and client stay the same."),
    )

    class Meta:
        model = SocialApp
        fields = ("name", "provider_id", "server_url", "client_id", "secret", *OPTIONS)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["provider_id"].required = True
        self.initial.update(self.instance.settings)

    def clean_server_url(self) -> str:
        url: str = self.cleaned_data["server_url"]
        if not url.startswith("https://"):
            raise forms.ValidationError(_("An issuer needs an https:// address."))
        try:
            require_plausible_host(parse_url(url)[0], build_service_policy(is_verified=True))
        except AddressRefused as error:
            raise forms.ValidationError(str(error)) from error
        return url

    def clean(self) -> dict[str, Any]:
        """Require the secret again for another issuer: a stored one is sent only to the issuer that made it."""
        given: dict[str, Any] = super().clean() or {}
        row = self.instance
        is_same = (given.get("server_url"), given.get("client_id")) == (row.settings.get("server_url"), row.client_id)
        if not given.get("secret") and not (is_same and read_stored_secret(row)):
            self.add_error("secret", _("Give the client secret that this issuer made for this site."))
        return given

    def save(self, commit: bool = True) -> SocialApp:
        given, row = self.cleaned_data, self.instance
        row.provider, row.secret = "openid_connect", ""
        row.settings |= {name: given[name] for name in ("server_url", *OPTIONS)}
        if given["secret"]:
            store_secret(row, given["secret"])
        return super().save(commit)


@admin.register(SocialApp)
class SignInAdmin(SuperusersOnly[SocialApp]):
    form = CompanySignInForm
    list_display = ("name", "provider_id", "client_id")

    def get_form(self, request: HttpRequest, obj: SocialApp | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Show the redirect address to register at the issuer: nobody can guess it."""
        form = super().get_form(request, obj, change, **kwargs)
        place = reverse("openid_connect_callback", args=[(obj and obj.provider_id) or "PROVIDER-ID"])
        form.base_fields["provider_id"].help_text = _(
            "A short word. The redirect address to register at the issuer: %(address)s"
        ) % {"address": request.build_absolute_uri(place)}
        return form

    def save_model(self, request: HttpRequest, obj: SocialApp, form: forms.ModelForm[SocialApp], change: bool) -> None:
        super().save_model(request, obj, form, change)
        detail = {"issuer_before": form.initial.get("server_url", ""), "issuer": obj.settings["server_url"]}
        record_action(Principal.of(request.user), Action.SETTING_CHANGED, obj, detail=detail)


@admin.register(SocialAccount)
class LinkAdmin(SuperusersOnly[SocialAccount]):
    """Links from names at the company sign-in to accounts; an administrator adds those not linked automatically."""

    fields = ("user", "provider", "uid")
    list_display = ("user", "provider", "uid", "last_login")
    search_fields = ("user__username", "uid")
    autocomplete_fields = ("user",)

    def has_change_permission(self, request: HttpRequest, obj: SocialAccount | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: SocialAccount, form: object, change: bool) -> None:
        super().save_model(request, obj, form, change)
        user: User = obj.user
        record_action(Principal.of(request.user), Action.PROVIDER_LINKED, user, detail={"sign_in": obj.provider})

    def delete_model(self, request: HttpRequest, obj: SocialAccount) -> None:
        record_action(Principal.of(request.user), Action.PROVIDER_UNLINKED, obj.user, detail={"sign_in": obj.provider})
        super().delete_model(request, obj)


@admin.register(Authenticator)
class SecondFactorAdmin(ReadOnlyAdmin):
    """Second factors. Removing one lets its owner set up another, for a lost phone. Secrets are not shown."""

    fields = readonly_fields = list_display = ("owner", "kind", "made_at", "used_at")
    list_select_related = ("user",)
    search_fields = ("user__username",)

    @admin.display(description=_("person"), ordering="user__username")
    def owner(self, factor: Authenticator) -> str:
        return str(factor.user.get_username())

    @admin.display(description=_("kind"), ordering="type")
    def kind(self, factor: Authenticator) -> str:
        return str(FACTORS.get(Authenticator.Type(factor.type), factor.type))

    @admin.display(description=_("set up"), ordering="created_at")
    def made_at(self, factor: Authenticator) -> datetime:
        at: datetime = factor.created_at
        return at

    @admin.display(description=_("last used"), ordering="last_used_at")
    def used_at(self, factor: Authenticator) -> datetime | None:
        at: datetime | None = factor.last_used_at
        return at

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return bool(request.user.is_superuser)

    def delete_model(self, request: HttpRequest, obj: Authenticator) -> None:
        record_action(Principal.of(request.user), Action.MFA_REMOVED, obj.user, detail={"type": obj.type})
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Authenticator]) -> None:
        for factor in queryset:
            self.delete_model(request, factor)
