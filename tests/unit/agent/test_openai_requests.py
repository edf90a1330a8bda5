"""What programs send that were written for OpenAI's API: null for what they leave out, and pictures of earlier turns."""

from typing import Any

import pytest
from rest_framework.serializers import ValidationError

from agent.openai_api.requests import (
    ChatCompletionRequest,
    ChatMessage,
    EmbeddingRequest,
    InputItem,
    OpenAIInput,
    ResponseRequest,
    StreamOptions,
)

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
SHOWN = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]}
ANSWERED = {"role": "assistant", "content": "A door."}
ASKED = {"role": "user", "content": "How much leave is there?"}
MIN: list[tuple[type[OpenAIInput], dict[str, Any]]] = [
    (ChatCompletionRequest, {"model": "copilot", "messages": [ASKED]}),
    (ResponseRequest, {"model": "copilot", "input": "How much?"}),
    (EmbeddingRequest, {"model": "e", "input": "text"}),
    (ChatMessage, {"role": "user"}),
    (InputItem, {"role": "user"}),
    (StreamOptions, {}),
]


def test_null_means_left_out_whatever_the_field() -> None:
    for form, least in MIN:
        optional = {name for name, field in form().fields.items() if not field.required}
        assert optional, form
        nulls = dict.fromkeys([*optional, "temperature", "user", "type"])
        assert form.checked({**least, **nulls}) == form.checked(least)


def test_null_inside_of_a_form_is_left_out_too() -> None:
    chat = MIN[0][1]
    assert ChatCompletionRequest.checked({**chat, "response_format": {"type": None}})
    assert ResponseRequest.checked({**MIN[1][1], "text": {"format": {"type": None}}})


@pytest.mark.parametrize(("form", "name"), [(ChatCompletionRequest, "messages"), (ResponseRequest, "input")])
def test_a_conversation_goes_on_behind_a_picture(form: type[OpenAIInput], name: str) -> None:
    bare = {"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}
    given = form.checked({"model": "copilot", name: [SHOWN, ANSWERED, bare, ANSWERED, ASKED]})
    assert given["questions"] == ["What is this?", "", "How much leave is there?"]


@pytest.mark.parametrize(("form", "name"), [(ChatCompletionRequest, "messages"), (ResponseRequest, "input")])
def test_a_picture_in_the_question_itself_is_refused(form: type[OpenAIInput], name: str) -> None:
    with pytest.raises(ValidationError, match="Send text: pictures"):
        form.checked({"model": "copilot", name: [ASKED, ANSWERED, SHOWN]})


@pytest.mark.parametrize("content", [17, [17], [{"text": "a"}], [{"type": "text", "text": 17}]])
def test_what_is_no_content_is_refused_in_earlier_turns_too(content: Any) -> None:
    with pytest.raises(ValidationError, match="Send text"):
        ChatCompletionRequest.checked({"model": "copilot", "messages": [{"role": "user", "content": content}, ASKED]})


def test_what_a_model_thought_is_passed_over() -> None:
    thought: dict[str, object] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None}
    given = ResponseRequest.checked({"model": "copilot", "input": [SHOWN, thought, ANSWERED, ASKED]})
    assert given["questions"] == ["What is this?", "How much leave is there?"]
    with pytest.raises(ValidationError, match="input"):
        ResponseRequest.checked({"model": "copilot", "input": [thought]})


@pytest.mark.parametrize(("form", "name"), [(ChatCompletionRequest, "messages"), (ResponseRequest, "input")])
def test_a_refusal_of_an_earlier_answer_is_passed_over(form: type[OpenAIInput], name: str) -> None:
    refused = {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]}
    given = form.checked({"model": "copilot", name: [ASKED, {**refused, "refusal": "I cannot."}, ASKED]})
    assert given["questions"] == ["How much leave is there?"] * 2
