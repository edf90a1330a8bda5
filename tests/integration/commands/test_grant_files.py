"""Rights as a file: what is written is read again, and a bad line leaves everything as it was."""

from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from audit.models import Entry
from authz.models import Denial, FolderGroupGrant, FolderUserGrant, KnowledgeBaseGroupGrant
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import list_denials, list_grants
from knowledge.models import Document, Folder, FolderKind, KnowledgeBase
from knowledge.services import access
from knowledge.services.grant_files import export_grants
from tests.factories import make_base, make_document, make_folder, make_group, make_user

pytestmark = pytest.mark.django_db

HEAD = "knowledge_base,folder,document,effect,user,group,rights,expires_at,reason\n"


@pytest.fixture
def base() -> KnowledgeBase:
    base = make_base("Handbook")
    rules = make_folder(base, "Rules / 规章")
    make_document(make_folder(rules, "Travel"), "travel.md")
    make_user("anna")
    make_group("staff")
    return base


def imported(tmp_path: Path, text: str, name: str = "grants.csv", **options: str) -> str:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    out = StringIO()
    call_command("import_grants", file, stdout=out, **options)
    return out.getvalue()


def written() -> str:
    out = StringIO()
    export_grants(None, out)
    return out.getvalue()


def forget_everything() -> None:
    for model in (FolderGroupGrant, FolderUserGrant, KnowledgeBaseGroupGrant, Denial):
        model.objects.all().delete()
    for document in Document.unscoped.filter(access__kind=FolderKind.DOCUMENT):
        access.restore_inheritance(None, document)
    Folder.unscoped.update(inherits=True)


def test_every_kind_of_line_is_applied(base: KnowledgeBase, tmp_path: Path) -> None:
    lines = [
        "Handbook,,,allow,,staff,view download,,",
        "Handbook,Rules \\/ 规章,,deny,anna,,view,,left the team",
        "Handbook,Rules \\/ 规章/Travel,,break,,,,,",
        "Handbook,Rules \\/ 规章/Travel,travel.md,allow,anna,,view,2099-01-31,",
    ]
    access.grant_place_rights(None, Right, Folder.unscoped.get(name="Travel"), to=make_user("kim"))
    assert imported(tmp_path, HEAD + "\n".join(lines)) == "Lines applied: 4.\n"
    assert {(g.holder, g.right) for g in list_grants(base)} >= {("staff", Right.VIEW), ("staff", Right.DOWNLOAD)}
    (denied,) = list_denials(Folder.unscoped.get(name="Rules / 规章"))
    assert (denied.holder, denied.right, denied.reason) == ("anna", Right.VIEW, "left the team")
    assert not Folder.unscoped.get(name="Travel").inherits
    (grant,) = list_grants(Document.unscoped.get().access)
    assert grant.expires_at is not None
    assert timezone.localtime(grant.expires_at).isoformat()[:19] == "2099-01-31T23:59:59"


def test_what_is_written_is_read_again(base: KnowledgeBase, tmp_path: Path) -> None:
    document = Document.unscoped.get()
    kim = make_user("kim")
    access.grant_place_rights(
        None, [Right.VIEW], base, to=make_group("guests"), expires_at=timezone.now() + timedelta(days=9)
    )
    access.deny_place_rights(None, [Right.VIEW], document, to=kim, reason='a, b; "c"\nd')
    access.grant_place_rights(None, [Right.MANAGE], document, to=kim)
    access.break_inheritance(None, document)
    before = written()
    assert before.count("\n") > 4
    forget_everything()
    assert written() != before
    imported(tmp_path, before)
    assert written() == before


BAD = {
    "Handbook,,,allow,nobody,,view,,": "Line 3: There is no user “nobody”.",
    "Handbook,,,allow,anna,staff,view,,": "Line 3: Name either a user or a group.",
    "Elsewhere,,,allow,anna,,view,,": "Line 3: There is no knowledge base “Elsewhere”.",
    "Handbook,Nowhere,,allow,anna,,view,,": "Line 3: There is no folder “Nowhere” in “Handbook”.",
    "Handbook,/,lost.md,allow,anna,,view,,": "Line 3: There is no document “lost.md” in “Handbook”.",
    "Handbook,,,allow,anna,,see,,": "Line 3: “see” is not a right. Choose from: view, download, add, change, manage.",
    "Handbook,,,grant,anna,,view,,": "Line 3: “grant” is not an effect. Choose from: allow, break, deny.",
    "Handbook,,,allow,anna,,view,soon,": "Line 3: “soon” is not a time. Write 2027-01-31",
    "Handbook,,,allow,anna,,view,2020-01-01,": "Line 3: A right cannot end in the past",
    "Handbook,,,break,,,,,": "Line 3: A knowledge base inherits nothing",
    "Handbook,/,,break,,,,,": "Line 3: This would leave “Handbook” without a manager.",
}


def test_one_bad_line_and_nothing_changes(base: KnowledgeBase, tmp_path: Path) -> None:
    before = written()
    for line, said in BAD.items():
        entries = Entry.objects.count()
        with pytest.raises(CommandError) as refusal:
            imported(tmp_path, f"{HEAD}Handbook,,,allow,,staff,view,,\n{line}\n")
        assert str(refusal.value).startswith(said)
        assert Entry.objects.count() == entries
        assert written() == before
    for name, text, said in (
        ("a.csv", "base,user\nHandbook,anna\n", "There is no column “base”. Choose from: knowledge_base, folder"),
        ("a.yaml", "- {knowledge_base: Handbook}", "A grant file must end in .csv; “a.yaml” does not"),
    ):
        with pytest.raises(CommandError, match=said):
            imported(tmp_path, text, name)


def test_every_bad_line_is_named_up_to_twenty(base: KnowledgeBase, tmp_path: Path) -> None:
    with pytest.raises(CommandError) as refusal:
        imported(tmp_path, HEAD + "Handbook,,,allow,who,,view,,\n" * 25)
    said = str(refusal.value).splitlines()
    assert said[0] == "Line 2: There is no user “who”."
    assert said[19:] == ["Line 21: There is no user “who”.", "And 5 more."]


def test_who_imports_must_manage_each_place(base: KnowledgeBase, tmp_path: Path) -> None:
    anna = Principal.named("anna")
    line = HEAD + "Handbook,,,allow,,staff,view,,"
    with pytest.raises(CommandError, match="Line 2: There is no such knowledge base"):
        imported(tmp_path, line, username="anna")
    access.grant_place_rights(None, [Right.MANAGE], base, to=User.objects.get(pk=anna.user_id))
    assert imported(tmp_path, line, username="anna") == "Lines applied: 1.\n"
