"""Whatever the rows hold, verifying ends in a report that names the entry, never in a traceback."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings as site
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from audit.chain.verification import verify_log
from audit.models import Entry
from tests.integration.audit.logbook import Logbook, verified

SEQ = 8
TEXTS = (
    "actor_name", "on_behalf_of_name", "action", "outcome", "reason", "target_type", "target_id", "target_name", "request_id", "run_id",
)  # fmt: skip
OBJECTS = ("detail", "personal", "salts")
# As they are written: the text of a JSON value, which may be one that Python cannot read.
DEEP = "[" * 3000 + "]" * 3000
HUGE = "9" * 6000
WRITTEN = [
    "null",
    "[]",
    "{}",
    "1",
    '""',
    "true",
    "1e400",
    "1e-400",
    HUGE,
    f"[{HUGE}]",
    DEEP,
    '{"a": ' * 900 + "1" + "}" * 900,
]
PERSONAL = [
    *WRITTEN, '{"actor_name": null}', '{"actor_name": 7}', '{"actor_name": []}', '{"actor_name": "zz"}', '{"id": "x"}', '{"link": "x"}',
    '{"unknown": "00"}', '{"unknown": null}', '{"pk": {}}', '{"save": "00"}', '{"actor_name": {"a": 1}}', '{"": ""}', '{"\\u001b[2J": "0"}',
]  # fmt: skip
ODD: list[tuple[str, str]] = [
    *(("detail", value) for value in WRITTEN), *(("personal", value) for value in PERSONAL), *(("salts", value) for value in PERSONAL),
    ("at", "infinity"), ("at", "-infinity"), ("at", "0044-03-15 BC"), ("at", "20000-01-01"), ("actor_id", str(2**63 - 1)),
    ("on_behalf_of_id", str(-(2**63))), ("address", "10.0.0.0/8"), ("address", "::1/0"), ("content_hash", ""), ("content_hash", "\\x00"),
    ("target_id", "٣" * 64), ("target_type", "user"), ("action", "person.erased"), ("action", "audit.key_made"),
]  # fmt: skip


def write(logbook: Logbook, column: str, value: object, seq: int = SEQ) -> None:
    with logbook.as_ruler() as cursor:
        cursor.execute(
            f"UPDATE audit_entry SET {column} = %s WHERE id = (SELECT entry_id FROM audit_link WHERE seq = %s)",
            [value, seq],
        )


@contextmanager
def undone() -> Iterator[None]:
    """What is done inside did not happen: a log is made once for many cases."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.parametrize("odd", [ODD[::5], ODD], ids=["some", "all"])
def test_an_odd_value_is_named(logbook: Logbook, odd: list[tuple[str, str]]) -> None:
    for column, value in odd:
        with undone():
            write(logbook, column, value)
            assert verify_log().first_bad == SEQ, (column, value[:40])


def test_a_null_where_none_may_be_is_named(logbook: Logbook) -> None:
    for column in ("at", "content_hash", "reason", "detail", "salts"):
        with undone():
            with connection.cursor() as cursor:
                cursor.execute(f"ALTER TABLE audit_entry ALTER COLUMN {column} DROP NOT NULL")
            write(logbook, column, None)
            assert verify_log().first_bad == SEQ, column
    write(logbook, "detail", HUGE)
    with pytest.raises(CommandError, match=f"First bad sequence number: {SEQ}"):
        call_command("verify_audit")


def test_an_empty_salt_is_no_recorded_erasure(logbook: Logbook) -> None:
    """The name is gone, and its salt says nothing: as good as none."""
    with logbook.as_ruler() as cursor:
        cursor.execute("""UPDATE audit_entry SET actor_name = '', salts = salts || '{"actor_name": null}'
            WHERE id = (SELECT entry_id FROM audit_link WHERE seq = 8)""")
    assert verified() == [(8, "erased")]


def test_one_odd_entry_does_not_hide_another(logbook: Logbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.chain.verification.BATCH", 16)
    for seq in (3, 4, 17):
        write(logbook, "at", "infinity", seq)
    assert [seq for seq, kind in verified() if kind == "changed"] == [3, 4, 17]
    assert Entry.objects.count() == 20


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(
        st.characters(codec="utf-8", exclude_characters="\0"), max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["actor_name", "address", "salts", "person", "link", "pk", "a", ""]), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


def test_random_json_in_any_column_is_named(logbook: Logbook) -> None:
    """As JSON, and as text where the column is one; what is no other value is no fault."""

    @settings(max_examples=150, database=None)
    @given(st.sampled_from([*OBJECTS, *TEXTS]), JSON)
    @example("personal", {"unknown": "x"})
    def run(column: str, value: Any) -> None:
        stored = Jsonb(value) if column in OBJECTS else json.dumps(value)[:16]
        with undone():
            before = Entry.objects.values_list(column, flat=True).get(link__seq=SEQ)
            write(logbook, column, stored)
            after = Entry.objects.values_list(column, flat=True).get(link__seq=SEQ)
            if column == "salts" or before != after:
                assert verify_log().first_bad in ({SEQ} if before != after else {SEQ, None})

    run()


LINKS = [
    "UPDATE audit_link SET hash = '' WHERE seq = 8",
    "ALTER TABLE audit_link ALTER hash DROP NOT NULL; UPDATE audit_link SET hash = NULL WHERE seq = 8",
    "ALTER TABLE audit_link ALTER entry_id DROP NOT NULL; UPDATE audit_link SET entry_id = NULL WHERE seq = 8",
    "UPDATE audit_link SET entry_id = -9223372036854775808 WHERE seq = 8",
]


def test_an_odd_link_is_named(logbook: Logbook) -> None:
    for statement in LINKS:
        with undone():
            with logbook.as_ruler() as cursor:
                cursor.execute(statement)
            assert verify_log().first_bad == SEQ, statement


def test_an_entry_before_the_beginning_is_named(logbook: Logbook) -> None:
    """It would stand in every list, and no link of the chain would lead to it."""
    for seq in (0, -(2**63)):
        with undone():
            with logbook.as_ruler() as cursor:
                cursor.execute("""INSERT INTO audit_entry SELECT (r).* FROM (
                    SELECT jsonb_populate_record(e, '{"id": 9999999, "actor_name": "carl"}') r FROM audit_entry e LIMIT 1) x""")
                cursor.execute("INSERT INTO audit_link (seq, entry_id, hash) VALUES (%s, 9999999, '')", [seq])
            assert verified() == [(seq, "stray")]


HEADS = [
    ("UPDATE audit_head SET hash = ''", 20),
    ("ALTER TABLE audit_head ALTER hash DROP NOT NULL; UPDATE audit_head SET hash = NULL", 20),
    ("ALTER TABLE audit_head ALTER seq DROP NOT NULL; UPDATE audit_head SET seq = NULL", 1),
    ("UPDATE audit_head SET seq = -9223372036854775808", -(2**63) + 1),
    ("UPDATE audit_head SET seq = 9223372036854775807", 21),
    ("INSERT INTO audit_head (only_one, seq, hash) SELECT false, seq, hash FROM audit_head", 21),
]


def test_an_odd_head_is_named(logbook: Logbook) -> None:
    for statement, first in HEADS:
        with undone():
            with logbook.as_ruler() as cursor:
                cursor.execute(statement)
            assert verified() in ([(first, "head")], [(first, "missing")]), statement


CHECKPOINTS = [
    "at = 'infinity'", "at = NULL", "kind = '{}'", "kind = 'cut'", "hash = ''", "hash = NULL", "key = 'ключ'", "key = repeat('f', 64)",
    "signature = repeat('0', 128)", "signature = NULL",
]  # fmt: skip


def test_an_odd_checkpoint_is_named(logbook: Logbook) -> None:
    for change in CHECKPOINTS:
        with undone():
            with logbook.as_ruler() as cursor:
                column = change.partition(" ")[0]
                cursor.execute(f"ALTER TABLE audit_checkpoint ALTER {column} DROP NOT NULL")
                cursor.execute(f"UPDATE audit_checkpoint SET {change} WHERE seq = 10")
            found = verified()
            assert (found[0][0], {kind for _seq, kind in found}) == (10, {"checkpoint"}), change


FILES = [
    "", '{"checkpoint": 1, "signature": 2}', DEEP * 10,
    '{"checkpoint": {"seq": 1e999}, "signature": ""}', '{"checkpoint": {"a": "\\ud800"}, "signature": ""}',
    '{"checkpoint": {"seq": "x", "kind": [], "hash": {}, "at": null, "key": 5, "v": []}, "signature": []}',
    '{"checkpoint": {"seq": %s}, "signature": ""}' % ("9" * 300),
]  # fmt: skip


def test_an_odd_file_outside_is_named(logbook: Logbook) -> None:
    file = next(site.AUDIT_CHECKPOINTS.glob("*/*0010-*"))
    file.chmod(0o600)
    for content in FILES:
        file.write_text(content)
        assert {kind for _seq, kind in verified()} == {"checkpoint"}, content[:40]
    assert verify_log().first_bad is not None


def test_a_folder_where_a_file_should_be_is_named(logbook: Logbook) -> None:
    (site.AUDIT_CHECKPOINTS / "2026-01-01" / "000000000000011-periodic.json").mkdir(parents=True)
    assert verified() == [(None, "checkpoint")]
