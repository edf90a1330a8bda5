"""A small company whose rights are easy to say."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from django.contrib.auth.models import User
from rest_framework.test import APIClient

from agent.conversations.sessions import create_session
from agent.models import Session
from authz.models import ApiToken
from authz.permissions import Right
from authz.principal import Principal
from authz.tokens.api_tokens import issue_token
from knowledge.ingestion.pipeline import fail_exhausted_version
from knowledge.models import Document, Folder, KnowledgeBase
from tests.factories import allow, make_base, make_document, make_folder, make_user, newest_version

Answer: TypeAlias = Any  # what the test client returns: a response with `.json()`

ROLES = (
    "anonymous", "nobody", "elsewhere", "view", "download", "add", "change", "manage", "all", "superuser",
)  # fmt: skip
RIGHTS = {
    "view": (Right.VIEW,),
    "download": (Right.VIEW, Right.DOWNLOAD),
    "add": (Right.VIEW, Right.ADD),
    "change": (Right.VIEW, Right.CHANGE),
    "manage": (Right.VIEW, Right.MANAGE),
    "all": tuple(Right),
}


@dataclass(frozen=True)
class World:
    """`folder` holds `document` (its ingestion failed) and an `empty` folder. Each role but three has its rights on `folder`.

    anonymous: nobody is signed in. nobody: no right at all. elsewhere: every right on another base. superuser: no right either.
    The session and the token belong to `all`.
    """

    people: dict[str, User]
    base: KnowledgeBase
    folder: Folder
    empty: Folder
    document: Document
    session: Session
    token: ApiToken

    def client(self, role: str) -> APIClient:
        """A client signed in as this role."""
        return signed_in(self.people[role]) if role in self.people else APIClient()


def signed_in(user: User) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


def make_world() -> World:
    base, other = make_base("Handbook"), make_base("Elsewhere")
    folder = make_folder(base, "Rules")
    document = make_document(folder, "rules.md")
    fail_exhausted_version(newest_version(document))
    people = {role: make_user(role, is_superuser=role == "superuser") for role in ROLES if role != "anonymous"}
    allow(people["elsewhere"], other, *Right)
    for role, rights in RIGHTS.items():
        allow(people[role], folder, *rights)
    owner = Principal.of(people["all"])
    return World(
        people=people,
        base=base,
        folder=folder,
        empty=make_folder(folder, "Empty"),
        document=document,
        session=create_session(owner),
        token=issue_token(owner, name="script", days=1)[0],
    )
