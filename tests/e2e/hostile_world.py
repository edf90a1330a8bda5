"""A world in which everything that people, files, models and services write is an attempt to run a script in the reader's browser."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import CharField, Field, Model, TextField, UniqueConstraint
from django.utils import timezone

from agent.events import StopReason
from agent.models import Message, MessageRole, QueryCitation, Session, Skill, SkillVersion, VerifiedAnswer, WebCitation
from agent.models.mcp_services import McpService
from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from business.results.shown_query import QueryShown, ResultMeaning, ResultTable
from knowledge.models import Document, DocumentVersion, SourceRun, Stage
from tests.factories import allow, make_folder, make_group, make_user
from tests.integration.routes.addresses import Route
from tests.integration.routes.world import World

PAYLOADS = (Path(__file__).parent / "payloads.txt").read_text(encoding="utf-8").splitlines()
APPS = ("agent", "authz", "business", "knowledge")
# Texts that the product itself writes, and reads again: nobody else's words come into them.
OUR_OWN = {
    "sha256", "text_hash", "evidence_id", "language", "file", "mime_type", "queue", "engine", "kind", "transport", "provider", "icon",
    "secret", "encrypted_secret", "encrypted_password", "digest", "prefix", "session_key", "perm_snapshot_id", "asked_key", "space",
    "base_url", "url", "host", "username", "model", "database", "tls", "embedding_model", "stop_reason", "hash", "code", "scopes",
}  # fmt: skip


class HostileWorld(World):
    """`person` may read and do everything in it, so that one sign-in opens every page."""

    def __init__(self) -> None:
        super().__init__()
        self.person = self.reader
        User.objects.filter(pk=self.person.pk).update(is_staff=True, is_superuser=True)
        for place in (self.base, self.folder):
            allow(self.person, place, *Right)
        self.many_documents()
        self.many_places_and_people()
        self.many_answers()
        self.one_answer_of_everything()
        self.many_skills()
        self.every_other_text()

    def many_documents(self) -> None:
        reason = {"code": "crashed", "params": {"detail": PAYLOADS[9]}}
        for number, text in enumerate(PAYLOADS):
            place = {"knowledge_base": self.base, "folder": self.folder, "access": self.folder}
            document = Document.unscoped.create(**place, filename=f"{text}.md", title=text, created_by=self.person)
            status = ("failed", reason) if number % 2 else ("completed", None)
            version = DocumentVersion.unscoped.create(
                document=document, number=1, size_bytes=1, parse_status=status[0], failure=status[1]
            )
            Stage.objects.create(version=version, name="parse", position=0)
            record_action(Principal.of(self.person), Action.DOCUMENT_UPLOADED, document)
        run = {"source": self.kept, "trigger": "hand", "state": "partial", "problem": PAYLOADS[0]}
        SourceRun.objects.create(**run, problems=[{"what": text, "why": text} for text in PAYLOADS])

    def many_places_and_people(self) -> None:
        for number, text in enumerate(PAYLOADS):
            folder = make_folder(self.folder, f"place {number}")
            type(folder).unscoped.filter(pk=folder.pk).update(name=text)  # as a name would be that no service looked at
            group = make_group(text, members=[self.person] if number < 5 else [])
            allow(group, self.folder)
            guest = make_user()
            User.objects.filter(pk=guest.pk).update(first_name=text, email=f"x@{number}.example", username=text)

    def many_answers(self) -> None:
        """A conversation of a hundred questions, each with its text as what was asked, written, and linked to."""
        last: Message | None = None
        self.talk = Session.objects.create(user=self.person, title=PAYLOADS[0])
        for text in PAYLOADS:
            asked = Message.objects.create(session=self.talk, parent=last, role=MessageRole.USER, content=text)
            link = f"[click]({text.split('window')[0]}window.xss=1)" if ":" in text[:12] else text
            last = Message.objects.create(
                session=self.talk, parent=asked, role=MessageRole.ASSISTANT, content=f"{text}\n{link}", notice=text, comment=text,
                sentences=[{"text": text, "citations": []}, {"text": link, "citations": [], "is_checked": False}],
                stop_reason=StopReason.OK, provider="large",
            )  # fmt: skip
            Session.objects.create(user=self.person, title=text, label=text[:40])

    def one_answer_of_everything(self) -> None:
        """The result of a query, of a service outside and pages of the web, under one answer."""
        answer = self.session.messages.latest("created_at")
        table = ResultTable(
            columns=("name", "value"),
            labels=(PAYLOADS[10], PAYLOADS[11]),
            rows=tuple((text, text) for text in PAYLOADS),
        )
        meaning = ResultMeaning(
            headline=PAYLOADS[0], window=(PAYLOADS[1],), conditions=(PAYLOADS[2],), definitions=(PAYLOADS[3],)
        )
        shown = QueryShown(
            query_id="q", question=PAYLOADS[4], statement=PAYLOADS[5], sql=PAYLOADS[6], sha256="0" * 64, meaning=meaning, table=table
        )  # fmt: skip
        McpService.objects.create(
            name="desk", url="https://desk.example.com/mcp",
            tools=[{"name": f"tool{n}", "description": text, "input_schema": {}} for n, text in enumerate(PAYLOADS)],
        )  # fmt: skip
        for number, source in ((2, self.saved.source.name), (3, "mcp:desk")):
            QueryCitation.objects.create(
                message=answer, number=number, evidence_id=f"e{number}", source=source, title=PAYLOADS[7], text_hash="",
                result=shown.model_dump(mode="json"),
            )  # fmt: skip
        for number, text in enumerate(PAYLOADS, 10):
            WebCitation.objects.create(
                message=answer, number=number, evidence_id=f"e{number}", url=text, title=text, snippet=text,
                read_at=timezone.now(), text_hash="",
            )  # fmt: skip
        cited = list(range(1, 4)) + list(range(10, 10 + len(PAYLOADS)))
        answer.sentences = [
            {"text": text, "citations": [number]} for text, number in zip(PAYLOADS, cited, strict=False)
        ]
        answer.state = {"plan": {"clarifying_questions": PAYLOADS[:5]}, "input": {"query": PAYLOADS[0]}}
        answer.save()

    def many_skills(self) -> None:
        for number, text in enumerate(PAYLOADS):
            skill = Skill.objects.create(name=text[:60] if len(text) < 60 else f"skill {number}")
            skill.in_use = SkillVersion.objects.create(
                skill=skill, number=1, description=text, instructions=text, archive=b"", sha256="", paths={text: 1}
            )
            skill.save()

    def value(self, route: Route, name: str) -> Any:
        """The cited passage is found before its words are others."""
        return (
            self.session.messages.latest("created_at").citations.get().chunk_id
            if name == "chunk_id"
            else super().value(route, name)
        )

    def every_other_text(self) -> None:
        """Every text of every row that is there by now and says something still harmless."""
        assert all(
            (self.document, self.pdf, self.trashed, self.entity, self.approval, self._share_id())
        )  # they are made now
        for model in apps.get_models():
            if model._meta.app_label in APPS:
                fields = [field for field in model._meta.concrete_fields if is_of_people(field)]
                for place, row in enumerate(model._base_manager.all()):
                    poison(row, fields, place)


def is_of_people(field: Field[Any, Any]) -> bool:
    """Whether a field holds words that the product did not write. What must differ from row to row is set by name above."""
    unique = [constraint for constraint in field.model._meta.constraints if isinstance(constraint, UniqueConstraint)]
    is_one_of_a_kind = field.unique or any(field.name in item.fields for item in unique)
    is_text = isinstance(field, CharField | TextField) and not field.choices and not is_one_of_a_kind
    return is_text and field.name not in OUR_OWN


def poison(row: Model, fields: Sequence[Field[Any, Any]], place: int) -> None:
    """Another text for each field that is harmless still, where one fits."""
    texts = {}
    for number, field in enumerate(fields, place):
        fitting = [text for text in PAYLOADS if len(text) <= (field.max_length or len(text))]
        if isinstance(row, VerifiedAnswer) and not getattr(row, field.name):
            continue  # it has a text or a statement, never both
        if fitting and not any(text in str(getattr(row, field.name)) for text in PAYLOADS):
            texts[field.name] = fitting[number % len(fitting)]
    if texts:
        type(row)._base_manager.filter(pk=row.pk).update(**texts)
