"""Hundreds of odd, damaged and hostile files, each through the real child process."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.failure_reasons import REASONS
from knowledge.parsers.base import ParseLimits, UnreadableFile
from knowledge.parsers.sandbox import parse_in_child, servers
from tests.evaluation_data import data_folder

pytestmark = pytest.mark.data

LIMITS = ParseLimits(cpu_s=20, wall_s=30.0)
KNOWN = {
    "protected_agile.docx": "encrypted",
    "testEXCEL_protected_passtika_2.xlsx": "encrypted",
    "r3-user-password.pdf": "encrypted",
    "poc-xmlbomb-empty.xlsx": "doctype",
    "invalid.xlsx": "mismatch",
    "test.doc": "unknown_type",
    "testRFC822_multipart_attachments.eml": "unknown_type",
    "english.cp500.txt": "encoding",
    "bug1980958.pdf": "damaged",
    "hello_world_rotated.pdf": "completed",
    "testWORD_various.docx": "completed",
    "SampleSS.strict.xlsx": "completed",
    "imagemagick-CCITTFaxDecode.pdf": "no text",
}


@pytest.fixture(autouse=True)
def ended_servers() -> Iterator[None]:
    yield
    servers.stop()


def outcome(path: Path) -> str:
    try:
        parsed = parse_in_child(path, filename=path.name, limits=LIMITS)
    except UnreadableFile as problem:
        return problem.code if str(problem) else "no reason given"
    return "completed" if parsed.blocks else "no text"


@pytest.mark.timeout(300)
def test_an_odd_file_ends_with_a_result_or_a_reason_and_the_next_good_file_is_read(tmp_path: Path) -> None:
    good = tmp_path / "good.md"
    good.write_text("# Good\n\nThe next file.\n")
    files = {path.name: path for path in data_folder("odd_docs").rglob("*") if path.name in KNOWN}
    for name, expected in KNOWN.items():
        assert outcome(files[name]) == expected, name
        assert outcome(good) == "completed", name


@pytest.mark.timeout(300)
def test_every_odd_file_ends_with_a_result_or_a_reason(tmp_path: Path) -> None:
    good = tmp_path / "good.md"
    good.write_text("# Good\n\nThe next file.\n")
    files = sorted(path for path in data_folder("odd_docs").rglob("*") if path.is_file())
    found: dict[str, str] = {}
    for path in files:
        found[path.name] = outcome(path)
        if found[path.name] != "completed":
            assert outcome(good) == "completed", path.name
    assert len(files) > 350
    assert set(found.values()) <= {*REASONS, "completed", "no text"} - {
        "time",
        "memory",
        "crashed",
    }  # none takes what ParseLimits allow
    assert sum(result == "completed" for result in found.values()) > 200, json.dumps(found, indent=1)
