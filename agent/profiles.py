"""What an agent may do: the tools it has, the model it speaks with, where it looks and what it may cost."""

from dataclasses import dataclass, field
from uuid import UUID

from agent.budget import Budget


@dataclass(frozen=True)
class Profile:
    """tools: names; None means those that are on by default. model: name of a configured one, "" for the default.

    uses_tools: False means search once and write, without choosing tools. knowledge_base_ids: empty does not narrow.
    judge: name of the model that reads the sentences which facts do not settle, "" for the one that writes. is_strict: what is not
    checked is left out instead of marked.
    """

    name: str = ""
    tools: tuple[str, ...] | None = None
    model: str = ""
    uses_tools: bool = True
    knowledge_base_ids: tuple[UUID, ...] = ()
    judge: str = ""
    is_strict: bool = False
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class Options:
    """What a person may choose for one question. profile_id, model: "" for the default ones. uses_tools, searches_web: None: the
    profile's.

    asked_as: what the client calls the question; the same again in a conversation is the same question.
    """

    profile_id: str = ""
    model: str = ""
    uses_tools: bool | None = None
    searches_web: bool | None = None
    disable_title: bool = False
    asked_as: UUID | None = None
