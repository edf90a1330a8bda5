"""One small base for tests of rights: root > rules > travel > abroad, and root > pay; each folder holds one document.

Each document has one live passage, so that a leaked row is named by its document, and the counts of the planner are seen.
"""

from dataclasses import dataclass, field

from django.contrib.auth.models import User

from authz.permissions import Right
from authz.principal import Principal
from knowledge.ingestion.publish import update_passage_count
from knowledge.models import Chunk, ChunkIndex, ChunkTokens, Document, DocumentVersion, Folder, KnowledgeBase
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.services import access
from knowledge.services.folders import find_root_folder
from tests.factories import make_base, make_document, make_folder, newest_version
from tests.passages import make_passage, make_space

FOLDERS = {"rules": "root", "travel": "rules", "abroad": "travel", "pay": "root"}
DOCUMENT_OF = {
    Document: "filename",
    DocumentVersion: "document__filename",
    Chunk: "document__filename",
    ChunkIndex: "document__filename",
    ChunkTokens: "version__document__filename",
}


@dataclass
class Company:
    """The rows, by name; document `rules` lies in folder `rules`."""

    base: KnowledgeBase
    folders: dict[str, Folder] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)

    @classmethod
    def make(cls) -> "Company":
        base = make_base()
        company = cls(base, {"root": find_root_folder(base)})
        for name, parent in FOLDERS.items():
            company.folders[name] = make_folder(company.folders[parent], name)
        for name, folder in company.folders.items():
            company.add(name, folder)
        return company

    def add(self, name: str, folder: Folder) -> None:
        document = make_document(folder, f"{name}.md", name)
        make_passage(document, make_space())
        version = newest_version(document)
        update_passage_count(version, document.access_id, sign=1)
        Document.unscoped.filter(pk=document.pk).update(current_version=version)
        self.documents[name] = document

    def cut(self, place: Folder | Document) -> None:
        """Break inheritance; the keeper keeps every right on the place."""
        keeper = User.objects.get(username="keeper")
        access.grant_place_rights(None, Right, place, to=keeper)
        access.break_inheritance(None, place)

    def document(self, name: str) -> Document:
        return Document.unscoped.get(pk=self.documents[name].pk)

    def sees(self, principal: Principal) -> set[str]:
        """Names of the documents this person sees, the same in every model and in the planner's count."""
        seen = {
            model.__name__: sorted(model.objects.visible_to(principal).values_list(path, flat=True))
            for model, path in DOCUMENT_OF.items()
        }
        names = seen["Document"]
        assert len(names) == len({*names}), names
        assert all(rows == names for rows in seen.values()), seen
        assert make_plan(principal, Scope()).visible == len(names), names
        return {name.removesuffix(".md") for name in names}
