"""Every address of the site."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.shortcuts import redirect
from django.urls import include, path

from agent.pages.chat_views import chat
from agent.palette.finding import register_palette_pages
from authz.admin_pages import drop_invalid_initial_ids, on_site, require_staff
from authz.scim.views import Scim
from authz.views import SignIn
from copilot_site import health
from copilot_site.admin_home.areas import add_areas, list_open_pages
from copilot_site.admin_home.connections import connections
from copilot_site.admin_home.views import add_numbers, expert, slow_work, system_health
from copilot_site.admin_words import AdminWords
from copilot_site.metrics import render_metrics
from demo.hints import list_login_hints, list_sample_questions

# one way in: a second one would not ask for the second factor
admin.site.login = require_staff(secure_admin_login(admin.site.login))  # type: ignore[method-assign, assignment]
# and one page that asks for the old password, with its limit and its entry in the audit log
admin.site.password_change = lambda *_args: redirect("password")  # type: ignore[method-assign, assignment]
admin.site.password_change_done = lambda *_args: redirect("password")  # type: ignore[method-assign, assignment]
admin.site.i18n_javascript = AdminWords.as_view(packages=["django.contrib.admin"])  # type: ignore[method-assign, assignment]

admin.site.each_context = add_areas(admin.site.each_context)  # type: ignore[method-assign, assignment]
admin.site.index = add_numbers(admin.site.index)  # type: ignore[method-assign, assignment]
admin.ModelAdmin.get_changeform_initial_data = drop_invalid_initial_ids(  # type: ignore[method-assign]
    admin.ModelAdmin.get_changeform_initial_data
)

handler400 = "copilot_site.lib.http.error_pages.bad_request"
handler404 = "copilot_site.lib.http.error_pages.not_found"
handler500 = "copilot_site.lib.http.error_pages.server_error"

register_palette_pages(list_open_pages)

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", render_metrics, name="metrics"),
    path("", chat, {"suggest": list_sample_questions}, name="chat"),
    path("", include("agent.urls")),
    path("", include("knowledge.urls")),
    path("sign-in/", SignIn.as_view(hints=list_login_hints), name="login"),
    path("sign-in/", SignIn.as_view(hints=list_login_hints), name="account_login"),  # what allauth calls it
    path("", include("authz.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include("knowledge.governance.urls")),
    path("", include("agent.admin.urls")),
    path("", include("business.urls")),
    path("admin/health/", system_health, name="system-health"),
    path("admin/slow-work/", slow_work, name="slow-work"),
    path("admin/expert/", expert, name="expert"),
    path("admin/connections/", connections, name="server-connections"),
    path("admin/r/<path:content_type_id>/<path:object_id>/", on_site),
    path("admin/", admin.site.urls),
    path("api/", include("copilot_site.api")),
    path("scim/v2/<path:path>", Scim.as_view(), name="scim"),
]
