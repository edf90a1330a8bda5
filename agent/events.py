"""Everything a client can receive about a run: the specification's flat `StreamResponse`, with a gapless `seq`."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class KnowledgeReference(BaseModel):
    """One numbered source of an answer. `knowledge_id` is the document's id, as the specification calls it."""

    model_config = ConfigDict(frozen=True)

    number: int
    evidence_id: str
    knowledge_base_id: UUID
    knowledge_id: UUID
    chunk_id: UUID
    title: str
    heading_path: list[str]
    page: int | None
    snippet: str
    score: float


class StreamEvent(BaseModel):
    """What every event carries. `done` closes its type; `complete` and `error` close the run.

    seq: 0, 1, 2, … within a run; given by the run, not by the state that made the event.
    """

    model_config = ConfigDict(frozen=True)

    id: str = ""
    seq: int = 0
    content: str = ""
    done: bool = False
    session_id: str = ""
    assistant_message_id: str = ""


class AgentQuery(StreamEvent):
    """The run has begun; `content` is the question as it was understood."""

    response_type: Literal["agent_query"] = "agent_query"


class References(StreamEvent):
    """The sources the answer will cite, before the answer that cites them."""

    response_type: Literal["references"] = "references"
    knowledge_references: list[KnowledgeReference] = Field(default_factory=list)


class Answer(StreamEvent):
    """A piece of the answer; citations are marks like `[1]` in the text. `data.provider` says who wrote it."""

    response_type: Literal["answer"] = "answer"
    data: dict[str, Any] = Field(default_factory=dict)


class SessionTitle(StreamEvent):
    """The conversation's title, once it has one."""

    response_type: Literal["session_title"] = "session_title"


class Complete(StreamEvent):
    """The run is over. `data.stop_reason` says how it ended."""

    response_type: Literal["complete"] = "complete"
    data: dict[str, Any] = Field(default_factory=dict)


class Error(StreamEvent):
    """The run failed; `content` is one sentence for the person who asked."""

    response_type: Literal["error"] = "error"


Event = Annotated[
    AgentQuery | References | Answer | SessionTitle | Complete | Error, Field(discriminator="response_type")
]
