"""`manage.py benchmark guard`: guard and sandbox beside the owner's own run."""

import json
from io import StringIO
from pathlib import Path

from django.core.management import call_command

SEED = "CREATE TABLE t (org_unit text, name text); INSERT INTO t VALUES ('a', 'ours'), ('b', 'theirs');"
CASES = (
    '{"id": "1", "sql": "SELECT name FROM t", "expect": "allow"}',
    '{"id": "2", "sql": "SELECT pg_sleep(1)", "expect": "allow"}',
    '{"id": "3", "sql": "SELECT name FROM t WHERE org_unit = \'b\'", "expect": "deny"}',
)


def measured(folder: Path, *cases: str, out: StringIO | None = None) -> None:
    (folder / "seed.sql").write_text(SEED)
    (folder / "cases.jsonl").write_text("\n".join(cases))
    words = [str(folder / "cases.jsonl"), "--seed", str(folder / "seed.sql"), "--unit", "a", "--rounds", "2"]
    call_command("benchmark", "guard", *words, "--json", str(folder / "found.json"), stdout=out or StringIO())


def test_what_is_allowed_and_accepted_is_measured_beside_the_owner(db: None, tmp_path: Path) -> None:
    out = StringIO()
    measured(tmp_path, *CASES, out=out)
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["facts"] == {"statements": 1, "rounds": 2}
    rows = {row["name"]: row for row in found["rows"]}
    for share in (50, 95):
        assert rows[f"whole run, p{share}"]["ours"] > 0
        assert rows[f"whole run, p{share}"]["peer"] > 0
        assert rows[f"guard, processor, p{share}"]["ours"] > 0
        assert rows[f"look at the plan, p{share}"]["ours"] > 0
    assert "the owner's own run" in out.getvalue()
