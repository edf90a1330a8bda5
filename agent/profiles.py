"""What an agent may do: the tools it has, the model it speaks with, where it looks and what it may cost."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from agent.budget import Budget
from business.data_scope import TableName


class Icon(TextChoices):
    """What stands beside an assistant's name: names of the sprite `static/img/icons.svg`."""

    CHAT = "chat", _("speech bubble")
    PERSON = "person", _("person")
    LIBRARY = "library", _("books")
    CHART = "chart", _("chart")
    SETTINGS = "settings", _("controls")
    KEY = "key", _("key")
    FILE = "file", _("document")


class Tone(TextChoices):
    """How a language model writes: each has a prompt `agent/prompts/tone_<value>`; blank is the answer's own."""

    BRIEF = "brief", _("brief")
    FRIENDLY = "friendly", _("friendly")
    FORMAL = "formal", _("formal")


@dataclass(frozen=True)
class Profile:
    """tools: names; None means those that are on by default. model: name of a configured one, "" for the default.

    uses_tools: False means search once and write, without choosing tools. knowledge_base_ids: empty does not narrow.
    asks_before_web: a search of the web waits for the person, whatever the service is set to.
    outside: tools of services outside that it switches on, as `agent.tools.base.Tool`.
    judge: name of the model that reads the sentences which facts do not settle, "" for the one that writes. is_strict: what is not
    checked is left out instead of marked. id: of its row, None for the product's own. tone: one of `Tone`, or "".
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
    """What a person may choose for one question. profile_id, model: "" for the default ones. uses_tools, searches_web: None: the
    profile's.

    asked_as: what the client calls the question; the same again in a conversation is the same question. is_wide: look
    at more passages than an answer takes. follows, instead_of: its place in the conversation (`agent.conversations.branches.followed`).
    attachments: ids of the conversation's files that the question is asked with. tables: of data sources that it is asked of.
    channel: where it was asked, for the audit log; "" for the pages and the API.
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
