"""What a program may ask for."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class KnowledgeQARequest:
    """A question. Empty lists do not narrow; nothing here widens what the caller may read.

    knowledge_ids: documents. agent_enabled: the model chooses tools; None leaves it to the address and the agent's profile.
    agent_id: an agent profile. summary_model_id: name of a language model. web_search_enabled: False: nothing
    is asked outside; True: refused where the profile does not switch it on.
    """

    query: str
    knowledge_base_ids: Sequence[str] = ()
    knowledge_ids: Sequence[str] = ()
    agent_enabled: bool | None = None
    agent_id: str = ""
    web_search_enabled: bool | None = None
    summary_model_id: str = ""
    disable_title: bool = False

    def body(self) -> dict[str, Any]:
        """As JSON is made of it."""
        fields = asdict(self) | {
            "knowledge_base_ids": list(self.knowledge_base_ids),
            "knowledge_ids": list(self.knowledge_ids),
        }
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True)
class SearchKnowledgeRequest:
    """A search without an answer. top_k: from 1 to 50."""

    query: str
    knowledge_base_ids: Sequence[str] = ()
    knowledge_ids: Sequence[str] = ()
    top_k: int = 10

    def body(self) -> dict[str, Any]:
        return asdict(self) | {
            "knowledge_base_ids": list(self.knowledge_base_ids),
            "knowledge_ids": list(self.knowledge_ids),
        }
