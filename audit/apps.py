from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "audit"
    verbose_name = _("Audit")

    def ready(self) -> None:
        from audit.chain.db_owner import grant_role_rights

        post_migrate.connect(grant_role_rights, sender=self, dispatch_uid="audit.give_role_its_rights")
