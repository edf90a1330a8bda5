"""The ASGI application: HTTP by Django, WebSockets by Channels, for signed-in people of our own pages only."""

# ruff: noqa: E402 - the environment must be complete before Django is loaded
import os
import sys

from copilot_site.lib.load.web_process import POOL, SWITCH_S, end_with_front

end_with_front()
sys.setswitchinterval(SWITCH_S)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")

from copilot_site.embedded.services import announce

announce()

from copilot_site.config import load_config
from copilot_site.database import keep_open
from copilot_site.startup_checks import require_safe

require_safe(load_config())

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django import setup
from django.conf import settings
from django.urls import re_path

serves = not settings.configured  # tests have set Django up already, and keep no pool
if serves:
    keep_open(settings.DATABASES["default"], POOL)
setup(set_prefix=False)

from authz.tokens.sockets import OWNERS
from copilot_site.lib.load.seats import SeatedHandler
from copilot_site.pools import pool_of, shares

django_application = SeatedHandler(shares(), pool_of, OWNERS)

from agent.runs.reaper import close_abandoned_at_start
from agent.urls import websocket_urlpatterns
from copilot_site.lib.http.body_limit import FORM_BYTES, BodyLimit
from copilot_site.lib.http.sockets import SameOrigin, no_such_socket

sockets = URLRouter([*websocket_urlpatterns, re_path("", no_such_socket)])  # type: ignore[arg-type]  # as Channels has it

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(django_application, most_bytes=settings.UPLOAD_MAX_BYTES + FORM_BYTES),
        "websocket": SameOrigin(AuthMiddlewareStack(sockets)),
    }
)
if serves:
    close_abandoned_at_start()
