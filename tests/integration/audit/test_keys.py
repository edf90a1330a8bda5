"""The key that signs, and what is signed with it."""

from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from audit.actions import Action
from audit.chain.checkpoints import sign_checkpoint
from audit.chain.keys import KeyUnusable, ensure_signing_key, list_trusted_keys, read_signing_key
from audit.models import Checkpoint, Entry
from audit.tasks import sign_checkpoint as task
from copilot_site.lib.errors import Conflict
from tests.integration.audit.logbook import Logbook, verified, write


def test_the_first_start_makes_a_key_that_nobody_else_reads(db: None) -> None:
    made = ensure_signing_key()
    path = settings.AUDIT_KEYS / "signing.pem"
    assert (path.stat().st_mode & 0o777, settings.AUDIT_KEYS.stat().st_mode & 0o777) == (0o600, 0o700)
    assert list_trusted_keys() == {made}
    assert ensure_signing_key() == made
    assert Entry.objects.get(action=Action.AUDIT_KEY_MADE).detail == {"key": made}


def kept() -> list[list[Any]]:
    """Checkpoints in the database and outside it, keys, and entries."""
    files = [*settings.AUDIT_CHECKPOINTS.rglob("*"), *settings.AUDIT_KEYS.rglob("*")]
    contents = sorted((str(file), file.read_bytes()) for file in files if file.is_file())
    return [list(Checkpoint.objects.order_by("seq").values()), contents, [Entry.objects.count()]]


def test_a_lost_key_is_not_replaced_silently(logbook: Logbook) -> None:
    (settings.AUDIT_KEYS / "signing.pem").unlink()
    write(21)
    before = kept()
    for command in (["audit_checkpoint"], ["audit_key"]):
        with pytest.raises(CommandError, match=r"signing key at .*signing.pem. Restore it .* or create one with"):
            call_command(*command)
    with pytest.raises(KeyUnusable):
        task()
    assert kept() == before
    assert len(before[0]) == 2
    assert verified() == [], "what was signed still counts"


def test_a_new_key_signs_from_now_on_and_the_old_signatures_count(logbook: Logbook) -> None:
    call_command("audit_key", "--new")
    assert len(list_trusted_keys()) == 2
    made = sign_checkpoint()
    assert made is not None
    assert made.key != Checkpoint.objects.order_by("seq").first().key  # type: ignore[union-attr]
    assert verified() == []


def test_a_key_that_others_read_and_a_file_that_is_no_key_are_refused(logbook: Logbook) -> None:
    file = settings.AUDIT_KEYS / "signing.pem"
    file.chmod(0o640)
    with pytest.raises(KeyUnusable, match="run `chmod 600`"):
        read_signing_key()
    file.chmod(0o600)
    file.write_text("-----BEGIN PRIVATE KEY-----\n")
    with pytest.raises(KeyUnusable, match="is not an Ed25519 key"):
        read_signing_key()


def test_files_outside_are_for_reading_and_named_by_their_number(logbook: Logbook) -> None:
    files = sorted(settings.AUDIT_CHECKPOINTS.glob("*/*"))
    assert [file.name for file in files] == ["000000000000010-periodic.json", "000000000000020-periodic.json"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o444}


def test_a_file_outside_that_says_something_else_is_never_overwritten(logbook: Logbook) -> None:
    file = next(settings.AUDIT_CHECKPOINTS.glob("*/*0020-*"))
    file.chmod(0o600)
    file.write_text("{}")
    write(21)
    with pytest.raises(Conflict, match="and the database disagree about entry 20"):
        sign_checkpoint()
    assert file.read_text() == "{}"
