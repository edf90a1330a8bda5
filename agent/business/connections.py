"""Where a data source is and who connects there: changed together with its password, or the password is forgotten."""

from django.db import transaction

from agent.business.models import DataSource
from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.outgoing import require_plausible, services


@transaction.atomic
def save_connection(by: Principal | None, source: DataSource, *, password: str = "") -> bool:
    """Store a source with the connection it has now. password: a new one; "": the stored one stays where it leads as before.

    Returns whether a stored password was emptied, because it was for another address: it must be entered again.
    Raises InvalidInput for a host that is none, or an address that is not allowed; a name is resolved when it is connected to.
    """
    if source.host:
        source.host = require_plausible(source.host, services())
    before = DataSource.unscoped.select_for_update().filter(pk=source.pk).first()
    is_moved = before is not None and before.where != source.where
    if password:
        source.set_password(password)
    elif is_moved:
        source.encrypted_password = b""
    source.save()
    is_emptied = is_moved and not password and bool(before and before.encrypted_password)
    if before is None or is_moved or password:
        was = before.where if before else ""
        change = "entered" if password else "emptied" if is_emptied else "unchanged"
        record(
            by,
            Action.SETTING_CHANGED,
            source,
            detail={"address_before": was, "address": source.where, "password": change},
        )
    return is_emptied
