"""`manage.py check_consistency`: a whole system passes, and each kind of damage is found and named."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from copilot_site import consistency
from copilot_site.consistency import check_consistency
from knowledge.models import Chunk, ChunkIndex, Document, DocumentVersion, Folder, FolderLink, ParseStatus
from tests.factories import make_base, make_document, make_folder
from tests.sharing import Share

pytestmark = pytest.mark.django_db


def make_system() -> Document:
    base = make_base()
    make_folder(make_folder(base, "Above"), "Below")
    return make_document(base, "rollback.md", ingested=True)


@pytest.fixture(scope="module")
def shared_document(share: Share) -> Callable[[], Document]:
    return share(make_system)


@pytest.fixture
def document(shared_document: Callable[[], Document], db: None) -> Document:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # links audit entries, as a commit does
    return shared_document()


def bad() -> dict[str, str]:
    return {result.name: result.detail for result in check_consistency() if not result.ok}


def test_a_whole_system_is_consistent(document: Document) -> None:
    assert bad() == {}
    out = StringIO()
    call_command("check_consistency", stdout=out)
    assert len(out.getvalue().splitlines()) == len(consistency.STATEMENTS) + 3
    assert "BAD" not in out.getvalue()
    stuck(document)
    with pytest.raises(SystemExit):
        call_command("check_consistency", stdout=StringIO())


def uncut(_document: Document) -> None:
    Folder.unscoped.filter(name="Below").update(inherits=False)


def unlinked(_document: Document) -> None:
    FolderLink.objects.filter(descendant__name="Below", depth=1).delete()


def wrong_rights(document: Document) -> None:
    other = make_folder(make_base())
    ChunkIndex.unscoped.filter(document=document).update(folder=other)


def answers_twice(document: Document) -> None:
    Document.unscoped.filter(pk=document.pk).update(current_version=None)


def not_indexed(document: Document) -> None:
    ChunkIndex.unscoped.filter(document=document).delete()


def no_passages(document: Document) -> None:
    Chunk.unscoped.filter(document=document).delete()


def no_file(document: Document) -> None:
    document.versions.update(file="originals/nowhere")


def stuck(document: Document) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    document.versions.update(parse_status=ParseStatus.PROCESSING, lease_expires_at=long_ago)


@pytest.mark.parametrize(
    ("damage", "names"),
    [
        (uncut, {"folder tree"}),
        (unlinked, {"folder tree"}),
        (wrong_rights, {"rights in the index", "counts of folders"}),
        (answers_twice, {"answering versions"}),
        (not_indexed, {"passages in the index", "counts of folders"}),
        (no_passages, {"passages in the index"}),
        (no_file, {"files of versions"}),
        (stuck, {"unfinished work"}),
    ],
)
def test_each_kind_of_damage_is_found(document: Document, damage: Callable[[Document], None], names: set[str]) -> None:
    damage(document)
    found = bad()
    assert found.keys() == names, found


def test_a_file_without_a_row_counts_once_its_upload_must_have_ended(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage: Storage = DocumentVersion._meta.get_field("file").storage
    name = storage.save(f"originals/{document.knowledge_base_id}/left", ContentFile(b"x"))
    assert name not in consistency._find_lost_files()[1]
    monkeypatch.setattr(consistency, "YOUNG", timedelta(seconds=-1))
    assert name in consistency._find_lost_files()[1], "files of other tests may be there, too"
