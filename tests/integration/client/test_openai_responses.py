"""`/v1/responses`, read by the official client of OpenAI: whole answers, events, what goes before, what is refused."""

from typing import Any

import pytest
from openai import BadRequestError, InternalServerError, NotFoundError, PermissionDeniedError

from agent.models import Message, Session
from agent.run_state.state import State
from agent.states import STATES
from audit.models import Entry
from authz.scopes import TokenScope
from tests.factories import allow, make_user
from tests.integration.agent.conversations import LEAVE
from tests.integration.agent.modelled import THIRTY, modelled, sent
from tests.integration.client.desk import SEARCH, SHOWN, Desk
from tests.integration.client.test_openai_clients import openai, token
from tests.modelserver import says

TURN = (SEARCH, says(THIRTY))


def notes_of(answer: Any) -> list[Any]:
    """The annotations of the one message of an answer."""
    (message,) = answer.output
    return list(message.content[0].annotations)


def test_an_answer_is_text_with_its_sources_and_says_what_it_cost(desk: Desk) -> None:
    with openai(desk) as client, modelled(*TURN):
        answer = client.responses.create(model="copilot", input=LEAVE)
    assert (answer.status, answer.model, answer.error) == ("completed", "copilot", None)
    text, _blank, footnotes = answer.output_text.partition("\n\n")
    assert text == SHOWN
    (note,) = notes_of(answer)
    assert note.type == "url_citation"
    assert answer.output_text[note.start_index : note.end_index] == "[1]"
    assert note.url.startswith(f"{desk.url}/documents/{desk.manual.pk}/?chunk=")
    assert footnotes == f'[1]: {note.url} "{note.title}"'
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens > 0
    row = Message.objects.get(role="assistant")
    assert answer.id == f"resp_{row.pk.hex}"
    assert Entry.objects.filter(run_id=str(row.pk), action="question.asked", actor_id=desk.reader.pk).exists()


def test_the_events_of_a_stream_say_the_same_and_the_client_puts_them_together(desk: Desk) -> None:
    with openai(desk) as client, modelled(*TURN), client.responses.stream(model="copilot", input=LEAVE) as stream:
        events = list(stream)
        final = stream.get_final_response()
    kinds = [event.type for event in events]
    assert kinds[:4] == [
        "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
    ]  # fmt: skip
    assert kinds[-5:] == [
        "response.output_text.annotation.added", "response.output_text.done", "response.content_part.done",
        "response.output_item.done", "response.completed",
    ]  # fmt: skip
    assert [event.sequence_number for event in events] == list(range(len(events)))
    deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert deltas == final.output_text
    assert deltas.startswith(SHOWN)
    (note,) = notes_of(final)
    assert note.url.startswith(f"{desk.url}/documents/{desk.manual.pk}/")
    assert final.usage is not None
    assert final.usage.total_tokens > 0


def test_the_answer_before_is_named_and_the_conversation_goes_on(desk: Desk) -> None:
    with openai(desk) as client, modelled(*TURN, *TURN) as server:
        first = client.responses.create(model="copilot", input=LEAVE)
        client.responses.create(model="copilot", input="And in a year?", previous_response_id=first.id)
    (session,) = Session.objects.all()
    assert session.messages.filter(role="user").count() == 2
    later = server.requests[len(TURN) :]
    assert any(LEAVE in sent(request) for request in later), "the model knows what was asked before"


def test_a_conversation_that_is_sent_whole_goes_on_and_its_answers_are_not_believed(desk: Desk) -> None:
    with openai(desk) as client, modelled(*TURN, *TURN) as server:
        first = client.responses.create(model="copilot", input=LEAVE)
        said: Any = [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": LEAVE}]},
            first.output[0].to_dict() | {"content": [{"type": "output_text", "text": "One euro."}]},
            {"role": "user", "content": "And in a year?"},
        ]
        client.responses.create(model="copilot", input=said)
    assert Session.objects.count() == 1
    assert not any("One euro" in sent(request) for request in server.requests)


def test_nobody_goes_on_after_the_answer_of_another_person(desk: Desk) -> None:
    other = make_user()
    allow(other, desk.base)
    secret = token(other, TokenScope.CHAT)
    with openai(desk) as client, openai(desk, secret) as stranger:
        first = client.responses.create(model="copilot", input=LEAVE)
        question = Message.objects.get(role="user")
        told = []
        for before in (first.id, f"resp_{'0' * 32}", "resp_x", f"resp_{question.pk.hex}"):
            with pytest.raises(NotFoundError, match="There is no such answer") as refused:
                stranger.responses.create(model="copilot", input="And then?", previous_response_id=before)
            told.append(refused.value.message)
        with pytest.raises(NotFoundError, match="There is no such answer"):
            client.responses.create(model="copilot", input="And?", previous_response_id=f"resp_{question.pk.hex}")
    assert len(set(told)) == 1
    assert Message.objects.count() == 2


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"input": []}, "input"),
    ({"input": "  "}, "The last message must be a question"),
    ({"input": [{"type": "function_call_output", "call_id": "1", "output": "x"}]}, "Send messages"),
    ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "Send text"),
    ({"text": {"format": {"type": "json_schema", "name": "a", "schema": {}}}}, "Answers are text"),
    ({"tools": [{"type": "web_search"}]}, "tools: This is not offered here"),
    ({"tool_choice": "required"}, "Tools of programs are not called here"),
    ({"background": True}, "background: This is not offered here"),
    ({"conversation": "conv_1"}, "conversation: This is not offered here"),
    ({"prompt": {"id": "p"}}, "prompt: This is not offered here"),
]


def test_what_is_not_offered_is_refused_in_a_sentence_and_leaves_nothing(desk: Desk) -> None:
    with openai(desk) as client:
        for body, sentence in REFUSED:
            with pytest.raises(BadRequestError, match=sentence):
                client.responses.create(**{"model": "copilot", "input": LEAVE, **body})
    with (
        openai(desk, token(desk.reader, TokenScope.SEARCH)) as client,
        pytest.raises(PermissionDeniedError, match="chat"),
    ):
        client.responses.create(model="copilot", input=LEAVE)
    assert not Session.objects.exists()


def test_a_run_that_fails_is_an_error_or_ends_the_stream_as_failed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_run: Any) -> Any:
        raise RuntimeError("broken")

    monkeypatch.setitem(STATES, State.PREPROCESS, broken)
    with openai(desk) as client:
        with pytest.raises(InternalServerError):
            client.responses.create(model="copilot", input=LEAVE)
        events = list(client.responses.create(model="copilot", input=LEAVE, stream=True))
    last: Any = events[-1]
    assert last.type == "response.failed"
    assert (last.response.status, last.response.output) == ("failed", [])
    assert last.response.error.message
