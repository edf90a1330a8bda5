"""Who comes to an address, what its address speaks of, and what is sent to it."""

import re
from collections.abc import Callable
from copy import deepcopy
from functools import cached_property
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponseBase
from django.test import Client
from django.utils import timezone

from agent.models import ChatBot, McpService, QuestionSet, Share, Skill, ToolApproval, VerifiedAnswer
from agent.skills.packages import read_shipped_package
from agent.skills.services import add_version
from agent.verified_answers.services import KeeperInput, save_verified_text
from authz.people.accounts import create_service_account
from authz.people.units import create_unit
from authz.permissions import Right
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from business.models import DataSource, SavedQuery
from business.semantic_layer.yaml_io import read_layer
from business.sources.grants import grant
from business.sources.services import save_layer
from demo.seed import AUDITORS_MAY
from knowledge.models import Document, GraphEntity, GraphMention, Source, SourceItem, Webhook
from knowledge.retrieval.engine import load_engine
from knowledge.services.trash import trash_document
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.pages.house import SENTENCE, House, chunk_with
from tests.integration.pages.test_office_preview import picture_deck
from tests.integration.routes.addresses import Route

# anonymous · signed in without a grant · every right elsewhere · view · view and one right more (manage: staff, too) · every
# right · staff without a grant · staff who are auditors, as the demo's are, without a grant · a superuser without a grant ·
# disabled, with the session and the live token of before
ROLES = ("anon", "none", "else", "view", "down", "add", "change", "manage", "all", "staff", "audit", "root", "dead")
RIGHTS = {"down": Right.DOWNLOAD, "add": Right.ADD, "change": Right.CHANGE, "manage": Right.MANAGE, "dead": Right.VIEW}
LAYER = """
name: sales
semantic_models:
- name: deal
  table: deal
  org_unit: {shared_with: everyone}
  entities: [{name: deal, type: primary, expr: id}]
"""


class World(House):
    """The house of the page tests with everybody of ROLES; what belongs to one person belongs to `view`, the house's reader."""

    def __init__(self) -> None:
        super().__init__()
        known = {"view": self.reader, "all": self.keeper}
        self.people = {role: known.get(role) or make_user(role, is_superuser=role == "root") for role in ROLES[1:]}
        allow(self.people["else"], make_base("Elsewhere"), *Right)
        for role, right in RIGHTS.items():
            allow(self.people[role], self.folder, Right.VIEW, right)
        User.objects.filter(username__in=["staff", "manage", "audit"]).update(is_staff=True)
        may = Permission.objects.filter(content_type__app_label="audit", codename__in=AUDITORS_MAY)
        self.people["audit"].user_permissions.set(may)
        self.clients = {role: Client() for role in ROLES}
        for role, user in self.people.items():
            self.clients[role].force_login(user)
        secret = issue_token(Principal.of(self.people["dead"]), name="old", scopes=TokenScope.values)[1]
        self.clients["dead"].defaults["HTTP_AUTHORIZATION"] = f"Bearer {secret}"
        User.objects.filter(username="dead").update(is_active=False)
        self.token = issue_token(Principal.of(self.reader), name="script")[0]
        self.robot = create_service_account(Principal.nobody(), username="robot", purpose="x")
        self.kept = Source.unscoped.create(
            name="Handbook", folder=self.folder, kind="folder", settings={"path": "/nowhere"}
        )
        SourceItem.unscoped.create(source=self.kept, original_id="a.md", path="a.md", document=self.document)
        self.made = (
            self.document,
            self.pdf,
            self.deck,
            self.session,
            self.saved,
            self.trashed,
            self.entity,
            self.approval,
            self.verified,
        )  # now: what is made while one request is tried goes with it

    @cached_property
    def saved(self) -> SavedQuery:
        """A saved question of the reader, who may ask its source; nothing answers there."""
        source = DataSource.unscoped.create(name="sales", database="nowhere", is_embedded=True)
        save_layer(None, source, read_layer(LAYER))
        grant(None, source, to=self.reader)
        query = {"metrics": [{"name": "deal"}]}
        return SavedQuery.unscoped.create(source=source, owner=self.reader, name="Deals", query=query)

    @cached_property
    def entity(self) -> GraphEntity:
        """Something that the document names."""
        entity = GraphEntity.unscoped.create(knowledge_base=self.base, key="rolling update")
        chunk = chunk_with(self.document, SENTENCE)
        GraphMention.unscoped.create(
            entity=entity, document=self.document, version_id=chunk.version_id, chunk_id=chunk.id, kind="term",
            said="rolling update",
        )  # fmt: skip
        return entity

    @cached_property
    def approval(self) -> ToolApproval:
        """A call of a tool outside that the reader is asked to allow."""
        asked = {"tool": "mcp_desk_make", "title": "desk: Make", "arguments": {}, "question": "q", "language": "en"}
        message = self.session.messages.latest("created_at")
        return ToolApproval.objects.create(user=self.session.user, message=message, **asked)

    @cached_property
    def verified(self) -> VerifiedAnswer:
        """What somebody with every right has verified of the document."""
        given = KeeperInput("Which pods?", SENTENCE, documents=[self.document.pk])
        return save_verified_text(Principal.of(self.keeper), given, folder_id=self.folder.pk)

    def with_token(self, *scopes: str) -> Client:
        """A program of somebody with every right, with a token of these scopes."""
        everything = {"is_superuser": True, "is_staff": True}  # so that nothing but the scopes refuses
        User.objects.filter(pk=self.keeper.pk).update(**everything)
        secret = issue_token(Principal.of(self.keeper), name=" ".join(scopes), scopes=scopes)[1]
        return Client(headers={"Authorization": f"Bearer {secret}"})

    def address(self, route: Route, replace: dict[str, Any] | None = None) -> str:
        """The address of a route for the rows of this world; replace: other values for some of its parameters."""
        values = {name: self.value(route, name) for name in route.names} | (replace or {})
        query = QUERIES.get(f"/{route.path}")
        path = re.sub(r"<(\w+)>", lambda found: str(values[found[1]]), route.path)
        return f"/{path}?{query(self)}" if query else f"/{path}"

    def _share_id(self) -> UUID:
        answer = self.session.messages.latest("created_at")
        return Share.objects.get_or_create(session=self.session, last=answer)[0].pk

    def _skill_id(self) -> UUID:
        kept = Skill.objects.first()
        return kept.pk if kept else add_version(self.people["root"], read_shipped_package("report")).skill_id

    def value(self, route: Route, name: str) -> Any:
        """What stands for a parameter. Raises KeyError for one that nobody has thought of."""
        named: dict[str, Callable[[], Any]] = {
            "session_id": lambda: self.session.pk,
            "message_id": lambda: self.session.messages.latest("created_at").pk,
            "share_id": self._share_id,
            "form": lambda: "md",
            "folder_id": lambda: self.folder.pk,
            "base_id": lambda: self.base.pk,
            "document_id": lambda: self._document(route).pk,
            "chunk_id": lambda: chunk_with(self.document, SENTENCE).id,
            "version_number": lambda: 1,
            "older": lambda: 1,
            "newer": lambda: 1,
            "page": lambda: 1,
            "number": lambda: 1,
            "file_id": lambda: UUID(int=1),
            "source_id": lambda: self.saved.source_id,
            "kept_id": lambda: self.kept.pk,
            "service_id": lambda: (
                McpService.objects.get_or_create(name="desk", url="https://desk.example.com/mcp")[0].pk
            ),
            "bot_id": lambda: ChatBot.objects.get_or_create(name="Copilot", platform="feishu")[0].pk,
            "entity_id": lambda: self.entity.pk,
            "saved_id": lambda: self.saved.pk,
            "approval_id": lambda: self.approval.pk,
            "verified_id": lambda: self.verified.pk,
            "set_id": lambda: QuestionSet.objects.get_or_create(name="Leave")[0].pk,
            "skill_id": self._skill_id,
            "kind": lambda: "folder",
            "place_id": lambda: self.folder.pk,
            "user_id": lambda: self.reader.pk,
            "request_id": lambda: 1,
            "run_id": lambda: self.session.messages.latest("created_at").pk,
            "token_id": lambda: self.token.pk,
            "account_id": lambda: self.robot.pk,
            "model_id": lambda: self._admin_row(Route("get", "admin/agent/languagemodel/")),
            "provider_id": lambda: "company",
            "app_label": lambda: "knowledge",
            "content_type_id": lambda: 1,
            "id": lambda: self.reader.pk,
            "url": lambda: "nothing/",
            "path": lambda: "Users",
            "model": lambda: "copilot",
            "pk": lambda: self._api_row(route),
            "object_id": lambda: self._admin_row(route),
        }
        return named[name]()

    def body_of(self, answer: Any) -> bytes:
        """What an answer of `send` says, streamed or not."""
        return answer.streamed_body if answer.streaming else answer.content  # type: ignore[no-any-return]

    @cached_property
    def deck(self) -> Document:
        """A document with a picture inside."""
        return make_document(self.folder, "deck.pptx", picture_deck(), ingested=True)

    @cached_property
    def trashed(self) -> Document:
        """A document of the folder that is in the trash."""
        document = make_document(self.folder, "old.md")
        trash_document(Principal.of(self.keeper), document_id=document.pk)
        return document

    def _document(self, route: Route) -> Document:
        if "trash" in route.path:
            return self.trashed
        if "pictures" in route.path:
            return self.deck
        return self.pdf if "pages" in route.path else self.document

    def _api_row(self, route: Route) -> Any:
        """The row of an API address, by the collection it stands in; KeyError for a collection that is new here."""
        rows = {
            "knowledge-bases": self.base,
            "folders": self.folder,
            "documents": self.document,
            "sources": self.kept,
            "sessions": self.session,
            "tokens": self.token,
        }
        if route.method == "delete" or route.path.endswith("/move"):
            rows["folders"] = self.below  # empty, and its parent may take it
        return rows[route.path.split("/")[2]].pk

    def _admin_row(self, route: Route) -> Any:
        """A row of the model an admin address is about: the house's own, else any, else an id that none has."""
        _admin, app, model, *_rest = route.path.split("/")
        own = {"folder": self.folder, "document": self.document, "knowledgebase": self.base, "user": self.reader}
        if model in own:
            return own[model].pk
        if app == "r":
            return 1
        rows = apps.get_model(app, model)._base_manager
        return (rows.first() or rows.create(**NEW[f"{app}.{model}"](self))).pk

    def send(self, client: Client, route: Route, address: str | None = None) -> HttpResponseBase:
        """One request as this route wants it; read to its end."""
        make = BODIES.get(f"/{route.path}") if route.method in {"post", "put", "patch"} else None
        body = make(self) if make else {}
        is_json = route.path.startswith("api/") and not any(
            isinstance(value, SimpleUploadedFile) for value in body.values()
        )
        call: Any = getattr(client, route.method)
        cookies = deepcopy(client.cookies)
        options = {"data": body} if route.method not in {"get", "head"} else {}
        answer = call(
            address or self.address(route), **options, **({"content_type": "application/json"} if is_json else {})
        )
        if getattr(answer, "streaming", False):
            answer.streamed_body = b"".join(answer)  # reading to the end closes the file
        client.cookies = cookies  # whom one address signs out comes signed in to the next
        return answer  # type: ignore[no-any-return]


# a row of each model of the administration that the house has none of
NEW: dict[str, Callable[[World], dict[str, Any]]] = {
    "agent.languagemodel": lambda world: {"name": "large", "base_url": "https://models.example.com/v1", "model": "large"},
    "agent.agentprofile": lambda world: {"name": "careful"},
    "agent.chatbot": lambda world: {"name": "helper", "platform": "feishu", "app_id": "cli_1"},
    "agent.chatmessage": lambda world: {
        "bot": ChatBot.objects.create(name="asked", platform="feishu"), "event_id": "1", "chat_id": "oc_1", "message_id": "om_1",
        "sender_id": "ou_1", "is_group": False, "is_outside": False,
    },
    "agent.mcpservice": lambda world: {"name": "desk", "url": "https://desk.example.com/mcp"},
    "agent.websearchprovider": lambda world: {"name": "ours", "kind": "searxng", "base_url": "https://search.example.com"},
    "agent.webhost": lambda world: {"entry": "*.example.com"},
    "agent.dayofuse": lambda world: {"user": world.reader, "day": "2026-11-02"},
    "agent.unitbudget": lambda world: {"unit": create_unit(None, name="budgeted"), "tokens": 1_000, "month": "2026-11-01"},
    "auth.group": lambda world: {"name": "readers"},
    "authz.role": lambda world: {"group": Group.objects.create(name="reviewers"), "name": "reviewers"},
    "authz.orgunit": lambda world: {"group": Group.objects.create(name="unit"), "name": "unit"},
    "authz.claimmapping": lambda world: {"value": "staff", "group": Group.objects.create(name="mapped")},
    "authz.claimmembership": lambda world: {"user": world.reader, "group": Group.objects.create(name="of"), "provider": "company"},
    "authz.unmappedclaim": lambda world: {"provider": "company", "value": "guests", "seen_at": timezone.now()},
    "authz.directoryaccount": lambda world: {"directory": "ldap", "external_id": "1", "user": world.reader},
    "authz.directorygroup": lambda world: {"group": Group.objects.create(name="kept")},
    "socialaccount.socialapp": lambda world: {"provider": "openid_connect", "name": "Company", "client_id": "us"},
    "socialaccount.socialaccount": lambda world: {"user": world.reader, "provider": "company", "uid": "1"},
    "mfa.authenticator": lambda world: {"user": world.reader, "type": "totp", "data": {}},
    "business.datasource": lambda world: {"name": "sales", "database": "nowhere"},
    "knowledge.webhook": lambda world: {"name": "desk", "url": "https://desk.example.com/hook"},
    "knowledge.webhookdelivery": lambda world: {
        "webhook": Webhook.objects.create(name="bell", url="https://bell.example.com/hook"),
        "event": "ping", "payload": {}, "next_at": timezone.now(),
    },
    "audit.checkpoint": lambda world: {"seq": 1, "hash": b"", "at": timezone.now(), "key": "", "signature": b""},
    "audit.hold": lambda world: {"reason": "a case"},
}  # fmt: skip


def _answer_id(world: World) -> str:
    return str(world.session.messages.latest("created_at").pk)


def _file(_world: World) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("new.md", b"# New\n\nText.")}


def _given_answer(world: World, question: str, **more: Any) -> dict[str, Any]:
    given = {"question": question, "text": "So it is.", "folder": str(world.folder.pk)}
    return given | {"documents": [str(world.document.pk)]} | more


# what a POST, PUT or PATCH sends where nothing would be a mistake
BODIES: dict[str, Callable[[World], dict[str, Any]]] = {
    "/library/folders/<folder_id>/upload/": _file,
    "/chat/<session_id>/attachments/": _file,
    "/chat/<session_id>/attachments/<document_id>/file-into/": lambda world: {"folder": str(world.folder.pk)},
    "/api/v1/sessions/<pk>/attachments": _file,
    "/api/v1/sessions/<pk>/attachments/<document_id>/file": lambda world: {"folder": str(world.folder.pk)},
    "/library/folders/<folder_id>/folders/": lambda world: {"name": "New"},
    "/library/verified/new/": lambda world: _given_answer(world, "Which ones?", documents=str(world.document.pk)),
    "/library/verified/import/": lambda world: {
        "file": SimpleUploadedFile(
            "new.csv", f"folder,question,answer,documents\n{world.folder.pk},Why?,So.,{world.document.pk}".encode()
        )
    },
    "/library/verified/<verified_id>/": lambda world: _given_answer(
        world, "Which pods?", documents=str(world.document.pk)
    ),
    "/api/v1/verified-answers": lambda world: _given_answer(world, "Which ones?"),
    "/api/v1/verified-answers/<verified_id>": lambda world: _given_answer(world, "Which pods?"),
    "/library/new/": lambda world: {"name": "New"},
    "/library/find/several/": lambda world: {"documents": [str(world.document.pk)], "what": "trash"},
    "/admin/rights/several/": lambda world: {
        "documents": [str(world.document.pk)],
        "what": "give",
        "holder_kind": "user",
        "holder": "none",
        "rights": ["view"],
    },
    "/documents/<document_id>/facts/": lambda world: {"title": "New"},
    "/documents/<document_id>/replace/": lambda world: {"file": SimpleUploadedFile("b.md", b"# B")},
    "/documents/<document_id>/move/": lambda world: {"folder": str(world.below.pk)},
    "/tokens/": lambda world: {"name": "new", "days": "1", "scopes": ["search"]},
    "/data/save/": lambda world: {"source": "sales", "fields": "metric=deal", "name": "New"},
    "/i18n/setlang/": lambda world: {"language": "en"},
    "/api/v1/knowledge-bases": lambda world: {"name": "New"},
    "/api/v1/folders": lambda world: {"parent": str(world.folder.pk), "name": "New"},
    "/api/v1/folders/<pk>/rename": lambda world: {"name": "New"},
    "/api/v1/folders/<pk>/move": lambda world: {"parent": str(world.folder.pk)},
    "/api/v1/folders/<pk>/documents": _file,
    "/api/v1/documents/<pk>/move": lambda world: {"folder": str(world.folder.pk)},
    "/api/v1/documents/<pk>/metadata": lambda world: {"metadata": {}},
    "/api/v1/knowledge-bases/<pk>/fields": lambda world: {"fields": []},
    "/api/v1/agent-tools/get_document_info": lambda world: {"knowledge_ids": [str(world.document.pk)]},
    "/api/v1/agent-tools/list_knowledge_chunks": lambda world: {"knowledge_id": str(world.document.pk)},
    "/api/v1/knowledge-search": lambda world: {"query": "pods"},
    "/api/v1/sessions/<pk>/messages": lambda world: {"query": "How many pods may be unavailable?"},
    "/api/v1/knowledge-chat/<session_id>": lambda world: {"query": "How many pods may be unavailable?"},
    "/api/v1/agent-chat/<session_id>": lambda world: {"query": "How many pods may be unavailable?"},
    "/api/v1/sessions/<session_id>/feedback": lambda world: {"message_id": _answer_id(world), "rating": "helpful"},
    "/api/v1/sessions/<session_id>/stop": lambda world: {"message_id": _answer_id(world)},
    "/api/v1/sessions/<pk>/messages/<message_id>/queries/<number>/correction": lambda world: {"sql": "SELECT 1"},
    "/api/v1/tokens": lambda world: {"name": "new"},
    "/api/v1/rights/preview": lambda world: {
        "changes": [{"what": "tell", "kind": "folder", "id": str(world.folder.pk)}]
    },
    "/api/v1/see-as/knowledge-search": lambda world: {"user": world.reader.username, "query": "pods"},
    "/api/v1/see-as/answer": lambda world: {
        "user": world.reader.username,
        "query": "How many pods may be unavailable?",
    },
    "/v1/chat/completions": lambda world: {
        "model": "copilot",
        "messages": [{"role": "user", "content": "How many pods may be unavailable?"}],
    },
    "/v1/responses": lambda world: {"model": "copilot", "input": "How many pods may be unavailable?"},
    "/mcp": lambda world: {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
    "/v1/embeddings": lambda world: {"model": load_engine().space, "input": "pods"},
    "/api/v1/sources": lambda world: {
        "kind": "folder",
        "settings": {"path": "/nowhere"},
        "name": "New",
        "folder": str(world.below.pk),
    },
    "/api/v1/sources/try": lambda world: {"kind": "folder", "settings": {"path": "/nowhere"}},
    "/api/v1/access-requests": lambda world: {"folder": str(world.folder.pk)},
}
# what an address asks for behind its path
QUERIES: dict[str, Callable[[World], str]] = {
    "/data/table.csv": lambda world: "source=sales&metric=deal",
    "/admin/rights/several/": lambda world: f"documents={world.document.pk}",
    "/api/v1/sessions/continue-stream/<session_id>": lambda world: f"message_id={_answer_id(world)}",
    "/api/v1/explain": lambda world: f"user={world.reader.username}&kind=folder&id={world.folder.pk}",
    "/api/v1/rights/matrix": lambda world: f"knowledge_base={world.base.pk}",
    "/api/v1/rights/effective-access": lambda world: f"knowledge_base={world.base.pk}",
    "/api/v1/see-as/knowledge-bases": lambda world: f"user={world.reader.username}",
    "/api/v1/see-as/folders": lambda world: f"user={world.reader.username}",
    "/api/v1/see-as/documents": lambda world: f"user={world.reader.username}",
}
