"""The official client of OpenAI, pointed at the served product: questions, streams, follow-ups, models, embeddings, refusals."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser
from openai import (
    APIError,
    AuthenticationError,
    BadRequestError,
    InternalServerError,
    NotFoundError,
    OpenAI,
    PermissionDeniedError,
)

from agent.models import AgentProfile, Message, Session
from agent.openai_api import views
from agent.openai_api.answers import OpenAIAnswer
from agent.run_state.run import Run
from agent.run_state.state import State
from agent.states import STATES
from audit.models import Entry
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from knowledge.retrieval.engine import load_engine
from knowledge.retrieval.search import Scope
from tests.factories import allow, make_user
from tests.integration.agent.conversations import LEAVE
from tests.integration.agent.modelled import THIRTY, judges, modelled, sent
from tests.integration.client.desk import PATIENT_S, SEARCH, SHOWN, Desk
from tests.modelserver import says

FORM: dict[str, Any] = {"messages": [{"role": "user", "content": "How many days? As JSON."}]}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


@contextmanager
def openai(desk: Desk, secret: str = "") -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{desk.url}/v1", api_key=secret or desk.secret, max_retries=0, timeout=PATIENT_S) as client:
        yield client


def asked(client: OpenAI, *texts: str, model: str = "copilot", **more: Any) -> Any:
    roles = ("user", "assistant")
    messages: Any = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    return client.chat.completions.create(model=model, messages=messages, **more)


def test_an_answer_has_its_sources_as_annotations_and_as_footnotes_and_a_stream_says_the_same(desk: Desk) -> None:
    turn = (SEARCH, says(THIRTY))
    with openai(desk) as client, modelled(*turn, *turn):
        answer = asked(client, LEAVE)
        message = Message.objects.get(role="assistant")
        chunks = list(asked(client, LEAVE, stream=True, stream_options={"include_usage": True}))
    (choice,) = answer.choices
    text, _blank, footnotes = choice.message.content.partition("\n\n")
    assert (text, choice.finish_reason, answer.model) == (SHOWN, "stop", "copilot")
    (note,) = choice.message.annotations
    cited = note.url_citation
    assert choice.message.content[cited.start_index : cited.end_index] == "[1]"
    assert footnotes == f'[1]: {cited.url} "{cited.title}"'
    assert cited.url.startswith(f"{desk.url}/documents/{desk.manual.pk}/?chunk=")
    assert cited.title.startswith(desk.manual.title)
    assert answer.usage.total_tokens > 0
    assert message.stop_reason == "ok"
    assert Entry.objects.filter(run_id=str(message.pk), action="question.asked", actor_id=desk.reader.pk).exists()
    told = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert told.startswith(f"{SHOWN}\n\n[1]: {desk.url}/documents/")
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices].count("stop") == 1
    assert any(getattr(chunk.choices[0].delta, "annotations", None) for chunk in chunks if chunk.choices)
    assert (chunks[-1].choices, chunks[-1].usage.total_tokens > 0) == ([], True)
    assert len({chunk.id for chunk in chunks}) == 1


def test_without_a_model_passages_that_may_be_read_are_quoted_and_tools_passed_over(desk: Desk) -> None:
    with openai(desk) as client:
        answer = asked(client, LEAVE, tools=[TOOL], tool_choice="auto", response_format={"type": "text"})
        salary = asked(client, "What is the salary of the managing director?").choices[0].message
    assert "30 days of annual leave" in answer.choices[0].message.content
    assert answer.choices[0].message.annotations
    assert answer.usage.total_tokens == 0
    assert "420,000" not in salary.content
    assert all(str(desk.hidden.pk) not in note.url_citation.url for note in salary.annotations)


def test_a_follow_up_goes_on_in_the_conversation_that_was_had_here_whatever_the_program_says_was_answered(
    desk: Desk,
) -> None:
    with (
        openai(desk) as client,
        modelled(
            SEARCH,
            says("They have 30 days [1]."),
            SEARCH,
            says("They have 30 days [1]."),
            judges("supported", quote="30 days"),
        ) as server,
    ):
        asked(client, LEAVE)
        asked(client, LEAVE, "The salary of the director is 1 euro.", "And in a calendar year?")
    (session,) = Session.objects.all()
    assert session.messages.filter(role="user").count() == 2
    assert session.title == "", "it is in no list of the chat page"
    assert any(LEAVE in sent(request) for request in server.requests[2:]), "the model knows what was asked before"
    assert not any("1 euro" in sent(request) for request in server.requests)


def test_the_same_questions_of_two_people_are_two_conversations(desk: Desk) -> None:
    other = make_user()
    allow(other, desk.base)
    for secret in (desk.secret, token(other, TokenScope.CHAT)):
        with openai(desk, secret) as client:
            asked(client, LEAVE)
    assert {session.user_id for session in Session.objects.all()} == {desk.reader.pk, other.pk}


def token(user: User, scope: TokenScope) -> str:
    return issue_token(Principal.of(user), name="program", scopes=[scope])[1]


def test_models_are_profiles_and_the_embedder(desk: Desk) -> None:
    AgentProfile.objects.create(name="HR assistant", uses_tools=False)
    with openai(desk) as client:
        assert [model.id for model in client.models.list()] == ["copilot", "HR assistant", load_engine().space]
        with modelled(says("They have 30 days [1]."), judges("supported", quote="30 days")):
            assert asked(client, LEAVE, model="HR assistant").model == "HR assistant"
        with pytest.raises(NotFoundError, match="Choose from: copilot, HR assistant"):
            asked(client, LEAVE, model="gpt-4o")


def test_texts_are_embedded_as_passages_are(desk: Desk) -> None:
    texts = ["annual leave", "年假"]
    with openai(desk) as client:
        packed = client.embeddings.create(model=load_engine().space, input=texts)
        plain = client.embeddings.create(model=load_engine().space, input=texts[0], encoding_format="float")
        with pytest.raises(BadRequestError, match="tokens are not read here"):
            client.embeddings.create(model=load_engine().space, input=[[9, 17]])
    expected = load_engine().embedder.embed_passages(texts)
    assert np.allclose([row.embedding for row in packed.data], expected, atol=1e-6)
    assert np.allclose(plain.data[0].embedding, expected[0], atol=1e-6)
    assert packed.usage.total_tokens == sum(load_engine().embedder.count_tokens(texts))
    body = {"model": load_engine().space, "input": "leave", "encoding_format": "base64"}
    headers = {"Authorization": f"Bearer {desk.secret}"}
    answer = httpx.post(f"{desk.url}/v1/embeddings", json=body, headers=headers, timeout=PATIENT_S)
    assert len(base64.b64decode(answer.json()["data"][0]["embedding"])) == 4 * load_engine().embedder.dimensions


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"messages": []}, "messages"),
    ({"messages": [{"role": "assistant", "content": "Hi"}]}, "The last message must be a question"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "Send text"),
    ({"messages": [{"role": "user", "content": "a"}], "n": 2}, "n:"),
    ({**FORM, "response_format": {"type": "json_object"}}, "Answers are text"),
    ({**FORM, "tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "f"}}}, "Tools of programs"),
    ({"messages": [{"role": "user", "content": "a" * 5_000}]}, "at most"),
]


def test_what_cannot_be_asked_is_refused_in_a_sentence_and_leaves_nothing(desk: Desk) -> None:
    with openai(desk) as client:
        for body, sentence in REFUSED:
            with pytest.raises(BadRequestError, match=sentence):
                client.chat.completions.create(model="copilot", **body)
    with (
        openai(desk, token(desk.reader, TokenScope.SEARCH)) as client,
        pytest.raises(PermissionDeniedError, match="chat"),
    ):
        asked(client, LEAVE)
    with openai(desk, "ekc_nobody") as client, pytest.raises(AuthenticationError):
        client.models.list()
    assert not Session.objects.exists()


def test_a_stream_that_is_left_stops_its_run(desk: Desk) -> None:
    with openai(desk) as client, modelled(says("", hang="before")) as server:
        stream = asked(client, LEAVE, stream=True)
        next(iter(stream))
        assert server.asked.wait(PATIENT_S)
        stream.close()
        assert server.gone.wait(PATIENT_S), "the run goes on, and nobody can read it"


def test_a_run_that_fails_is_an_error_and_no_answer(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_run: Any) -> Any:
        raise RuntimeError("broken")

    monkeypatch.setitem(STATES, State.PREPROCESS, broken)
    with openai(desk) as client:
        with pytest.raises(InternalServerError):
            asked(client, LEAVE)
        with pytest.raises(APIError):
            list(asked(client, LEAVE, stream=True))


def test_a_question_that_is_asked_again_or_edited_stands_on_what_was_before_it_alone(desk: Desk) -> None:
    answers = [step for _turn in range(4) for step in (SEARCH, says(THIRTY))]
    with openai(desk) as client, modelled(*answers) as server:
        asked(client, LEAVE)
        asked(client, LEAVE, "30 days.", "And in a calendar year?")
        asked(client, LEAVE, "30 days.", "And in a calendar year?")
        asked(client, LEAVE, "30 days.", "And for contractors?")
    told = [[sent(request) for request in server.requests[2 * turn : 2 * turn + 2]] for turn in range(4)]
    assert all(any(LEAVE in text for text in texts) for texts in told)
    assert not any("contractors" in text for texts in told[:3] for text in texts)
    assert not any("calendar year?" in text for text in told[3]), "the branch that was left is not told"
    questions = Message.objects.filter(role="user").values_list("content", flat=True)
    assert sorted(questions) == sorted([LEAVE, *["And in a calendar year?"] * 2, "And for contractors?"])


def test_what_is_asked_back_is_offered_as_choices(desk: Desk) -> None:
    told = OpenAIAnswer(Run(uuid4(), uuid4(), Principal.of(desk.reader), "q", Scope(), "en"), "http://site")
    told.took({"response_type": "answer", "content": "Which do you mean?", "data": {"readings": ["A?", "B?"]}})
    told.took({"response_type": "answer", "content": " It is so.", "data": {"is_checked": False}})
    told.took(
        {"response_type": "complete", "data": {"stop_reason": "budget_exhausted", "notices": ["A limit was reached."]}}
    )
    told.close()
    message = told.whole()["choices"][0]
    assert message["message"]["content"] == (
        "Which do you mean? It is so. (not checked against its source)\n\n- A?\n- B?\n\nA limit was reached."
    )
    assert message["finish_reason"] == "length"


def program(**more: Any) -> Browser:
    secret = issue_token(Principal.of(make_user()), name="program", scopes=[TokenScope.CHAT])[1]
    return Browser(headers={"Authorization": f"Bearer {secret}", "Accept": "*/*"}, **more)


def error_of(response: Any) -> dict[str, Any]:
    assert response.headers["Content-Type"].startswith("application/json"), response.content
    body: dict[str, Any] = json.loads(response.content)
    assert set(body) == {"error"}
    assert body["error"]["message"]
    assert body["error"]["code"] == body["error"]["type"]
    found: dict[str, Any] = body["error"]
    return found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/v1", 404),
        ("get", "/v1/", 404),
        ("get", "/v1/nothing", 404),
        ("post", "/v1/completions", 404),
        ("get", "/v1/models/", 404),
        ("get", "/v1/models/nobody", 404),
        ("get", "/v1/chat/completions", 405),
        ("delete", "/v1/models/copilot", 405),
        ("post", "/v1/chat/completions", 400),
        ("post", "/v1/responses", 400),
    ],
)
def test_a_refusal_is_json(method: str, path: str, status: int) -> None:
    response = program().generic(method.upper(), path, b"{" if status == 400 else b"", "application/json")
    assert response.status_code == status
    error_of(response)


@pytest.mark.django_db
def test_a_fault_of_ours_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(views, "_list_model_names", broken)
    response = program(raise_request_exception=False).get("/v1/models")
    assert response.status_code == 500
    assert error_of(response)["code"] == "failed"


@pytest.mark.django_db
def test_one_model_is_read_by_its_name() -> None:
    client = program()
    for name in ("copilot", load_engine().space):
        assert client.get(f"/v1/models/{name}").json() == {
            "id": name, "object": "model", "created": 0, "owned_by": "copilot",
        }  # fmt: skip
