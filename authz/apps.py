from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuthzConfig(AppConfig):
    name = "authz"
    verbose_name = _("Rights")

    def ready(self) -> None:
        from django.contrib.auth.models import Group, User

        from authz.people.groups import full_name
        from authz.sign_in import signals as login_signals
        from copilot_site.lib.text.line_fields import read_as_lines

        login_signals.connect()
        read_as_lines(User, "first_name", "last_name")
        read_as_lines(Group, "name")
        User.add_to_class("get_full_name", full_name)
