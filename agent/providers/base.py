"""What a language model is to us: messages in, a stream of deltas out; and the ways in which it fails."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Protocol

Message = Mapping[str, Any]
"""A message in OpenAI's form: role, content, tool_calls, tool_call_id."""


@dataclass(frozen=True)
class CallPiece:
    """A piece of a tool call. index, id, name: as the service sent them, None or "" where it did not."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, as the service counted them. cached_tokens: of the input, those it had kept from an earlier call."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True)
class Delta:
    """One step of a stream. finish: why it ended, on the last one that says it. was_thought: what was given as text before this step was
    thinking.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[CallPiece, ...] = ()
    finish: str = ""
    usage: Usage | None = None
    was_thought: bool = False


CUT = frozenset({"length", "max_tokens", "content_filter"})  # why a service ends an answer that the model has not ended


@dataclass(frozen=True)
class Prices:
    """Of a million tokens, in the operator's currency."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)

    def of(self, usage: Usage) -> Decimal:
        return (self.input * usage.input_tokens + self.output * usage.output_tokens) / 1_000_000


@dataclass(frozen=True)
class Shape:
    """What JSON the answer must be. form: a schema that the service holds the model to, a tool that it fills, or any JSON."""

    name: str
    schema: Mapping[str, Any]
    form: Literal["strict", "tool", "json"] = "strict"


class ChatModel(Protocol):
    """A configured model. One object serves one run; close it at the end.

    name: as people know it. context_tokens: what fits into it, question and answer together.
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
        """One call. Raises ModelError; what was yielded before it stands."""

    async def aclose(self) -> None: ...


@dataclass
class WrappedModel:
    """What a ChatModel around another one takes over from it; it has `stream` of its own."""

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
    """Root of what a model raises; the text is one sentence for the operator, without keys or prompts."""


class ModelUnavailable(ModelError):
    """It does not answer now: refused, overloaded, silent. Nothing was streamed; the same call may succeed later.

    retry_after_s: what the service asked to wait, None where it did not.
    """

    retry_after_s: float | None = None


class ModelFell(ModelUnavailable):
    """It failed over this request (500, 501): the same may go well later, another form of it now."""


class ModelBroken(ModelError):
    """It stopped in the middle of an answer, or answered what cannot be read."""


class ModelUnreadable(ModelBroken):
    """It answers, and not with the JSON that was asked for; what is asked for in words it may still write."""


class ModelMisconfigured(ModelError):
    """The operator must change something: key, name, address. Also where a service knows no tools or no JSON schema."""


class ModelRefused(ModelMisconfigured):
    """It answers, and does not take this request (400, 422): another form of it, or less in it, may do."""
