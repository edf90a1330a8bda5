"""The triggers that link entries and refuse changes: are they what the migrations installed?

Whoever owns the tables can switch a trigger off, hang its name on another table or put a condition before it, and can let its
function do something else. Only what is on, stands where it belongs and runs the text that was installed is a guard.
"""

import hashlib
from collections.abc import Iterator

from django.db import connection

CHANGE, EMPTYING, ADDITION = 1 + 2 + 8 + 16, 2 + 32, 1 + 4
"""`pg_trigger.tgtype`: before each changed or deleted row; before a TRUNCATE; after each added row."""
TRIGGERS = {
    "audit_entry_link": ("audit_entry", ADDITION, "audit_link_entry"),
    "audit_entry_append_only": ("audit_entry", CHANGE, "audit_guard_entry"),
    "audit_entry_no_truncate": ("audit_entry", EMPTYING, "audit_refuse_change"),
    "audit_link_append_only": ("audit_link", CHANGE, "audit_guard_link"),
    "audit_link_no_truncate": ("audit_link", EMPTYING, "audit_refuse_change"),
    "audit_head_forward_only": ("audit_head", CHANGE, "audit_guard_head"),
    "audit_head_no_truncate": ("audit_head", EMPTYING, "audit_refuse_change"),
    "audit_checkpoint_append_only": ("audit_checkpoint", CHANGE, "audit_refuse_change"),
    "audit_checkpoint_no_truncate": ("audit_checkpoint", EMPTYING, "audit_refuse_change"),
}
FUNCTIONS = {  # SHA-256 of the text, as a migration wrote it
    "audit_link_entry": "6817fc2ce62eb13ffff7bf04a2eaf097ff981bb43aab93756a7541da1c36c97a",
    "audit_refuse_change": "de62c2dac9a469e02b1d23444d44902488c5863aa1120d99e1edf2ab5dcdbb17",
    "audit_guard_entry": "c94ac4821c860ff37afa7fd6dc8109b2e2d01a270310993ad71217e7ae5a446a",
    "audit_guard_link": "5e88e93568d8646beb711ec25e73fac654ef73c567378215cd1cb8f34f778bff",
    "audit_guard_head": "2c4a06c7571bb7b4a400a497ca193b6e54f1e931920e4c7fdb15168e180e5651",
}
HUNG = """
SELECT tgname, relname, tgtype, proname
FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE tgenabled IN ('O', 'A') AND tgqual IS NULL AND tgattr = ''
    AND relnamespace = 'public'::regnamespace AND pronamespace = 'public'::regnamespace
"""
TEXTS = "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname = ANY(%s)"


def unguarded() -> Iterator[str]:
    """A sentence for each trigger and each function that is not what was installed."""
    with connection.cursor() as cursor:
        cursor.execute(HUNG)
        present = {name: tuple(place) for name, *place in cursor.fetchall()}
        cursor.execute(TEXTS, [list(FUNCTIONS)])
        texts = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in cursor.fetchall()}
    for name in sorted(name for name, place in TRIGGERS.items() if present.get(name) != place):
        yield f"the trigger {name} is missing or disabled: changes are not refused"
    for name in sorted(name for name, digest in FUNCTIONS.items() if texts.get(name) != digest):
        yield f"the function {name} is not the one that was installed: changes may not be refused"
