"""Bots of chat platforms in the admin, with write-only secrets; and the state of the messages they received."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agent.admin.base import SettingsAdmin
from agent.chat_platforms.feishu import FeishuCalls, PlatformError
from agent.chat_platforms.setting_up import SECRETS, build_bot_account, save_bot
from agent.connections.service_keys import KeyLost, require_address
from agent.models import ChatBot, ChatMessage
from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import admin_page
from authz.principal import Principal
from copilot_site.lib.errors import PermissionDenied
from copilot_site.lib.http.forms import find_first_fault
from copilot_site.lib.http.read_only_admin import ReadOnlyAdmin
from copilot_site.lib.outgoing.addresses import AddressRefused

LABELS = {"app_secret": "App Secret", "encrypt_key": "Encrypt Key", "verification_token": "Verification Token"}


def _make_secret_field(name: str) -> forms.CharField:
    return forms.CharField(
        label=LABELS[name],
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_("Stored encrypted, for this app only. Leave empty to keep it while the app stays the same."),
    )


class ChatBotForm(forms.ModelForm[ChatBot]):
    """A bot can be switched on only after the platform has identified it with these settings."""

    platform = forms.ChoiceField(label=_("Platform"), choices=[("feishu", "Feishu / Lark")])
    app_secret, encrypt_key, verification_token = map(_make_secret_field, SECRETS)

    class Meta:
        model = ChatBot
        fields = (
            "name", "platform", "base_url", "app_id", *SECRETS, "takes_contact_mail", "whom_to_ask", "is_active",
        )  # fmt: skip

    @property
    def secrets(self) -> dict[str, str]:
        return {name: self.cleaned_data.get(name, "") for name in SECRETS}

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"].rstrip("/")
        try:
            require_address(url)
        except AddressRefused as error:
            raise forms.ValidationError(str(error)) from error
        return url

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # of Django, without types
        if self.errors:
            return
        try:
            account = build_bot_account(self.instance, self.secrets)
        except KeyLost:
            self.add_error("app_secret", _("The stored secrets are for another app: enter all three."))
            return
        for name in SECRETS:
            if not getattr(account, name):
                self.add_error(name, _("Enter what the platform shows for the app: without it nothing can be checked."))
        if not self.errors and self.instance.is_active:
            self.try_it()

    def try_it(self) -> str:
        """Query the platform and return the bot's name there, or "" after adding an error to the form."""
        try:
            bot = FeishuCalls(build_bot_account(self.instance, self.secrets)).bot()
        except PlatformError as error:
            message = _("The platform does not take this: %(why)s") % {"why": error}
            self.add_error(None, message)
            return ""
        self.instance.bot_id = bot.id
        return bot.name or bot.id


@admin.register(ChatBot)
class ChatBotAdmin(SettingsAdmin):
    form = ChatBotForm
    empty_sentence = _("Nobody asks in a chat platform yet. Add a bot, and people ask where they talk.")
    list_display = ("name", "platform", "app_id", "is_active")
    readonly_fields = ("request_address",)

    @admin.display(description=_("request address"))
    def request_address(self, row: ChatBot) -> str:
        """Return the event address to enter at the platform."""
        return f"{row.site}{reverse('chat-bot-events', args=[row.pk])}" if row.site else "–"

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm[Any], change: bool) -> None:
        assert isinstance(form, ChatBotForm)
        site = request.build_absolute_uri("/").rstrip("/")
        changed = [name for name in form.changed_data if name not in SECRETS or form.secrets[name]]
        save_bot(Principal.of(request.user), obj, site=site, secrets=form.secrets, fields=changed)
        message = _("Enter this address at the platform, for events: %(address)s")
        messages.info(request, message % {"address": self.request_address(obj)})


@admin.register(ChatMessage)
class ChatMessageAdmin(ReadOnlyAdmin):
    """Read-only list of messages with their sender, time and any failure, never the question."""

    list_display = ("received_at", "bot", "user", "is_group", "answered_at", "attempts", "problem")
    list_filter = ("bot", "is_group")
    list_select_related = ("bot", "user")
    fields = ("received_at", "bot", "user", "is_group", "is_outside", "answered_at", "attempts", "problem")


@require_POST
@admin_page
def try_bot(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Try a bot before it is saved. Raises PermissionDenied without the right to change bots of chat platforms."""
    if not request.user.has_perm("agent.change_chatbot"):
        raise PermissionDenied(gettext("Only system administrators set up bots in chat platforms."))
    try:
        stored = ChatBot.objects.filter(pk=request.POST.get("id", "")).first()
    except ValidationError:  # no UUID: it is new
        stored = None
    form = ChatBotForm(request.POST, instance=stored)
    is_tried = form.is_valid() and form.instance.is_active  # then it was tried already
    name = form.try_it() if form.is_valid() and not is_tried else ""
    record_action(principal, Action.CHAT_BOT_TESTED, detail={"address": form.instance.base_url})
    if not form.is_valid():
        return render(request, "admin/_tried.html", {"ok": False, "sentence": find_first_fault(form)})
    message = gettext("It answers as “%(name)s”. Save it now.") % {"name": name or form.instance.bot_id}
    return render(request, "admin/_tried.html", {"ok": True, "sentence": message})
