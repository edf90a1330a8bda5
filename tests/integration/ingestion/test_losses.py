"""What of a file nobody could read is said: on the document's page, by the API and in the report of an import."""

from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from openpyxl import Workbook

from authz.permissions import Right
from knowledge.models import Document, KnowledgeBase
from tests.factories import allow, make_base, make_document, make_user, newest_version, prepare_embedder

pytestmark = pytest.mark.django_db


def budget(*formulas: str) -> bytes:
    """A sheet whose formulas have no values, as libraries write it: nobody calculated them yet."""
    book, stream = Workbook(), BytesIO()
    for row in [("Truck", "Cost"), ("FL-1", 1200), ("FL-2", 900), *(("Total", formula) for formula in formulas)]:
        book.active.append(row)
    book.save(stream)
    return stream.getvalue()


@pytest.fixture
def base() -> KnowledgeBase:
    return make_base("Handbook")


@pytest.fixture
def reader(base: KnowledgeBase) -> User:
    reader = make_user("reader")
    allow(reader, base, Right.VIEW, Right.ADD)
    return reader


def seen(person: User, document: Document, language: str = "en") -> tuple[str, Any]:
    """The document's page, and what the API says was not read."""
    client = Client(headers={"Accept-Language": language})
    client.force_login(person)
    page = client.get(reverse("document", args=[document.pk])).content.decode()
    return page, client.get(f"/api/v1/documents/{document.pk}").json()["not_read"]


def test_formulas_without_values_are_named_until_a_version_has_them(base: KnowledgeBase, reader: User) -> None:
    document = make_document(base, "budget.xlsx", budget("=SUM(B2:B3)", "=B2-B3"), ingested=True)
    assert newest_version(document).losses == {"formulas": 2}
    page, api = seen(reader, document)
    assert "Not read: 2 formulas without values." in page
    assert api == [{"kind": "formulas", "count": 2, "text": "2 formulas without values"}]

    page, api = seen(reader, document, "zh-hans")
    assert "未读取：2 个没有结果值的公式。" in page
    assert api == [{"kind": "formulas", "count": 2, "text": "2 个没有结果值的公式"}]

    document.versions.update(losses={"formulas": 1, "charts": 2, "of another version": 3})
    assert "Not read: 2 charts drawn as pictures, 1 formula without a value." in seen(reader, document)[0]

    page, api = seen(reader, make_document(base, "budget.xlsx", budget(), ingested=True))
    assert ("Not read" in page, api) == (False, [])


def test_an_import_names_the_files_of_which_something_was_not_read(
    base: KnowledgeBase, reader: User, tmp_path: Path
) -> None:
    prepare_embedder()
    (tmp_path / "budget.xlsx").write_bytes(budget("=SUM(B2:B3)"))
    (tmp_path / "rules.md").write_text("# Rules\n\nTrucks are washed weekly.\n")
    out = StringIO()
    call_command("import_folder", str(tmp_path), "--kb", "Handbook", "--as", "reader", stdout=out)
    said = [line for line in out.getvalue().splitlines() if "not read" in line]
    assert said == ["  not read in budget.xlsx: 1 formula without a value"]
