"""Exports: what they hold, that they verify without this system, and that a change in the file is located."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from audit import verify_export
from audit.actions import Action
from audit.export import export_entries, format_named
from audit.exports import FORMATS
from audit.keys import public_key, signing_key
from audit.models import Entry
from audit.record import record
from audit.selectors import EntryFilter
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.spreadsheets import safe_cell
from tests.integration.audit.logbook import ANNA, BERT, Logbook, write

Lines = list[dict[str, Any]]


def exported(name: str, **chosen: Any) -> bytes:
    return b"".join(export_entries(ANNA, chosen=EntryFilter(**chosen), form=format_named(name)))


def lines_of(content: bytes) -> Lines:
    return [json.loads(line) for line in content.splitlines()]


def checked(content: bytes, key: str | None = None) -> verify_export.Export:
    return verify_export.check(iter(content.splitlines(keepends=True)), key)


def offline(tmp_path: Path, content: bytes, *words: str) -> subprocess.CompletedProcess[str]:
    """The verifier as an auditor runs it: its file alone, no packages, another folder."""
    program, file = tmp_path / "verify_export.py", tmp_path / "export.jsonl"
    program.write_bytes(Path(verify_export.__file__).read_bytes())
    file.write_bytes(content)
    return subprocess.run(
        [sys.executable, "-I", "-S", str(program), str(file), *words], capture_output=True, text=True, check=False
    )


def test_the_whole_log_verifies_offline_and_without_this_system(logbook: Logbook, tmp_path: Path) -> None:
    key = public_key(signing_key())
    done = offline(tmp_path, exported("jsonl"), "--key", key)
    assert (done.returncode, done.stderr) == (0, "")
    assert "21 entries, 1 to 21; the whole log, without a gap; 0 erased" in done.stdout
    assert "Every hash is right." in done.stdout


def test_another_key_is_refused(logbook: Logbook, tmp_path: Path) -> None:
    done = offline(tmp_path, exported("jsonl"), "--key", "ab" * 32)
    assert done.returncode == 1
    assert "signed by another key than the one you gave" in done.stdout


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
        content = verify_export.content_hash(line["entry"])
        before = line["hash"] = verify_export.link_hash(bytes.fromhex(before), line["seq"], content).hex()


CHANGES: dict[str, tuple[Callable[[Lines], None], int]] = {
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


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_in_the_file_is_found_and_located(logbook: Logbook, tmp_path: Path, name: str) -> None:
    apply, seq = CHANGES[name]
    lines = lines_of(exported("jsonl"))
    apply(lines)
    content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    assert checked(content).first_bad == seq
    done = offline(tmp_path, content, "--json")
    assert (done.returncode, json.loads(done.stdout)["first_bad"]) == (1, seq)


def test_a_file_that_ends_early_is_noticed(logbook: Logbook) -> None:
    content = exported("jsonl")
    cut = b"".join(content.splitlines(keepends=True)[:-1])
    assert [what for _seq, what in checked(cut).faults] == ["the end of the file is missing"]


def test_a_chosen_part_verifies_as_a_part(logbook: Logbook, tmp_path: Path) -> None:
    done = offline(tmp_path, exported("jsonl", actor="anna"))
    assert done.returncode == 0
    assert "a part of the log" in done.stdout
    assert "compare it with the key you were given" in done.stdout


def test_a_file_made_without_a_key_says_that_it_is_not_signed(logbook: Logbook, tmp_path: Path) -> None:
    (settings.AUDIT_KEYS / "signing.pem").unlink()
    lines = lines_of(exported("jsonl"))
    assert lines[-1]["signature"] is None
    assert checked(exported("jsonl")).faults == []


@pytest.mark.parametrize("content", [b"", b"no json\n", b'{"seq": 1}\n', b"[]\n", b'{"header": {}}\n{"x": 1}\n'])
def test_what_is_no_export_is_said_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    done = offline(tmp_path, content)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_an_export_is_recorded_before_its_first_byte(logbook: Logbook) -> None:
    pieces = export_entries(ANNA, chosen=EntryFilter(actor="bert", outcome="deny"), form=format_named("csv"))
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
    record(None, Action.SEARCHED, target_name='=HYPERLINK("http://x")', reason="@SUM(1)", detail={"n": -1})
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    rows = list(csv.DictReader(io.StringIO(exported("csv").decode())))
    assert rows[0]["target_name"] == '\'=HYPERLINK("http://x")'
    assert rows[0]["reason"] == "'@SUM(1)"
    assert rows[0]["seq"] == "1"
    assert exported("csv-bom").startswith("\ufeffseq,".encode())


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", "  =1", "＝1", "＋1", "－1", "＠x", "\n=1"])
def test_a_cell_that_would_run_begins_with_an_apostrophe(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["a=1", "", None, -5, "员工手册"])
def test_other_cells_stay_as_they_are(value: object) -> None:
    assert safe_cell(value) == ("" if value is None else str(value))


def test_every_action_is_an_ocsf_event_with_what_the_schema_asks_for(db: None) -> None:
    from django.db import connection

    for action in Action:
        record(ANNA, action)
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
    with pytest.raises(CommandError, match="is there already"):
        call_command("export_audit", str(file))
    with pytest.raises(CommandError, match="known are: csv, csv-bom, jsonl, ocsf"):
        call_command("export_audit", str(tmp_path / "x"), "--format", "xml")
    assert not (tmp_path / "x").exists()


def test_there_are_four_formats_and_an_unknown_one_is_named() -> None:
    assert FORMATS.names() == ["csv", "csv-bom", "jsonl", "ocsf"]
    with pytest.raises(InvalidInput, match="did you mean 'jsonl'"):
        format_named("json")


def test_a_long_log_is_read_in_batches(logbook: Logbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.export.BATCH", 4)
    monkeypatch.setattr("audit.verification.BATCH", 4)
    write(21)
    assert checked(exported("jsonl")).faults == []
