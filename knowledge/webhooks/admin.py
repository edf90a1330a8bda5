"""Webhooks in the admin: set up, tried, and the log of what was sent, from which a delivery can be sent again."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.http.read_only_admin import ReadOnlyAdmin
from copilot_site.lib.outgoing.addresses import (
    AddressRefused,
    build_http_service_policy,
    parse_url,
    require_plausible_host,
)
from knowledge.models import DeliveryState, Webhook, WebhookDelivery, WebhookEvent
from knowledge.webhooks.announcing import queue_delivery, record_delivery
from knowledge.webhooks.sending import send_delivery
from knowledge.webhooks.setting_up import delete_webhook, save_webhook


class WebhookForm(forms.ModelForm[Webhook]):
    events = forms.MultipleChoiceField(
        label=capfirst(_("events")),
        choices=[choice for choice in WebhookEvent.choices if choice[0] != WebhookEvent.PING],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Only ids and links are sent, never the text of documents or answers."),
    )
    new_secret = forms.BooleanField(
        label=_("Create another secret"), required=False, help_text=_("The previous secret no longer signs anything.")
    )

    class Meta:
        model = Webhook
        fields = ("name", "url", "events", "is_active", "new_secret")

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            require_plausible_host(parse_url(url)[0], build_http_service_policy(url))
        except AddressRefused as error:
            raise forms.ValidationError(str(error)) from error
        return url


@admin.register(Webhook)
class WebhookAdmin(admin.ModelAdmin[Webhook]):
    form = WebhookForm
    list_display = ("name", "url", "is_active", "created_at")
    actions = ("try_it",)
    empty_sentence = _("Nothing is sent to any program yet. Add an address, and choose what to send.")

    def save_model(self, request: HttpRequest, obj: Webhook, form: forms.ModelForm[Any], change: bool) -> None:
        by, site = Principal.of(request.user), request.build_absolute_uri("/").rstrip("/")
        renew = form.cleaned_data["new_secret"]
        if secret := save_webhook(by, obj, site=site, renew=renew, fields=form.changed_data):
            messages.warning(request, _("The secret of the webhook, shown this once: %(secret)s") % {"secret": secret})

    def response_add(self, request: HttpRequest, obj: Webhook, post_url_continue: str | None = None) -> HttpResponse:
        """Show a new webhook with its secret and a way to try it."""
        if "_addanother" in request.POST:
            return super().response_add(request, obj, post_url_continue)
        messages.success(request, _("“%(name)s” is saved.") % {"name": obj.name})
        return self._send_trial(request, obj)

    def response_change(self, request: HttpRequest, obj: Webhook) -> HttpResponse:
        return self._send_trial(request, obj) if "_try" in request.POST else super().response_change(request, obj)

    def _send_trial(self, request: HttpRequest, obj: Webhook) -> HttpResponse:
        if "_try" in request.POST:
            self.try_it(request, [obj])
        return redirect("admin:knowledge_webhook_change", obj.pk)

    def delete_model(self, request: HttpRequest, obj: Webhook) -> None:
        delete_webhook(Principal.of(request.user), obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.delete_model(request, row)

    @admin.action(description=_("Test the chosen webhooks"), permissions=["change"])
    def try_it(self, request: HttpRequest, queryset: Any) -> None:
        """Send a message of the event `ping` at once."""
        for row in queryset:
            delivery = record_delivery(row, WebhookEvent.PING, reverse("admin:index"), {})
            record_action(Principal.of(request.user), Action.WEBHOOK_CHANGED, row, detail={"tried": str(delivery.pk)})
            sent = send_delivery(delivery.pk)
            if sent is not None and not sent.problem:
                messages.success(
                    request, _("“%(name)s” accepted the test (%(n)s).") % {"name": row.name, "n": sent.status}
                )
            else:
                why = sent.problem if sent else _("it is being sent")
                messages.error(request, _("“%(name)s”: %(why)s") % {"name": row.name, "why": why})


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "webhook", "event", "state", "status", "attempts", "problem", "next_at", "sent_at")
    list_filter = ("state", "event", "webhook")
    list_select_related = ("webhook",)
    actions = ("send_again",)

    @admin.action(description=_("Send the chosen deliveries again"), permissions=["resend"])
    def send_again(self, request: HttpRequest, queryset: Any) -> None:
        rows = list(queryset.select_related("webhook"))
        for row in rows:
            row.state, row.attempts, row.next_at = DeliveryState.WAITING, 0, timezone.now()
            row.save(update_fields=["state", "attempts", "next_at"])
            record_action(
                Principal.of(request.user), Action.WEBHOOK_CHANGED, row.webhook, detail={"sent_again": str(row.pk)}
            )
            queue_delivery(row)
        message = ngettext("%(n)d delivery is sent again.", "%(n)d deliveries are sent again.", len(rows))
        messages.success(request, message % {"n": len(rows)})

    def has_resend_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("knowledge.change_webhook")
