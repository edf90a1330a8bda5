"""Where a data source is and with which account: whose it is to say, and what is recorded.

The right is `business.change_connection`, a superuser's by default. Whoever manages a source keeps its layer, its words and who
may ask it, and changes nothing of this.
"""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agent.business.models import DataSource
from audit.actions import Action
from audit.record import record
from authz.governing import governed
from authz.principal import Principal
from copilot_site.lib.errors import PermissionDenied

FIELDS = ("name", "host", "port", "database", "username", "schemas", "is_dedicated", "is_active")


def may_connect(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Who may say where data sources are: superusers and holders of `business.change_connection`."""
    return isinstance(user, User) and user.has_perm("business.change_connection")


def seen_sources(principal: Principal, user: AbstractBaseUser | AnonymousUser) -> QuerySet[DataSource]:
    """The sources this person looks after: those they manage, and all for whoever may say where they are."""
    return DataSource.unscoped.all() if may_connect(user) else governed(DataSource, principal)


@transaction.atomic
def change_connection(by: User | AnonymousUser, source: DataSource, *, password: str = "") -> None:
    """Store a source with the connection it has now, and a password where one is given. Raises PermissionDenied.

    The log names the settings that changed, never the password.
    """
    if not may_connect(by):
        raise PermissionDenied(_("Only administrators may change the connection of a data source."))
    before = DataSource.unscoped.filter(pk=source.pk).values(*FIELDS).first() or {}
    changed = {name for name in FIELDS if name not in before or before[name] != getattr(source, name)}
    if password:
        source.set_password(password)
        changed.add("password")
    if changed:
        source.save()
        record(Principal.of(by), Action.SETTING_CHANGED, source, detail={"connection": sorted(changed)})
