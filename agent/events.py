"""Everything a client can receive about a run: the specification's flat `StreamResponse`, with a gapless `seq`.

Version 2: an answer has slots, one for each sentence, row, item and block of code, numbered from 0 in the order of writing; a number whose
sentence was left out is missing. `answer` events come in the order of the slots, so that a client that knows no slots shows them as they
come. What is settled before a slot that is still checked comes early, as a `slot` event, and later in its place as `answer`. Sources get
their numbers, from 1 without gaps, in the order in which settled slots are first shown, early or in their place.
"""

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, ConfigDict, Field

from business.results.shown_query import QueryShown
from copilot_site.lib.text.one_line import Line

VERSION: Final = 2  # of what is described here; a client may pass over types and fields that it does not know


class StopReason(TextChoices):
    """How a run ended, in the specification's words."""

    OK = "ok", _("answered")
    NEED_CLARIFY = "need_clarify", _("asked back")
    NO_EVIDENCE = "no_evidence", _("nothing found")
    PERMISSION_DENIED = "permission_denied", _("no access")
    TOOL_ERROR = "tool_error", _("a tool failed")
    CANCELLED = "cancelled", _("stopped")
    BUDGET_EXHAUSTED = "budget_exhausted", _("a limit was reached")
    REFUSED = "refused", _("refused")


class KnowledgeReference(BaseModel):
    """One numbered source of an answer. `knowledge_id` is the document's id, as the specification calls it."""

    model_config = ConfigDict(frozen=True)

    number: int
    evidence_id: str
    knowledge_base_id: UUID
    knowledge_id: UUID
    chunk_id: UUID
    title: Line
    heading_path: list[Line]
    page: int | None
    snippet: str
    score: float


class QueryReference(BaseModel):
    """A numbered source that is no passage: the result of a query. `source` is the data source's name.

    result: the query, its table and what they mean; none for a kind of source that keeps no table.
    """

    model_config = ConfigDict(frozen=True)

    number: int
    evidence_id: str
    source: Line
    title: Line
    snippet: str
    result: QueryShown | None = None


class WebReference(BaseModel):
    """A numbered source from outside: a page of the web. `read_at` is when it was read; what it says now may differ."""

    model_config = ConfigDict(frozen=True)

    number: int
    evidence_id: str
    origin: Literal["outside"] = "outside"
    url: str
    title: Line
    snippet: str
    read_at: datetime


class VerifiedReference(BaseModel):
    """A numbered source that somebody verified: an answer to a question. `by` is empty for a person who is gone."""

    model_config = ConfigDict(frozen=True)

    number: int
    evidence_id: str
    verified_answer_id: UUID
    question: Line
    by: Line
    verified_on: date
    snippet: str


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

    def placed(self, seq: int, session_id: UUID, message_id: UUID) -> Self:
        """Return the same event with its place in a run."""
        ids = {"id": str(message_id), "session_id": str(session_id), "assistant_message_id": str(message_id)}
        return self.model_copy(update={"seq": seq, **ids})


class AgentQuery(StreamEvent):
    """The run has begun; `content` is the question as it was understood."""

    response_type: Literal["agent_query"] = "agent_query"


class Queued(StreamEvent):
    """The run waits for its turn; `content` says so, `data.before` is the number of questions that are begun before it.

    Comes again when that has changed; `agent_query` follows.
    """

    response_type: Literal["queued"] = "queued"
    data: dict[str, Any] = Field(default_factory=dict)


class Thinking(StreamEvent):
    """A piece of what the model thinks aloud; information, never part of the answer."""

    response_type: Literal["thinking"] = "thinking"


class FunctionCall(BaseModel):
    """arguments: a JSON string, as OpenAI has it."""

    model_config = ConfigDict(frozen=True)

    name: str
    arguments: str


class LLMToolCall(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    type: Literal["function"] = "function"
    function: FunctionCall


class ToolCall(StreamEvent):
    """The model calls tools, several at once or one."""

    response_type: Literal["tool_call"] = "tool_call"
    tool_calls: list[LLMToolCall] = Field(default_factory=list)


class ToolResult(StreamEvent):
    """The result of one call. `content` is the text for the model; `data` has `display_type`, `tool_call_id`, `tool_name`,
    `success`, `duration_ms` and what the page shows.
    """

    response_type: Literal["tool_result"] = "tool_result"
    data: dict[str, Any] = Field(default_factory=dict)


class Reflection(StreamEvent):
    """A notice: what the run did differently, and why (a model failed, a limit was reached)."""

    response_type: Literal["reflection"] = "reflection"


class References(StreamEvent):
    """The sources the answer will cite, before the answer that cites them."""

    response_type: Literal["references"] = "references"
    knowledge_references: list[KnowledgeReference] = Field(default_factory=list)
    query_references: list[QueryReference] = Field(default_factory=list)
    web_references: list[WebReference] = Field(default_factory=list)
    verified_references: list[VerifiedReference] = Field(default_factory=list)


class Answer(StreamEvent):
    """A piece of the answer; citations are marks like `[1]` in the text. `data.provider` says who wrote it, `data.slot` the slot it is of.

    `data.kind` is `passages` where the best passages are shown, which nobody verified. `data.readings`, with a question back: complete
    questions to choose from. `data.is_checked` is there,
    and false, where this piece was not checked against its source. `data.disagreements`, with the last piece: pairs of numbers of
    sources that contradict each other.
    """

    response_type: Literal["answer"] = "answer"
    data: dict[str, Any] = Field(default_factory=dict)


class SlotState(StrEnum):
    """What is known of a slot before its turn."""

    CHECKING = "checking"
    SETTLED = "settled"
    LEFT_OUT = "left_out"


class Slot(StreamEvent):
    """The state of a slot before its turn; clients without slots ignore it. `data.slot` is its number.

    `data.state`: `checking`, a model reads it, and `data.sources` names its sources; `settled`, it is told early: `content` and `data` as
    its `answer` will have them; `left_out`, nothing of it is shown.
    """

    response_type: Literal["slot"] = "slot"
    data: dict[str, Any] = Field(default_factory=dict)


class SessionTitle(StreamEvent):
    """The conversation's title, once it has one."""

    response_type: Literal["session_title"] = "session_title"


class Stop(StreamEvent):
    """The person stopped the run; `content` says so. What was written before stays, and `complete` follows."""

    response_type: Literal["stop"] = "stop"


class Complete(StreamEvent):
    """The run is over. `data.stop_reason` says how it ended, `data.provider` who wrote, `data.notices` what was different."""

    response_type: Literal["complete"] = "complete"
    data: dict[str, Any] = Field(default_factory=dict)


class Error(StreamEvent):
    """The run failed; `content` is one sentence for the person who asked.

    `data.retry_after_s`: over a socket, of a question that was not taken; the same may be asked again after so many seconds.
    """

    response_type: Literal["error"] = "error"
    data: dict[str, Any] = Field(default_factory=dict)


Event = Annotated[
    Queued
    | AgentQuery
    | Thinking
    | ToolCall
    | ToolResult
    | Reflection
    | References
    | Answer
    | Slot
    | SessionTitle
    | Stop
    | Complete
    | Error,
    Field(discriminator="response_type"),
]
