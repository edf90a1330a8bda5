"""Files that are named on the command line: what cannot be read, or written, is one sentence, and said before the work."""

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


def test_what_cannot_be_read_as_text_is_refused(here: Path) -> None:
    for name in ("latin", "latin.csv"):
        (here / name).write_bytes(b"caf\xe9 x: [\n")
    (here / "folder.csv").mkdir()
    (here / "deep").write_text("[" * 9_999)
    for command, words in READERS.items():
        assert "cannot be read as text" in said(command, words, "latin")
        if command != "evaluate_sql":  # which takes a pattern
            assert "There is no file folder" in said(command, words, "folder")
            assert "File name too long" in said(command, words, "x" * 300)
        if command != "import_grants":  # which reads no JSON and no YAML
            assert "nested too deeply" in said(command, words, "deep")
    pattern = [".", "--as", "anna", "--questions", "/etc/*"]
    assert "names no files of a folder" in said("evaluate_sql", pattern, "")


@pytest.mark.parametrize("command", WRITERS)
def test_a_file_that_cannot_be_made_is_refused_before_the_work(command: str, here: Path) -> None:
    (here / "folder").mkdir()
    for file, why in (
        ("missing/report", "missing is not a folder"),
        ("folder", "is a folder; name a file"),
        ("x" * 300, "too long"),
    ):
        assert why in said(command, WRITERS[command], file)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_one_sentence() -> None:
    assert "The disk is full" in said("export_grants", ["FILE"], "/dev/full")


def test_an_account_has_no_number_beyond_those_of_accounts() -> None:
    assert "No account has the number" in said("erase_person", ["9" * 30], "")
