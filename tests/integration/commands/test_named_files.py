"""Files that are named on the command line: what cannot be read, or written, is one sentence, and said before the work."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.factories import make_user

pytestmark = pytest.mark.django_db

READERS = {
    "import_grants": ["FILE.csv"],
    "data_source": ["import", "FILE"],
    "evaluate_sql_guard": ["FILE", "--seed", "FILE", "--unit", "a"],
    "evaluate_sql": [".", "--questions", "FILE", "--as", "anna"],
}
WRITERS = {
    "export_grants": ["FILE"],
    "export_audit": ["FILE"],
    "evaluate_retrieval": [".", "--as", "anna", "--json", "FILE"],
    "evaluate_answers": [".", "--as", "anna", "--json", "FILE"],
    "evaluate_sql": [".", "--as", "anna", "--json", "FILE"],
    "evaluate_sql_guard": ["cases", "--seed", "seed", "--unit", "a", "--json", "FILE"],
    "benchmark": ["forbidden", "--json", "FILE"],
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_user("anna")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(command: str, words: list[str], file: str) -> str:
    with pytest.raises(CommandError) as refused:
        call_command(command, *(word.replace("FILE", file) for word in words))
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("command", READERS)
def test_bytes_that_are_no_text_are_refused(command: str, here: Path) -> None:
    for name in ("latin", "latin.csv"):
        (here / name).write_bytes(b"caf\xe9 x: [\n")
    assert "cannot be read as text" in said(command, READERS[command], "latin")


@pytest.mark.parametrize("command", sorted(READERS.keys() - {"evaluate_sql"}))
def test_what_is_no_file_is_refused(command: str, here: Path) -> None:
    (here / "folder.csv").mkdir()
    assert "There is no file folder" in said(command, READERS[command], "folder")
    assert "File name too long" in said(command, READERS[command], "x" * 300)


@pytest.mark.parametrize("command", ["data_source", "evaluate_sql_guard", "evaluate_sql"])
def test_what_is_nested_without_end_is_refused(command: str, here: Path) -> None:
    (here / "deep").write_text("[" * 9_999)
    assert "nested too deeply" in said(command, READERS[command], "deep")


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize(
    ("file", "why"),
    [("missing/report", "missing is not a folder"), ("folder", "is a folder; name a file"), ("x" * 300, "too long")],
)
def test_a_file_that_cannot_be_made_is_refused_before_the_work(command: str, file: str, why: str, here: Path) -> None:
    (here / "folder").mkdir()
    assert why in said(command, WRITERS[command], file)


@pytest.mark.parametrize("pattern", ["", "/etc/*"])
def test_a_pattern_that_names_no_files_of_the_folder_is_refused(pattern: str) -> None:
    assert "names no files of a folder" in said("evaluate_sql", [".", "--as", "anna", "--questions", pattern], "")


def test_a_further_folder_of_databases_must_be_there(here: Path) -> None:
    (here / "questions.a.jsonl").write_text(json.dumps({"id": 1, "question": "?", "db_name": "a"}))
    assert "nowhere is not a folder" in said("evaluate_sql", [".", "--as", "anna", "--databases", "nowhere"], "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_one_sentence() -> None:
    assert "The disk is full" in said("export_grants", ["FILE"], "/dev/full")


def test_an_account_has_no_number_beyond_those_of_accounts() -> None:
    assert "No account has the number" in said("erase_person", ["9" * 30], "")
