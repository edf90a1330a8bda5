"""Exports: what they hold, that they verify without this system, and that a change in the file is located."""

import csv
import hashlib
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.core.management import CommandError, call_command

from audit import verify_export
from audit.actions import Action
from audit.chain.keys import create_signing_key, public_key_of, read_signing_key
from audit.export import export_entries, find_export_format
from audit.models import Entry
from audit.record import record_action
from audit.retention import purge_entries
from audit.selectors import EntryFilter
from copilot_site.lib.errors import Conflict
from tests.integration.audit.logbook import ANNA, BERT, Logbook

Lines = list[dict[str, Any]]


def exported(name: str, **chosen: Any) -> bytes:
    return b"".join(export_entries(ANNA, chosen=EntryFilter(**chosen), form=find_export_format(name)))


def lines_of(content: bytes) -> Lines:
    return [json.loads(line) for line in content.splitlines()]


def checked(content: bytes, *trusted: str) -> verify_export.Export:
    return verify_export.check_export(iter(content.splitlines(keepends=True)), trusted)


def joined(lines: Lines) -> bytes:
    """As an export is written."""
    return b"".join(verify_export.write_canonical_json(line) + b"\n" for line in lines)


def offline(tmp_path: Path, content: bytes, *words: str) -> subprocess.CompletedProcess[str]:
    """The verifier as an auditor runs it: its file alone, no packages, another folder."""
    program, file = tmp_path / "verify_export.py", tmp_path / "export.jsonl"
    program.write_bytes(Path(verify_export.__file__).read_bytes())
    file.write_bytes(content)
    return subprocess.run(
        [sys.executable, "-I", "-S", str(program), str(file), *words], capture_output=True, text=True, check=False
    )


def test_the_whole_log_verifies_offline_and_without_this_system(logbook: Logbook, tmp_path: Path) -> None:
    key = public_key_of(read_signing_key())
    done = offline(tmp_path, exported("jsonl"), "--key", key)
    assert (done.returncode, done.stderr) == (0, "")
    assert "21 entries, 1 to 21; the whole log, without a gap; 0 erased" in done.stdout
    assert f"Every hash is right. 3 signatures, by {key}." in done.stdout
    assert done.stdout.endswith("All of it is as the holder of the key you gave exported it.\n")


def test_the_header_says_what_is_exported_and_is_signed(logbook: Logbook) -> None:
    key = public_key_of(read_signing_key())
    whole, part = lines_of(exported("jsonl")), lines_of(exported("jsonl", actor="anna"))
    assert {name: whole[0]["header"][name] for name in ("v", "filter", "first_seq", "last_seq", "entries", "key")} == {
        "v": 2, "filter": {}, "first_seq": 1, "last_seq": 21, "entries": 21, "key": key,
    }  # fmt: skip
    assert {name: part[0]["header"][name] for name in ("filter", "first_seq", "last_seq", "entries")} == {
        "filter": {"actor": "by name"}, "first_seq": 1, "last_seq": 22, "entries": 11,
    }  # fmt: skip
    for line, name in ((whole[0], "header"), (whole[-1], "trailer"), (part[0], "header"), (part[-1], "trailer")):
        assert verify_export.is_signed(verify_export.write_canonical_json(line[name]), line["signature"], key)


def test_without_a_key_it_says_what_was_not_checked_and_ends_otherwise(logbook: Logbook, tmp_path: Path) -> None:
    done = offline(tmp_path, exported("jsonl"))
    assert (done.returncode, done.stderr) == (3, "")
    assert "No key was named: that somebody changed the file and made all hashes anew is not ruled out." in done.stdout
    told = json.loads(offline(tmp_path, exported("jsonl"), "--json").stdout)
    assert (told["ok"], told["faults"], told["unshown"]) == (False, [], verify_export.NO_KEY)


def test_a_malformed_key_is_refused_and_never_taken_for_no_key(logbook: Logbook, tmp_path: Path) -> None:
    content = exported("jsonl")
    for words in (["--key"], ["--key="], ["--key", "ab"], ["--ke", "ab" * 32]):
        done = offline(tmp_path, content, *words)
        assert (done.returncode, done.stdout) == (2, ""), words


def test_after_a_change_of_keys_both_are_named(logbook: Logbook, tmp_path: Path) -> None:
    old, new = public_key_of(read_signing_key()), create_signing_key()
    content = exported("jsonl")
    assert offline(tmp_path, content, "--key", old, "--key", new.upper()).returncode == 0
    done = offline(tmp_path, content, "--key", old)
    assert done.returncode == 1
    assert f"BAD line 1: the header is signed by another key than the one you gave: {new}." in done.stdout


def test_an_export_of_an_older_version_is_read_and_shows_less(logbook: Logbook, tmp_path: Path) -> None:
    key = read_signing_key()
    content = as_format_1(exported("jsonl"), key)
    done = offline(tmp_path, content, "--key", public_key_of(key))
    assert (done.returncode, done.stderr) == (3, "")
    assert "Every hash is right." in done.stdout
    assert "An older version made the file: its header is unsigned" in done.stdout
    unsigned = offline(tmp_path, as_format_1(exported("jsonl"), None), "--key", public_key_of(key))
    assert unsigned.returncode == 1
    assert "the last line is not signed" in unsigned.stdout


def as_format_1(content: bytes, key: Ed25519PrivateKey | None) -> bytes:
    """The same as exported before the header was signed."""
    lines = lines_of(content)
    names = ("v", "format", "exported_at", "filter", "first_seq")
    lines[0] = {"header": {name: lines[0]["header"][name] for name in names} | {"v": 1}}
    digest = hashlib.sha256(joined(lines[:-1])).hexdigest()
    trailer: dict[str, Any] = {"v": 1, "sha256": digest, "entries": lines[-1]["trailer"]["entries"]}
    trailer |= {"key": public_key_of(key)} if key else {}
    signature = key.sign(verify_export.write_canonical_json(trailer)).hex() if key else None
    return joined([*lines[:-1], {"trailer": trailer, "signature": signature}])


def entry_line(lines: Lines, seq: int) -> int:
    return next(index for index, line in enumerate(lines) if line.get("seq") == seq)


def change(field: str, value: object) -> Callable[[Lines], None]:
    def apply(lines: Lines) -> None:
        lines[entry_line(lines, 8)]["entry"][field] = value

    return apply


def rename(lines: Lines) -> None:
    lines[entry_line(lines, 8)]["personal"]["actor_name"]["text"] = "carl"


def plant(lines: Lines) -> None:
    """A name where the chain has none, with a salt as if it were recorded."""
    lines[entry_line(lines, 8)]["personal"]["on_behalf_of_name"] = {"text": "carl", "salt": "00" * 16}


def drop_beginning(lines: Lines) -> None:
    """Numbers 1 to 7, as if the log began at 8."""
    del lines[entry_line(lines, 1) : entry_line(lines, 8)]
    lines[0]["header"]["first_seq"] = 8


def drop(lines: Lines) -> None:
    del lines[entry_line(lines, 8)]


def swap(lines: Lines) -> None:
    at = entry_line(lines, 8)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]


def insert(lines: Lines) -> None:
    at = entry_line(lines, 8)
    lines.insert(at, lines[at])


def drop_tail(lines: Lines) -> None:
    del lines[entry_line(lines, 16) : -1]


def rewrite(lines: Lines) -> None:
    """Change number 8 and make every later hash fit."""
    before = lines[entry_line(lines, 8)]["previous_hash"]
    lines[entry_line(lines, 8)]["entry"]["outcome"] = "deny"
    for line in lines[entry_line(lines, 8) : -1]:
        line["previous_hash"] = before
        content = verify_export.compute_content_hash(line["entry"])
        before = line["hash"] = verify_export.compute_link_hash(bytes.fromhex(before), line["seq"], content).hex()


def add_field(part: str | None) -> Callable[[Lines], None]:
    """A field that no entry has, on its line or in its content."""

    def apply(lines: Lines) -> None:
        line = lines[entry_line(lines, 8)]
        (line[part] if part else line)["approved"] = True

    return apply


def no_line(lines: Lines) -> None:
    lines[entry_line(lines, 8)] = {"note": "nothing to see here"}


CHANGES: dict[str, tuple[Callable[[Lines], None], int]] = {
    "a field more": (add_field(None), 8),
    "a field more in the content": (add_field("entry"), 8),
    "a time that is none": (change("at", 5), 8),
    "a line that is none": (no_line, 8),
    "one word": (change("reason", "another"), 8),
    "a time": (change("at", "2026-01-01T00:00:00.000000Z"), 8),
    "a name": (rename, 8),
    "a name where there was none": (plant, 8),
    "the beginning": (drop_beginning, 8),
    "a line dropped": (drop, 8),
    "two lines swapped": (swap, 8),
    "a line twice": (insert, 8),
    "the tail": (drop_tail, 16),
    "all hashes made anew": (rewrite, 21),
}


def test_a_change_in_the_file_is_found_and_located(logbook: Logbook, tmp_path: Path) -> None:
    content = exported("jsonl")
    for name, (apply, seq) in CHANGES.items():
        lines = lines_of(content)
        apply(lines)
        assert checked(joined(lines)).first_bad == seq, name
    done = offline(tmp_path, joined(lines), "--json")
    assert (done.returncode, json.loads(done.stdout)["first_bad"]) == (1, seq)


def test_a_file_that_ends_early_is_noticed(logbook: Logbook) -> None:
    content = exported("jsonl")
    cut = b"".join(content.splitlines(keepends=True)[:-1])
    assert checked(cut).faults == [(23, 22, "the end of the file is missing")]


def test_a_file_made_without_a_key_says_that_it_is_not_signed(logbook: Logbook, tmp_path: Path) -> None:
    key = public_key_of(read_signing_key())
    (settings.AUDIT_KEYS / "signing.pem").unlink()
    content = exported("jsonl")
    lines = lines_of(content)
    assert (lines[0]["signature"], lines[0]["header"]["key"], lines[-1]["signature"]) == (None, None, None)
    assert checked(content).faults == []
    assert [(fault.line, fault.what) for fault in checked(content, key).faults] == [
        (1, "the header is not signed"), (len(lines), "the last line is not signed"),
    ]  # fmt: skip


HEADER = b'{"header":{"exported_at":"","filter":{},"first_seq":1,"format":"audit-export","v":1}}\n'
NO_EXPORTS = [
    b"", b'{"seq": 1}\n', b"null\n", b'{"header":{"v":3,"format":"audit-export"}}\n', b'{"header":' * 50_000 + b"\n", b"\xff\xfe\n",
    HEADER + b'"seq"\n', HEADER + b'{"seq":1e999}\n', HEADER + b'{"seq":' + b"9" * 5000 + b"}\n",
    HEADER + b'{"trailer":null,"signature":null}\n', HEADER + HEADER,
    HEADER + b'{"entry":{},"hash":"","personal":{},"previous_hash":"zz","seq":1}\n',
]  # fmt: skip


def test_a_file_that_is_no_export_is_refused_in_one_sentence(tmp_path: Path) -> None:
    for content in NO_EXPORTS:
        done = offline(tmp_path, content)
        assert (done.returncode, done.stdout) == (2, ""), content[:60]
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr[-300:]


def test_an_export_is_recorded_before_its_first_byte(logbook: Logbook) -> None:
    pieces = export_entries(ANNA, chosen=EntryFilter(actor="bert", outcome="deny"), form=find_export_format("csv"))
    entry = Entry.objects.get(action=Action.AUDIT_EXPORTED)
    assert entry.actor_name == "anna"
    assert entry.detail == {"format": "csv", "filter": {"actor": "by name", "outcome": "deny"}}
    assert len(list(pieces)) == 1  # the heading


def test_the_filters_choose(logbook: Logbook) -> None:
    def numbers(**chosen: Any) -> list[int]:
        return [line["seq"] for line in lines_of(exported("jsonl", **chosen)) if "seq" in line]

    middle = logbook.entry(10).at
    assert numbers(actor="anna", run_id="run-2") == [9, 11]
    assert numbers(actor=str(BERT.user_id), run_id="run-2") == [8, 10]
    assert numbers(request_id="r-5") == [5]
    assert numbers(until=middle)[-1] == 9
    assert numbers(since=middle)[0] == 10
    assert numbers(action="audit.key_made") == [1]
    assert numbers(outcome="deny") == []


def test_a_spreadsheet_shows_formulas_and_does_not_run_them(db: None) -> None:
    record_action(None, Action.SEARCHED, target_name='=HYPERLINK("http://x")', reason="@SUM(1)", detail={"n": -1})
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    rows = list(csv.DictReader(io.StringIO(exported("csv").decode())))
    assert rows[0]["target_name"] == '\'=HYPERLINK("http://x")'
    assert rows[0]["reason"] == "'@SUM(1)"
    assert rows[0]["seq"] == "1"
    assert exported("csv-bom").startswith("\ufeffseq,".encode())


def test_every_action_is_an_ocsf_event_with_what_the_schema_asks_for(db: None) -> None:
    from django.db import connection

    for action in Action:
        record_action(ANNA, action)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    events = lines_of(exported("ocsf"))
    assert len(events) == len(Action) + 1
    for event in events:
        required = {"activity_id", "actor", "category_uid", "class_uid", "metadata", "severity_id", "time", "type_uid"}
        assert required <= event.keys()
        assert event["type_uid"] == event["class_uid"] * 100 + event["activity_id"]
        assert event["category_uid"] == event["class_uid"] // 1000
        assert ({"api", "src_endpoint"} if event["class_uid"] == 6003 else {"user"}) <= event.keys()
        assert event["metadata"]["version"] == "1.3.0"
    signed_in = next(event for event in events if event["activity_name"] == "auth.signed_in")
    assert (signed_in["class_uid"], signed_in["activity_id"], signed_in["user"]["name"]) == (3002, 1, "anna")


def test_the_command_writes_the_file_and_its_verifier_once(logbook: Logbook, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    call_command("export_audit", str(file))
    assert sorted(path.name for path in tmp_path.glob("*.*")) == ["log.jsonl", "verify_export.py"]
    assert checked(file.read_bytes()).faults == []
    with pytest.raises(CommandError, match="already exists"):
        call_command("export_audit", str(file))
    with pytest.raises(CommandError, match="known are: csv, csv-bom, jsonl, ocsf"):
        call_command("export_audit", str(tmp_path / "x"), "--format", "xml")
    assert not (tmp_path / "x").exists()


def test_an_export_that_a_purge_overtakes_ends_without_its_last_line(
    logbook: Logbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("audit.export.BATCH", 4)
    pieces = export_entries(ANNA, chosen=EntryFilter(), form=find_export_format("jsonl"))
    begun = next(pieces)
    purge_entries(None, before=logbook.entry(16).at)
    rest: list[bytes] = []
    with pytest.raises(Conflict, match="Entries were purged while they were exported"):
        rest.extend(pieces)
    assert "the end of the file is missing" in {fault.what for fault in checked(begun + b"".join(rest)).faults}
