from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuthzConfig(AppConfig):
    name = "authz"
    verbose_name = _("Rights")

    def ready(self) -> None:
        from authz import login_signals

        login_signals.connect()
