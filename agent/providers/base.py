"""The interface of language models: messages in, a stream of deltas out; and their errors."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Protocol

Message = Mapping[str, Any]
"""A message in OpenAI's form: role, content, tool_calls, tool_call_id."""


@dataclass(frozen=True)
class CallPiece:
    """A piece of a tool call. index, id, name: as the service sent them, None or "" where missing."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, as the service counted them. cached_tokens: of the input, those it had cached."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True)
class Delta:
    """One step of a stream. finish: why it ended, on the last delta.

    was_thought: the text before this step was thinking.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[CallPiece, ...] = ()
    finish: str = ""
    usage: Usage | None = None
    was_thought: bool = False


CUT = frozenset({"length", "max_tokens", "content_filter"})  # finish reasons of a truncated answer


@dataclass(frozen=True)
class Prices:
    """Prices per million tokens, in the operator's currency."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)

    def of(self, usage: Usage) -> Decimal:
        return (self.input * usage.input_tokens + self.output * usage.output_tokens) / 1_000_000


@dataclass(frozen=True)
class Shape:
    """The required JSON form of an answer. form: a schema enforced by the service, a tool's arguments, or any JSON."""

    name: str
    schema: Mapping[str, Any]
    form: Literal["strict", "tool", "json"] = "strict"


class ChatModel(Protocol):
    """A configured model. One object serves one run; close it at the end.

    name: as people know it. context_tokens: its context window, question and answer together.
    """

    @property
    def name(self) -> str: ...

    @property
    def prices(self) -> Prices: ...

    @property
    def context_tokens(self) -> int: ...

    def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), shape: Shape | None = None
    ) -> AsyncIterator[Delta]:
        """Stream one reply. Raises ModelError; deltas yielded before it remain valid."""

    async def aclose(self) -> None: ...


@dataclass
class WrappedModel:
    """Base for a ChatModel that wraps another; subclasses define `stream`."""

    model: ChatModel

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def prices(self) -> Prices:
        return self.model.prices

    @property
    def context_tokens(self) -> int:
        return self.model.context_tokens

    async def aclose(self) -> None:
        await self.model.aclose()


class ModelError(Exception):
    """Base of a model's errors; the text is one sentence for the operator, without keys or prompts."""


class ModelUnavailable(ModelError):
    """The model does not answer now: refused, overloaded, silent.

    Nothing was streamed; the same call may succeed later. retry_after_s: the wait requested by the service, None for
    none.
    """

    retry_after_s: float | None = None


class ModelFell(ModelUnavailable):
    """The service failed on this request (500, 501): it may succeed later, or in another form now."""


class ModelBroken(ModelError):
    """The reply stopped in the middle, or cannot be parsed."""


class ModelUnreadable(ModelBroken):
    """The reply is not the requested JSON; a plain text request may still work."""


class ModelMisconfigured(ModelError):
    """The operator must change something: key, name, address. Also where a service supports no tools or no JSON schema."""


class ModelRefused(ModelMisconfigured):
    """The service rejects this request (400, 422): another form of it, or a shorter one, may work."""
