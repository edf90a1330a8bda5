"""Erasure of names and addresses from the log, without a break in the chain."""

from django.db import connection, transaction
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.chain.db_owner import owner_s_work
from audit.record import Actor, record
from audit.retention import holds_on_person
from copilot_site.lib.errors import Conflict

# Each takes text and salt of one person's entries; what the chain hashed stays. %(id)s: the user's id.
ERASE = (
    """UPDATE audit_entry SET actor_name = '', address = NULL, salts = salts - ARRAY['actor_name', 'address']
    WHERE actor_id = %(id)s AND salts ?| ARRAY['actor_name', 'address']""",
    """UPDATE audit_entry SET on_behalf_of_name = '', salts = salts - 'on_behalf_of_name'
    WHERE on_behalf_of_id = %(id)s AND salts ? 'on_behalf_of_name'""",
    """UPDATE audit_entry SET target_name = '', salts = salts - 'target_name'
    WHERE target_type = 'user' AND target_id = %(id)s::text AND salts ? 'target_name'""",
    """UPDATE audit_entry SET address = NULL, salts = salts - 'address'
    WHERE actor_id IS NULL AND target_type = 'user' AND target_id = %(id)s::text AND salts ? 'address'""",
)


def erase_person(by: Actor | None, *, person_id: int) -> int:
    """Remove a person's names and addresses from the log; returns how many were removed. Their ids stay.

    Raises Conflict while a legal hold covers the person, PermissionDenied where this database role may not.
    """
    for hold in holds_on_person(person_id):
        raise Conflict(
            _("The legal hold “%(hold)s” covers this person: release it first; nothing was erased.") % {"hold": hold}
        )
    removed = 0
    with owner_s_work(), transaction.atomic(), connection.cursor() as cursor:
        for statement in ERASE:
            cursor.execute(statement, {"id": person_id})
            removed += cursor.rowcount
        record(by, Action.PERSON_ERASED, detail={"person": person_id, "values": removed})
    return removed
