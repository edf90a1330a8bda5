"""Requests in the format of OpenAI's API. Model parameters (temperature, tools, a system message) are ignored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

MAX_MESSAGES = 400
MAX_INPUTS = 64
MAX_CHARACTERS = 8_000  # of one text to embed: longer than any embedder's input


class OpenAIInput(serializers.Serializer[Any]):
    """Typed fields out of a body; names that are not read are passed over, because each client sends others.

    A field that may be left out may be null, too, and means the same then.
    """

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            optional = {name for name, field in self.fields.items() if not field.required}
            data = {name: value for name, value in data.items() if value is not None or name not in optional}
        return super().to_internal_value(data)

    @classmethod
    def checked(cls, data: Any) -> dict[str, Any]:
        """Validate a request. Raises ValidationError with the name of the field."""
        given = cls(data=data)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)


TEXTS = {"text", "input_text", "output_text"}  # parts of a message that are text
_TEXT = serializers.CharField(allow_blank=True, trim_whitespace=False)


def _build_text_only_error() -> serializers.ValidationError:
    return serializers.ValidationError(_("Send text: pictures, sound and files are not read here."))


@dataclass(frozen=True)
class MessageText:
    """The content of a message. has_more: it has images, audio or files, which are not read."""

    text: str = ""
    has_more: bool = False


@extend_schema_field(OpenApiTypes.ANY)
class Content(serializers.Field[MessageText, Any, str, Any]):
    """The text of a message: one, or the parts of one that are text."""

    def to_internal_value(self, data: Any) -> MessageText:
        parts = data if isinstance(data, list) else [{"type": "text", "text": data}]
        if not all(isinstance(part, Mapping) and isinstance(part.get("type"), str) for part in parts):
            raise _build_text_only_error()
        texts = [part.get("text") for part in parts if part["type"] in TEXTS]
        if not all(isinstance(text, str) for text in texts):
            raise _build_text_only_error()
        return MessageText(str(_TEXT.run_validation("\n".join(map(str, texts)))), len(texts) < len(parts))

    def to_representation(self, value: MessageText) -> str:
        return value.text


class ChatMessage(OpenAIInput):
    role = serializers.ChoiceField(choices=("system", "developer", "user", "assistant", "tool", "function"))
    content = Content(required=False, allow_null=True, default=MessageText())


class StreamOptions(OpenAIInput):
    include_usage = serializers.BooleanField(required=False, allow_null=True, default=False)


class AnyOf(serializers.JSONField):
    """What may be left out; whatever it says is looked at by the request."""

    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True, default=None)


class QuestionRequest(OpenAIInput):
    """Fields of both request forms. Output formats and calls of the program's own tools are refused: plain text would break it."""

    model = serializers.CharField(max_length=200)
    stream = serializers.BooleanField(required=False, allow_null=True, default=False)
    tool_choice = AnyOf()

    def validate_tool_choice(self, value: Any) -> Any:
        if value not in (None, "auto", "none"):
            raise serializers.ValidationError(
                _("Tools of programs are not called here: which tools are used says the assistant.")
            )
        return value


def _require_text_form(form: Any) -> None:
    """Require text output. form: the requested format. Raises ValidationError for any other."""
    if form is not None and (not isinstance(form, Mapping) or form.get("type") not in (None, "text")):
        raise serializers.ValidationError(
            _("Answers are text with sources: JSON and other structured output is not offered.")
        )


def _extract_questions(messages: list[dict[str, Any]], field: str) -> list[str]:
    """Return the person's questions, in order.

    Raises ValidationError where the last message is no question, or not only text. Other content of earlier messages is
    ignored: a conversation can continue after a picture.
    """
    asked = [message["content"] for message in messages if message["role"] == "user"]
    if messages[-1]["role"] == "user" and asked[-1].has_more:
        raise serializers.ValidationError({field: _build_text_only_error().detail})
    if messages[-1]["role"] != "user" or not asked[-1].text.strip():
        raise serializers.ValidationError({field: _("The last message must be a question of the role “user”.")})
    return [item.text for item in asked]


class ChatCompletionRequest(QuestionRequest):
    """questions: what people asked, in order; the last one is to be answered."""

    messages = serializers.ListField(child=ChatMessage(), max_length=MAX_MESSAGES, allow_empty=False)
    stream_options = StreamOptions(required=False, allow_null=True, default=None)
    n = serializers.IntegerField(required=False, allow_null=True, default=1, min_value=1, max_value=1)
    response_format = AnyOf()

    def validate_response_format(self, value: Any) -> Any:
        _require_text_form(value)
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {**attrs, "questions": _extract_questions(attrs["messages"], "messages")}


class InputItem(ChatMessage):
    """A message. Calls of tools, which the API knows as input, too, are none."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("type") not in (None, "message"):
            raise serializers.ValidationError({"type": _("Send messages: nothing else is accepted here.")})
        return super().to_internal_value(data)


@extend_schema_field(OpenApiTypes.ANY)
class Input(serializers.Field[list[dict[str, Any]], Any, list[dict[str, Any]], Any]):
    """One question, or the messages of a conversation; what a model thought between them is passed over."""

    items = serializers.ListField(child=InputItem(), max_length=MAX_MESSAGES, allow_empty=False)

    def to_internal_value(self, data: Any) -> list[dict[str, Any]]:
        given = [{"role": "user", "content": data}] if isinstance(data, str) else data
        if isinstance(given, list):
            given = [item for item in given if not (isinstance(item, Mapping) and item.get("type") == "reasoning")]
        return list(self.items.run_validation(given))

    def to_representation(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return value


class ResponseRequest(QuestionRequest):
    """questions: as of ChatCompletionRequest. previous_response_id: the answer that goes before; only the new question is sent then."""

    input = Input()
    previous_response_id = serializers.CharField(required=False, allow_null=True, default=None, max_length=80)
    text = AnyOf()
    tools = AnyOf()
    background = AnyOf()
    conversation = AnyOf()
    prompt = AnyOf()

    def validate_text(self, value: Any) -> Any:
        _require_text_form(value.get("format") if isinstance(value, Mapping) else value)
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for name in ("tools", "background", "conversation", "prompt"):
            if attrs[name]:
                raise serializers.ValidationError({name: _("This is not offered here: leave it out.")})
        return {**attrs, "questions": _extract_questions(attrs["input"], "input")}


class EmbeddingRequest(OpenAIInput):
    model = serializers.CharField(max_length=200)
    input = serializers.JSONField()
    encoding_format = serializers.ChoiceField(
        choices=("float", "base64"), required=False, allow_null=True, default="float"
    )
    dimensions = serializers.IntegerField(required=False, allow_null=True, default=None)

    def validate_input(self, value: Any) -> list[str]:
        texts = value if isinstance(value, list) else [value]
        if not texts or not all(isinstance(text, str) and text for text in texts):
            raise serializers.ValidationError(
                _("Send one text, or a list of texts that say something; tokens are not read here.")
            )
        texts = [_TEXT.run_validation(text) for text in texts]
        if len(texts) > MAX_INPUTS or max(map(len, texts)) > MAX_CHARACTERS:
            raise serializers.ValidationError(
                _("At most %(texts)s texts of %(characters)s characters are embedded at once.")
                % {"texts": MAX_INPUTS, "characters": MAX_CHARACTERS}
            )
        return texts
