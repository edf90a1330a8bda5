"""What tests are made of: people, groups, bases, folders and documents, made through the product's own services.

Each function makes one thing and returns its row. Names are unique by themselves; give one where it helps the reader.
"""

from collections.abc import Iterable
from functools import cache
from itertools import count

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.files.base import ContentFile

from authz.models import KnowledgeBaseUserGrant
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights
from knowledge.dictionary.cedict import prepare_dictionary
from knowledge.embedding.convert import prepare_model
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import Document, DocumentVersion, Folder, KnowledgeBase
from knowledge.services.folders import add_folder, create_knowledge_base, find_root_folder
from knowledge.services.uploads import upload_document

_number = count(1)

PASSAGE = """# Rolling updates

A Deployment replaces its pods step by step. By default at most 25% of the desired pods are unavailable.

## 滚动更新

默认情况下,更新期间最多有 25% 的所需 Pod 不可用。
"""


def make_user(
    username: str = "",
    *,
    groups: Iterable[Group] = (),
    password: str | None = None,
    is_active: bool = True,
    is_superuser: bool = False,
    email: str = "",
) -> User:
    """A person; without a password they cannot sign in by form. A superuser may enter the admin, too."""
    user = User.objects.create_user(
        username or f"person{next(_number)}",
        email,
        password=password,
        is_active=is_active,
        is_superuser=is_superuser,
        is_staff=is_superuser,
    )
    user.groups.set(groups)
    return user


def make_group(name: str = "", *, members: Iterable[User] = ()) -> Group:
    group = Group.objects.create(name=name or f"group{next(_number)}")
    group.user_set.set(members)
    return group


def make_base(name: str = "", description: str = "") -> KnowledgeBase:
    """A knowledge base with its root folder; nobody has a right on it."""
    return create_knowledge_base(None, name=name or f"base{next(_number)}", description=description)


def make_folder(parent: KnowledgeBase | Folder, name: str = "") -> Folder:
    """A folder below `parent`, or below the root folder of a knowledge base."""
    above = find_root_folder(parent) if isinstance(parent, KnowledgeBase) else parent
    return add_folder(None, above, name or f"folder{next(_number)}")


def allow(holder: User | Group, row: KnowledgeBase | Folder, *rights: Right) -> None:
    """Give rights on a row; `view` when none is named."""
    grant_rights(None, rights or (Right.VIEW,), row, to=holder)


def make_document(
    place: KnowledgeBase | Folder,
    filename: str = "",
    content: str | bytes = PASSAGE,
    *,
    title: str = "",
    language: str = "",
    ingested: bool = False,
) -> Document:
    """A document in a folder, or in the root folder of a base, uploaded by its keeper; fresh from the database.

    The same filename in the same place makes a new version. ingested: taken through the real pipeline, else waiting.
    """
    folder = find_root_folder(place) if isinstance(place, KnowledgeBase) else place
    data = content.encode() if isinstance(content, str) else content
    upload = upload_document(
        keeper_of(folder),
        folder_id=folder.pk,
        filename=filename or f"document{next(_number)}.md",
        file=ContentFile(data),
        title=title,
        language=language,
    )
    if ingested:
        prepare_embedder()
        run_ingestion(upload.version.pk)
    return Document.unscoped.select_related("current_version").get(pk=upload.document.pk)


@cache
def prepare_embedder() -> None:
    """Convert the bundled model and index the dictionary, once for all runs of the tests in this checkout: call it before anything
    is embedded.
    """
    models = settings.HOME.create().models
    prepare_model(models)
    prepare_dictionary(models)


def newest_version(document: Document) -> DocumentVersion:
    return document.versions.order_by("-number")[0]


def keeper_of(folder: Folder) -> Principal:
    """The person who fills the tests' knowledge bases: holds every right on this one, and appears in no other role."""
    keeper, _made = User.objects.get_or_create(username="keeper")
    if KnowledgeBaseUserGrant.objects.filter(user=keeper, content_object=folder.knowledge_base).count() < len(Right):
        grant_rights(None, Right, folder.knowledge_base, to=keeper)
    return Principal.of(keeper)
