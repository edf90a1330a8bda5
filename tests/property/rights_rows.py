"""The company of `rights_model` as rows: what happens to the model happens here through the product's services."""

from datetime import timedelta
from functools import cache
from typing import Any
from uuid import uuid4

import numpy as np
from django.contrib.auth.models import Group, User
from django.utils import timezone
from numpy.typing import NDArray

from authz.models import FolderGroupGrant, FolderUserGrant, KnowledgeBaseGroupGrant, KnowledgeBaseUserGrant, OrgUnit
from authz.people.units import create_unit
from authz.principal import Principal
from knowledge.ingestion.indexing import IndexRow, write_index_rows
from knowledge.ingestion.publish import update_passage_count
from knowledge.ingestion.stages import save_parsed_document
from knowledge.models import (
    Chunk,
    Document,
    DocumentVersion,
    Folder,
    FolderKind,
    GraphEntity,
    GraphMention,
    KnowledgeBase,
)
from knowledge.parsers.blocks import Block, ParsedDocument
from knowledge.retrieval.engine import load_engine
from knowledge.services.folders import find_root_folder
from tests.factories import make_base, make_folder, make_group, make_user, prepare_embedder
from tests.property.rights_model import BASES, GROUPS, PEOPLE, UNITS, Holder, Place

TEXT = "Pumps are greased every second week."
QUESTION = "When are pumps greased?"
GRANTS = (FolderGroupGrant, FolderUserGrant, KnowledgeBaseGroupGrant, KnowledgeBaseUserGrant)


def encoded() -> tuple[int, NDArray[np.float32], bytes | None]:
    """Embedding space, vector and token vectors of TEXT, which is what every document says."""
    return load_engine().space_id, *_vectors()  # the row of the space goes with each example


@cache
def _vectors() -> tuple[NDArray[np.float32], bytes | None]:
    prepare_embedder()
    vectors, packed = load_engine().encode([TEXT])
    return vectors[0], packed[0]


class Rows:
    """The rows, by the numbers of the model."""

    def __init__(self) -> None:
        self.people = [make_user() for _person in range(PEOPLE)]
        User.objects.filter(pk__in=[person.pk for person in self.people]).update(is_staff=True)
        self.administrator = make_user(is_superuser=True)  # whose export it is; without a grant
        self.units: list[OrgUnit] = [create_unit(None, name=f"unit {uuid4()}") for _unit in range(UNITS)]
        self.groups: list[Group] = [*(make_group() for _group in range(GROUPS)), *(unit.group for unit in self.units)]
        self.bases: list[KnowledgeBase] = [make_base() for _base in range(BASES)]
        self.ids: dict[Place, Any] = {("base", number): base.pk for number, base in enumerate(self.bases)}

    def principal(self, person: int) -> Principal:
        """Who asks, and nothing that could be remembered of them: the statements must find out the rest."""
        return Principal(self.people[person].pk, self.people[person].username, frozenset())

    def holder(self, holder: Holder) -> User | Group:
        kind, number = holder
        return self.people[number] if kind == "user" else self.groups[number]

    def row(self, place: Place) -> Any:
        """The row of a place, fresh from the database."""
        model: Any = {"base": KnowledgeBase, "folder": Folder, "document": Document}[place[0]]
        return model.unscoped.get(pk=self.ids[place])

    def add_root(self, number: int, base: Place) -> None:
        self.ids["folder", number] = find_root_folder(self.row(base)).pk

    def add_folder(self, number: int, parent: Place) -> None:
        self.ids["folder", number] = make_folder(self.row(parent), f"folder {number}").pk

    def add_document(self, number: int, folder: Place) -> None:
        """A document that is published, as the pipeline leaves one behind."""
        place = self.row(folder)
        base_id = place.knowledge_base_id
        document = Document.unscoped.create(
            knowledge_base_id=base_id, folder=place, filename=f"{number}.pdf", title=f"document {number}"
        )
        self.ids["document", number] = document.pk
        version = DocumentVersion.unscoped.create(
            document=document, number=1, size_bytes=1, mime_type="application/pdf", parse_status="completed"
        )
        save_parsed_document(version, ParsedDocument(blocks=(Block("paragraph", TEXT),)))
        chunk = Chunk.unscoped.create(
            id=uuid4(), knowledge_base_id=base_id, document=document, version=version, position=0, text=TEXT,
            kind="paragraph", start=0, end=len(TEXT), length_tokens=9,
        )  # fmt: skip
        space, vector, packed = encoded()
        write_index_rows(
            [
                IndexRow(
                    base_id, chunk.id, space, document.access_id, document.pk, version.pk,
                    language="en", live=True, term_total=1, vector=vector, lexical={1: 1.0}, packed=packed or b"",
                )
            ]
        )  # fmt: skip
        update_passage_count(version, document.access_id, sign=1)
        Document.unscoped.filter(pk=document.pk).update(current_version=version)
        pump, _made = GraphEntity.unscoped.get_or_create(knowledge_base_id=base_id, key="pumps", document=None)
        GraphMention.unscoped.create(
            entity=pump, document=document, version=version, chunk_id=chunk.id, kind="term", said="Pumps"
        )

    def end(self, holder: Holder, place: Place, codename: str) -> None:
        """Let the end of a grant pass."""
        kind, who = holder[0], self.holder(holder)
        row = self.row(place)
        carrier = row.access if place[0] == "document" else row
        for model in GRANTS:
            if ("Group" in model.__name__) == (kind == "group") and ("Base" in model.__name__) == (place[0] == "base"):
                mine = model.objects.filter(content_object=carrier, **{kind: who}, permission__codename=codename)
                assert mine.update(expires_at=timezone.now() - timedelta(seconds=1)) == 1

    def nodes(self) -> int:
        """How many documents have a node of their own."""
        return Folder.unscoped.filter(kind=FolderKind.DOCUMENT, knowledge_base__in=self.bases).count()
