"""The page on which administrators change what they learn about questions."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from agent.models import PrivacySettings
from agent.privacy import change_privacy, load_privacy_settings
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, PermissionDenied


class PrivacyForm(forms.ModelForm[PrivacySettings]):
    reason = forms.CharField(label=gettext_lazy("Reason, for the audit log"), max_length=500)

    class Meta:
        model = PrivacySettings
        fields = ("lists_every_question", "told_after_days")


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def privacy(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show the settings and change them. Raises PermissionDenied unless a superuser asks."""
    if not principal.is_superuser:
        raise PermissionDenied(_("Only system administrators change privacy settings."))
    form = PrivacyForm(request.POST if request.method == "POST" else None, instance=load_privacy_settings())
    if form.is_valid():
        try:
            change_privacy(principal, **form.cleaned_data)
        except InvalidInput as problem:
            form.add_error("reason", str(problem))
        else:
            messages.success(request, _("Saved."))
            return redirect("privacy")
    context = {"title": _("Privacy"), "form": form}
    return render_admin_page(request, "admin/oversight/privacy.html", context, status=400 if form.errors else 200)
