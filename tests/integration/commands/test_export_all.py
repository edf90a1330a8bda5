"""`manage.py export_all`: everything a company owns, in formats that other programs read."""

import csv
import json
import stat
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agent.models import Citation, Message, MessageRole, Session
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from knowledge.models import Document
from tests.factories import allow, make_base, make_document, make_folder, make_user, newest_version

pytestmark = pytest.mark.django_db


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_everything_is_written_and_the_log_can_be_checked_without_the_product(tmp_path: Path) -> None:
    reader, base = make_user("nora"), make_base("Hand/book")
    rules = make_folder(base, "Rules")
    document = make_document(rules, "leave.md", "# Leave\n\nThirty days.\n")
    for item in (document, make_document(make_base(".."), "odd.md")):
        Document.unscoped.filter(pk=item.pk).update(current_version=newest_version(item))
    allow(reader, rules, Right.VIEW)
    session = Session.objects.create(user=reader, title="Leave")
    question = Message.objects.create(session=session, role=MessageRole.USER, content="How many days?")
    answer = Message.objects.create(
        session=session, role=MessageRole.ASSISTANT, parent=question, content="Thirty days [1]."
    )
    version = newest_version(document)
    Citation.objects.create(
        message=answer, number=1, evidence_id="e", knowledge_base_id=base.pk, document_id=document.pk,
        version_id=version.pk, chunk_id=version.pk, start=0, end=1, score=1.0, text_hash="",
    )  # fmt: skip
    folder = tmp_path / "all"
    call_command("export_all", folder, stdout=StringIO())

    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [folder, *folder.rglob("*")]} == {0}
    written, odd = sorted(lines(folder / "documents.jsonl"), key=lambda row: str(row["filename"]))
    assert (written["folder"], written["versions"][0]["is_current"]) == (["Rules"], True)
    place = folder / written["versions"][0]["file"]
    assert place == folder / "documents" / "Hand_book" / "Rules" / "leave.md"
    assert place.read_text() == "# Leave\n\nThirty days.\n"
    assert (folder / odd["versions"][0]["file"]).resolve().is_relative_to(folder / "documents" / "_")
    (talk,) = lines(folder / "conversations.jsonl")
    assert (talk["person"], [message["content"] for message in talk["messages"]]) == (
        "nora",
        ["How many days?", "Thirty days [1]."],
    )
    assert talk["messages"][1]["documents"] == [{"number": 1, "document": str(document.pk), "version": str(version.pk)}]
    assert "nora" in {row["sign_in_name"] for row in lines(folder / "people.jsonl")}
    with (folder / "grants.csv").open(newline="") as grants:
        assert ("nora", "Rules") in {(row["user"], row["folder"]) for row in csv.DictReader(grants)}
    checked = subprocess.run(
        [sys.executable, folder / "verify_export.py", folder / "audit.jsonl"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 3, checked.stdout + checked.stderr  # every hash is right, and no key was named
    assert Entry.objects.filter(action=Action.DATA_EXPORTED).count() == 1


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    with pytest.raises(CommandError, match="is not empty"):
        call_command("export_all", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert not Entry.objects.filter(action=Action.DATA_EXPORTED).exists()
