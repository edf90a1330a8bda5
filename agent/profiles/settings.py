"""The settings of an agent: its tools, its model, its scope and its budget."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from agent.budget import Budget
from business.sources.data_scope import TableName


class Icon(TextChoices):
    """Icons of assistants: names of the sprite `static/img/icons.svg`."""

    CHAT = "chat", _("speech bubble")
    PERSON = "person", _("person")
    LIBRARY = "library", _("books")
    CHART = "chart", _("chart")
    SETTINGS = "settings", _("controls")
    KEY = "key", _("key")
    FILE = "file", _("document")


class Tone(TextChoices):
    """The tone of a language model's answers: each has a prompt `agent/prompts/tone_<value>`; blank for the default."""

    BRIEF = "brief", _("brief")
    FRIENDLY = "friendly", _("friendly")
    FORMAL = "formal", _("formal")


@dataclass(frozen=True)
class Profile:
    """tools: names; None means those that are on by default. model: name of a configured one, "" for the default.

    uses_tools: False means search once and write, without choosing tools. knowledge_base_ids: empty for no restriction.
    asks_before_web: each web search needs the person's approval, whatever the service's setting. outside: enabled tools
    of outside services, as `agent.tools.base.Tool`. judge: name of the model that checks the sentences which facts do
    not settle, "" for the writing model. is_strict: unchecked sentences are left out instead of marked. id: of its row,
    None for the product's own. tone: one of `Tone`, or "".
    """

    id: UUID | None = None
    name: str = ""
    tone: str = ""
    tools: tuple[str, ...] | None = None
    model: str = ""
    uses_tools: bool = True
    knowledge_base_ids: tuple[UUID, ...] = ()
    judge: str = ""
    is_strict: bool = False
    asks_before_web: bool = False
    outside: tuple[Any, ...] = ()
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class Options:
    """A person's choices for one question. profile_id, model: "" for the default ones.

    uses_tools, searches_web: None: the profile's. asked_as: the client's id of the question; the same id in a
    conversation is the same question. is_wide: use more passages than usual. follows, instead_of: its place in the
    conversation (`agent.conversations.branches.find_parent_message`). attachments: ids of the conversation's files to search.
    tables: of data sources to query. channel: for the audit log; "" for the pages and our own API.
    """

    profile_id: str = ""
    model: str = ""
    uses_tools: bool | None = None
    searches_web: bool | None = None
    disable_title: bool = False
    asked_as: UUID | None = None
    is_wide: bool = False
    follows: UUID | None = None
    instead_of: UUID | None = None
    attachments: tuple[UUID, ...] = ()
    tables: tuple[TableName, ...] = ()
    channel: str = ""
