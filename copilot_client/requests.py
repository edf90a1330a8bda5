"""Requests of programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class KnowledgeQARequest:
    """A question. Empty lists do not narrow; nothing here widens what the caller may read.

    knowledge_ids: documents. folder_ids: with all that lies below them. metadata: what fields of the documents say, each as
    {"field": …, "equals" | "contains" | "at_least" | "at_most": …}. tables: of data sources, each as {"source": …, "table": …}; with
    tables alone no document is looked at, with documents alone no database.
    agent_enabled: the model chooses tools; None leaves it to the address and the agent's profile.
    agent_id: an agent profile. summary_model_id: name of a language model. web_search_enabled: False: nothing
    is asked outside; True: refused where the profile does not switch it on.
    """

    query: str
    knowledge_base_ids: Sequence[str] = ()
    knowledge_ids: Sequence[str] = ()
    folder_ids: Sequence[str] = ()
    metadata: Sequence[Mapping[str, Any]] = ()
    tables: Sequence[Mapping[str, str]] = ()
    agent_enabled: bool | None = None
    agent_id: str = ""
    web_search_enabled: bool | None = None
    summary_model_id: str = ""
    disable_title: bool = False

    def body(self) -> dict[str, Any]:
        """Return the request as a JSON object."""
        return {name: value for name, value in _convert_to_lists(asdict(self)).items() if value is not None}


@dataclass(frozen=True)
class SearchKnowledgeRequest:
    """A search without an answer. folder_ids, metadata: as of a question. top_k: from 1 to 50."""

    query: str
    knowledge_base_ids: Sequence[str] = ()
    knowledge_ids: Sequence[str] = ()
    folder_ids: Sequence[str] = ()
    metadata: Sequence[Mapping[str, Any]] = ()
    top_k: int = 10

    def body(self) -> dict[str, Any]:
        return _convert_to_lists(asdict(self))


def _convert_to_lists(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with lists for other sequences."""
    return {
        name: list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
        for name, value in fields.items()
    }
