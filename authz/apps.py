from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuthzConfig(AppConfig):
    name = "authz"
    verbose_name = _("Rights")

    def ready(self) -> None:
        from django.contrib.auth.models import Group, User

        from authz.people.groups import full_name
        from authz.sign_in import signals as login_signals
        from copilot_site.lib.text.line_fields import fold_columns_to_one_line

        login_signals.connect()
        fold_columns_to_one_line(User, "first_name", "last_name")
        fold_columns_to_one_line(Group, "name")
        User.add_to_class("get_full_name", full_name)
