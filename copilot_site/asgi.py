"""The ASGI application: HTTP by Django, WebSockets by Channels, for signed-in people of our own pages only."""

# ruff: noqa: E402 - the environment must be complete before Django is loaded
import os
import sys

from copilot_site.lib.load.web_process import POOL, SWITCH_S, end_with_first_process

end_with_first_process()
sys.setswitchinterval(SWITCH_S)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")

from copilot_site.embedded.services import export_service_addresses

export_service_addresses()

from copilot_site.config import load_config
from copilot_site.database import keep_connections_open
from copilot_site.startup_checks import require_safe_config

require_safe_config(load_config())

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django import setup
from django.conf import settings
from django.urls import re_path

serves = not settings.configured  # tests have set Django up already, and keep no pool
if serves:
    keep_connections_open(settings.DATABASES["default"], POOL)
setup(set_prefix=False)

from authz.tokens.sockets import OWNERS
from copilot_site.lib.load.seats import SeatedHandler
from copilot_site.pools import build_shares, find_pool

django_application = SeatedHandler(build_shares(), find_pool, OWNERS)

from agent.runs.reaper import close_abandoned_runs_at_start
from agent.urls import websocket_urlpatterns
from copilot_site.lib.http.body_limit import FORM_BYTES, BodyLimit
from copilot_site.lib.http.sockets import SameOrigin, refuse_unknown_socket

sockets = URLRouter([*websocket_urlpatterns, re_path("", refuse_unknown_socket)])  # type: ignore[arg-type]  # as Channels has it

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(django_application, most_bytes=settings.UPLOAD_MAX_BYTES + FORM_BYTES),
        "websocket": SameOrigin(AuthMiddlewareStack(sockets)),
    }
)
if serves:
    close_abandoned_runs_at_start()
