"""What programs send that were written for OpenAI's API. What steers a model (temperature, tools, a system message) is not obeyed here."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

MOST_MESSAGES = 400
MOST_INPUTS = 64
MOST_CHARACTERS = 8_000  # of one text to embed: more than any embedder reads of it


class OpenAIInput(serializers.Serializer[Any]):
    """Typed fields out of a body; names that are not read are passed over, because each client sends others."""

    @classmethod
    def checked(cls, data: Any) -> dict[str, Any]:
        """Raises ValidationError, naming the field."""
        given = cls(data=data)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)


_TEXT = serializers.CharField(allow_blank=True, trim_whitespace=False)


@extend_schema_field(OpenApiTypes.ANY)
class Content(serializers.Field[str, Any, str, Any]):
    """The text of a message: one, or the parts of one. What is no text is refused."""

    def to_internal_value(self, data: Any) -> str:
        parts = data if isinstance(data, list) else [{"type": "text", "text": data}]
        texts = [
            part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None for part in parts
        ]
        if not all(isinstance(text, str) for text in texts):
            raise serializers.ValidationError(_("Send text: pictures, sound and files are not read here."))
        return str(_TEXT.run_validation("\n".join(map(str, texts))))

    def to_representation(self, value: str) -> str:
        return value


class ChatMessage(OpenAIInput):
    role = serializers.ChoiceField(choices=("system", "developer", "user", "assistant", "tool", "function"))
    content = Content(required=False, allow_null=True, default="")


class StreamOptions(OpenAIInput):
    include_usage = serializers.BooleanField(required=False, default=False)


class ChatCompletionRequest(OpenAIInput):
    """questions: what people asked, in order; the last one is to be answered."""

    model = serializers.CharField(max_length=200)
    messages = serializers.ListField(child=ChatMessage(), max_length=MOST_MESSAGES, allow_empty=False)
    stream = serializers.BooleanField(required=False, default=False)
    stream_options = StreamOptions(required=False, allow_null=True, default=None)
    n = serializers.IntegerField(required=False, allow_null=True, default=1, min_value=1, max_value=1)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        messages = attrs["messages"]
        questions = [each["content"] or "" for each in messages if each["role"] == "user"]
        if messages[-1]["role"] != "user" or not questions[-1].strip():
            raise serializers.ValidationError(
                {"messages": _("The last message must be a question of the role “user”.")}
            )
        return {**attrs, "questions": questions}


class EmbeddingRequest(OpenAIInput):
    model = serializers.CharField(max_length=200)
    input = serializers.JSONField()
    encoding_format = serializers.ChoiceField(choices=("float", "base64"), required=False, default="float")
    dimensions = serializers.IntegerField(required=False, allow_null=True, default=None)

    def validate_input(self, value: Any) -> list[str]:
        texts = value if isinstance(value, list) else [value]
        if not texts or not all(isinstance(text, str) and text for text in texts):
            raise serializers.ValidationError(_("Send one text, or a list of texts that say something."))
        texts = [_TEXT.run_validation(text) for text in texts]
        if len(texts) > MOST_INPUTS or max(map(len, texts)) > MOST_CHARACTERS:
            raise serializers.ValidationError(
                _("At most %(texts)s texts of %(characters)s characters are embedded at once.")
                % {"texts": MOST_INPUTS, "characters": MOST_CHARACTERS}
            )
        return texts
