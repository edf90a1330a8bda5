"""How many gold statements reach the person."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.factories import make_user

SEED = """
CREATE TABLE shop (id int PRIMARY KEY, city text);
CREATE TABLE sale (id int PRIMARY KEY, shop_id int REFERENCES shop (id), amount numeric);
INSERT INTO shop VALUES (1, 'Delft'), (2, 'Leiden');
INSERT INTO sale VALUES (1, 1, 10), (2, 1, 30), (3, 2, 5);
"""
ASKED = [
    ("How much did each city sell?", "SELECT city, sum(amount) FROM sale JOIN shop ON shop.id = shop_id GROUP BY city"),
    ("代尔夫特有几家店？", "SELECT count(*) FROM shop WHERE city = 'Delft'"),
    ("What is the largest sale less the smallest?", "SELECT max(amount) - min(amount) FROM sale"),
    ("How many shops are in Utrecht?", "SELECT count(*) FROM shop WHERE city = 'Utrecht'"),
]


def ceiling(folder: Path, replies: str, **options: Any) -> dict[str, Any]:
    make_user("eva")
    out = StringIO()
    command = {"username": "eva", "way": "model", "replies": replies, "stdout": out}
    call_command("evaluate_sql", str(folder), **command, **options)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    (tmp_path / "tiny.sql").write_text(SEED)
    lines: list[dict[str, Any]] = [
        {"id": str(n), "question": question, "query": gold, "db_name": "tiny"}
        for n, (question, gold) in enumerate(ASKED)
    ]
    lines.append({"id": "none", "question": "Who will win?", "db_name": "tiny", "answerable": False})
    (tmp_path / "questions.x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return tmp_path


def test_gold_statements_reach_the_person_but_for_values_that_no_row_has(db: None, tiny: Path) -> None:
    found = ceiling(tiny, "gold-sql", json=tiny / "report.json")
    total = found["total"]
    assert (total["right"], total["wrong"], total["handed_on"], total["abstained"]) == (3, 0, 1, 1)
    assert found["languages"]["zh"]["right"] == 1
    details = {item["id"]: item for item in json.loads((tiny / "report.json").read_text())["details"]}
    assert "There is no city “Utrecht”; there are Delft, Leiden." in details["3"]["note"]
