"""Retention of entries: legal holds, purges that leave a signed cut instead of a gap, and erasures of names and addresses."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.chain.checkpoints import add_signed_checkpoint, lock_signing, write_checkpoint_files
from audit.chain.db_owner import require_owner_role
from audit.chain.keys import read_signing_key
from audit.chain.malformed_rows import load_partial_rows
from audit.chain.verification import verify_log
from audit.models import Entry, Hold, Kind, Link
from audit.record import Actor, record_action
from copilot_site.lib.errors import Conflict, InvalidInput


@transaction.atomic
def place_hold(by: Actor | None, hold: Hold) -> Hold:
    """Save a hold on a period or a person: its entries are not purged or erased. hold: unsaved. Raises InvalidInput."""
    check_hold(hold)
    hold.save(force_insert=True)
    record_action(by, Action.HOLD_PLACED, hold, detail=hold.extent())
    return hold


def check_hold(hold: Hold) -> None:
    """Raise InvalidInput for a hold without a reason, that ends before it begins, or on an unknown person."""
    if not hold.reason.strip():
        raise InvalidInput(_("Give a reason: a case or file number."))
    if hold.from_at and hold.until_at and hold.from_at >= hold.until_at:
        raise InvalidInput(_("A legal hold must begin before it ends."))
    if hold.person_id is not None and not _is_known_person(hold.person_id):
        raise InvalidInput(
            _("There is no account %(number)s, and no entry names one. Leave it empty to hold everyone's entries.")
            % {"number": hold.person_id}
        )


def _is_known_person(person_id: int) -> bool:
    """Tell whether the account exists, or existed when something was recorded."""
    known = Q(actor_id=person_id) | Q(on_behalf_of_id=person_id) | Q(target_type="user", target_id=str(person_id))
    return User.objects.filter(pk=person_id).exists() or Entry.objects.filter(known).exists()


@transaction.atomic
def release_hold(by: Actor | None, hold: Hold) -> None:
    """End a hold; the row stays. Raises Conflict where it was released already."""
    changed = Hold.objects.filter(pk=hold.pk, released_at=None).update(released_at=timezone.now())
    if not changed:
        raise Conflict(_("The legal hold “%(hold)s” is already released.") % {"hold": hold})
    record_action(by, Action.HOLD_RELEASED, hold, detail={"person": hold.person_id})


def list_holds_on_person(person_id: int) -> list[Hold]:
    """Return the active holds about this person or everybody."""
    return _list_active_holds(Q(person_id=None) | Q(person_id=person_id))


def purge_entries(by: Actor | None, *, before: datetime) -> int:
    """Delete the entries at the beginning of the log that are older than `before`; returns how many.

    A checkpoint of kind "cut" is signed at the last of them, and the chain verifies from there. The log is verified first: a
    purge must not remove what shows that somebody changed it. Raises InvalidInput (nothing is that old; a future
    time), Conflict (legal hold, or the log does not verify), KeyUnusable, PermissionDenied.
    """
    if before > timezone.now():
        raise InvalidInput(
            _("%(before)s is in the future: everything would be deleted. Choose a past day.")
            % {"before": before.date()}
        )
    key = read_signing_key()
    with require_owner_role(), transaction.atomic():
        lock_signing()
        first, cut = Link.objects.order_by("seq").first(), _find_last_link_before(before)
        if first is None or cut is None:
            raise InvalidInput(_("No audit entry is older than %(before)s.") % {"before": before.date()})
        _refuse_held_entries(cut.seq)
        _refuse_damaged_log()
        add_signed_checkpoint(cut.seq, bytes(cut.hash), Kind.CUT, key)
        count = cut.seq - first.seq + 1
        with connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM audit_shown USING audit_link WHERE audit_link.entry_id = audit_shown.entry_id AND seq <= %s",
                [cut.seq],
            )
            cursor.execute(
                "DELETE FROM audit_entry USING audit_link WHERE entry_id = audit_entry.id AND seq <= %s", [cut.seq]
            )
            cursor.execute("DELETE FROM audit_link WHERE seq <= %s", [cut.seq])
        record_action(by, Action.AUDIT_PURGED, detail={"from": first.seq, "through": cut.seq, "entries": count})
    write_checkpoint_files()
    return count


def _find_last_link_before(before: datetime) -> Link | None:
    """Return the link before the first entry that is not older."""
    kept = Link.objects.filter(entry__at__gte=before).order_by("seq").first()
    older = Link.objects.filter(seq__lt=kept.seq) if kept else Link.objects.all()
    return older.order_by("seq").last()


def _list_active_holds(about: Q | None = None) -> list[Hold]:
    """Return the active holds; one whose time cannot be read holds all time."""
    return load_partial_rows(
        Hold, list(Hold.objects.filter(about or Q(), released_at=None).values_list("pk", flat=True))
    )


def _refuse_held_entries(through: int) -> None:
    """Raise Conflict when an active hold covers an entry up to here."""
    for hold in _list_active_holds():
        held = Entry.objects.filter(link__seq__lte=through)
        if hold.from_at:
            held = held.filter(at__gte=hold.from_at)
        if hold.until_at:
            held = held.filter(at__lte=hold.until_at)
        if hold.person_id is not None:
            person = hold.person_id
            held = held.filter(
                Q(actor_id=person) | Q(on_behalf_of_id=person) | Q(target_type="user", target_id=str(person))
            )
        if held.exists():
            raise Conflict(
                _("The legal hold “%(hold)s” covers entries of that time: release it first; nothing was purged.")
                % {"hold": hold}
            )


def _refuse_damaged_log() -> None:
    report = verify_log()
    if report.faults:
        raise Conflict(
            _("The audit log does not verify (%(fault)s): a purge would remove the traces. Nothing was purged.")
            % {"fault": report.faults[0].sentence}
        )


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
    for hold in list_holds_on_person(person_id):
        raise Conflict(
            _("The legal hold “%(hold)s” covers this person: release it first; nothing was erased.") % {"hold": hold}
        )
    removed = 0
    with require_owner_role(), transaction.atomic(), connection.cursor() as cursor:
        for statement in ERASE:
            cursor.execute(statement, {"id": person_id})
            removed += cursor.rowcount
        record_action(by, Action.PERSON_ERASED, detail={"person": person_id, "values": removed})
    return removed
