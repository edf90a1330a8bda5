"""Every way to read: which documents it shows to a person, as numbers of the model."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse

from agent.models import Citation, Message, MessageRole, Session
from authz.permissions import Right
from authz.principal import Principal
from knowledge.graph.traversal import WalkLimits, traverse_from_question
from knowledge.models import (
    Chunk,
    ChunkIndex,
    ChunkTokens,
    Document,
    DocumentVersion,
    Folder,
    GraphEntity,
    GraphMention,
)
from knowledge.retrieval.candidates import IndexQuery, find_candidates
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.retrieval.search import search
from knowledge.selectors import filter_visible_passage_ids
from tests.property.rights_rows import QUESTION, TEXT, Rows, encoded

SAMPLED = 6  # every sixth document; five persons look at five different sixths
DECISIONS: Counter[str] = Counter()  # (person, document) decisions compared, by way


class Ways:
    """What one person sees. numbers: of documents and folders, by their ids."""

    def __init__(self, rows: Rows, person: int, principal: Principal | None = None) -> None:
        self.rows = rows
        self.user = rows.people[person]
        self.principal = principal or rows.principal(person)
        self.numbers = {pk: number for (kind, number), pk in rows.ids.items() if kind == "document"}
        self.some = dict(list(self.numbers.items())[person::SAMPLED])  # what is asked for one by one
        self.client = Client()
        self.folder_numbers = {pk: number for (kind, number), pk in rows.ids.items() if kind == "folder"}

    def compare(
        self, expected: list[int], ways: Iterable[Callable[[], list[Any]]], *, one_by_one: bool = False
    ) -> None:
        """Each way shows exactly the expected documents, each once. one_by_one: of those that are sampled."""
        asked = self.some if one_by_one else self.numbers
        right = [number for number in expected if number in asked.values()]
        for way in ways:
            DECISIONS[way.__name__] += len(asked)
            seen = sorted(self.numbers[pk] for pk in way())
            assert seen == right, f"{way.__name__} shows {seen} instead of {right}"

    def statements(self) -> list[Callable[[], list[Any]]]:
        """The filter itself, in the other models that have it, and in both shapes of the search statement."""
        return [
            self.versions,
            self.passages,
            self.look_of_a_run,
            self.index,
            self.tokens,
            self.exact_statement,
            self.indexed_statement,
            self.graph_mentions,
            self.graph_walk,
        ]

    def doors(self) -> list[Callable[[], list[Any]]]:
        """What a person can use: search, API, pages, the sources of an old answer; and what is exported of what they may."""
        return [self.search, self.rest_list, self.library_pages, self.old_answer, self.export]

    def addresses(self) -> list[Callable[[], list[Any]]]:
        """What is asked for by the address of one document."""
        return [self.rest_detail, self.citation, self.page_image, self.download]

    def folders(self, right: Right = Right.VIEW) -> list[int]:
        rows = Folder.objects.reachable_by(self.principal, right).values_list("pk", flat=True)
        return sorted(self.folder_numbers[pk] for pk in rows)

    def counted(self) -> int:
        """The passages that the planner of a search counts; one for each document."""
        return make_plan(self.principal, Scope()).visible

    def documents(self) -> list[Any]:
        return list(Document.objects.visible_to(self.principal).values_list("pk", flat=True))

    def managed_documents(self) -> list[Any]:
        return list(Document.objects.reachable_by(self.principal, Right.MANAGE).values_list("pk", flat=True))

    def versions(self) -> list[Any]:
        return list(DocumentVersion.objects.visible_to(self.principal).values_list("document_id", flat=True))

    def passages(self) -> list[Any]:
        return list(Chunk.objects.visible_to(self.principal).values_list("document_id", flat=True))

    def look_of_a_run(self) -> list[Any]:
        """The statement by hand with which runs look at rights again."""
        known = dict(Chunk.unscoped.values_list("id", "document_id"))
        return [known[pk] for pk in filter_visible_passage_ids(self.principal, known)]

    def index(self) -> list[Any]:
        return list(ChunkIndex.objects.visible_to(self.principal).values_list("document_id", flat=True))

    def tokens(self) -> list[Any]:
        return list(ChunkTokens.objects.visible_to(self.principal).values_list("version__document_id", flat=True))

    def exact_statement(self) -> list[Any]:
        return self._candidates(use_indexes=False)

    def indexed_statement(self) -> list[Any]:
        return self._candidates(use_indexes=True)

    def graph_mentions(self) -> list[Any]:
        """What names the pumps; and the pumps themselves are there where somebody may read of them."""
        found = list(GraphMention.objects.visible_to(self.principal).values_list("document_id", flat=True))
        assert GraphEntity.objects.visible_to(self.principal).exists() == bool(found)
        return found

    def graph_walk(self) -> list[Any]:
        """The recursive statement; every document names the pumps once."""
        found = traverse_from_question(self.principal, QUESTION, Scope(), reach=WalkLimits(hops=1, passages=200))
        known = dict(Chunk.unscoped.values_list("id", "document_id"))
        assert sum(entity.passages for entity in found.entities) == len(found.passages)
        return [known[pk] for pk, _score in found.passages]

    def search(self) -> list[Any]:
        found = search(self.principal, QUESTION, top_k=100)
        assert found.visible == len(found.hits)
        return [hit.passage.document_id for hit in found.hits]

    def rest_list(self) -> list[Any]:
        answer = self._get("/api/v1/documents?page_size=100").json()
        assert answer["count"] == len(answer["results"])
        return self._named(row["id"] for row in answer["results"])

    def rest_detail(self) -> list[Any]:
        return [pk for pk in self.some if self._status(f"/api/v1/documents/{pk}") == 200]

    def library_pages(self) -> list[Any]:
        """What the pages of all bases and folders list, the base's own page for documents whose folder is not seen."""
        shown: list[Any] = []
        for base in self.rows.bases:
            answer = self._get(reverse("base", args=[base.pk]))
            if answer.status_code == 200:
                shown += [row.document.pk for row in answer.context["beside"]]
        for pk in self.folder_numbers:
            answer = self._get(reverse("folder", args=[pk]))
            if answer.status_code == 200:
                shown += [row.document.pk for row in answer.context["page"].object_list]
        return shown

    def old_answer(self) -> list[Any]:
        """The sources that are shown of an answer of long ago that cites every document."""
        session = Session.objects.create(user=self.user)
        message = Message.objects.create(session=session, role=MessageRole.ASSISTANT, content=TEXT)
        cited = Chunk.unscoped.filter(document_id__in=list(self.numbers))
        Citation.objects.bulk_create(
            Citation(
                message=message, number=number, evidence_id=str(chunk.id), knowledge_base_id=chunk.knowledge_base_id,
                document_id=chunk.document_id, version_id=chunk.version_id, chunk_id=chunk.id, start=0, end=9, score=1.0,
            )
            for number, chunk in enumerate(cited, start=1)
        )  # fmt: skip
        answer = self._get(f"/api/v1/sessions/{session.pk}/messages").json()
        session.delete()
        return self._named(row["knowledge_id"] for row in answer["results"][0]["citations"])

    def export(self) -> list[Any]:
        """The export of effective access, as an administrator gets it: a document without exceptions is as its folder."""
        client = Client()
        client.force_login(self.rows.administrator)
        answer: Any = client.get(reverse("rights-export"))
        table = csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig")))
        held = {
            (row["knowledge base"], row["kind"], row["place"].rpartition(" / ")[2])
            for row in table
            if (row["person"], row["right"]) == (self.user.username, "view")
        }
        rows = Document.unscoped.filter(pk__in=list(self.numbers)).select_related("access", "knowledge_base")
        places = {
            row.pk: (
                row.knowledge_base.name,
                row.access.kind,
                row.title if row.access.kind == "document" else row.access.name,
            )
            for row in rows
        }
        return [pk for pk, place in places.items() if place in held]

    def citation(self) -> list[Any]:
        """The passage behind a citation, at the address that answers link to."""
        chunks = Chunk.unscoped.filter(document_id__in=list(self.some))
        urls = {chunk.document_id: reverse("source", args=[chunk.knowledge_base_id, chunk.id]) for chunk in chunks}
        return [pk for pk, url in urls.items() if self._status(url) == 200]

    def page_image(self) -> list[Any]:
        """An image that is kept already; nobody's browser may keep it, so it is asked for anew."""
        found = []
        for version in DocumentVersion.unscoped.filter(document_id__in=list(self.some)):
            _keep_image(version)
            if self._status(reverse("page-image", args=[version.document_id, 1, 1])) == 200:
                found.append(version.document_id)
        return found

    def download(self) -> list[Any]:
        """Nobody holds the right to download: 403 where the document is seen, 404 where it is not."""
        return [pk for pk in self.some if self._status(reverse("document-download", args=[pk])) == 403]

    def admin_list(self) -> list[Any]:
        answer = self._get(reverse("admin:knowledge_document_changelist"))
        return [row.pk for row in answer.context["cl"].result_list] if answer.status_code == 200 else []

    def _candidates(self, *, use_indexes: bool) -> list[Any]:
        space, vector, _packed = encoded()
        question = IndexQuery(vector, {1: 1.0})
        found = find_candidates(
            self.principal, question, Scope(), space_id=space, depth=100, use_indexes=use_indexes, rare_terms=[1]
        )
        return [row.document_id for row in found]

    def _get(self, url: str) -> Any:
        if not self.client.cookies:
            self.client.force_login(self.user)
        return self.client.get(url)

    def _status(self, url: str) -> int:
        status: int = self._get(url).status_code
        assert status in {200, 403, 404}, f"{url} answers {status}"
        return status

    def _named(self, ids: Iterable[str]) -> list[Any]:
        known = {str(pk): pk for pk in self.numbers}
        return [known[text] for text in ids]


def _keep_image(version: DocumentVersion) -> None:
    """The image of the first page as if it had been drawn: these versions have no original."""
    storage, name = version.file.storage, f"pages/{version.pk}/1.png"
    if not storage.exists(name):
        storage.save(name, ContentFile(b"an image"))
