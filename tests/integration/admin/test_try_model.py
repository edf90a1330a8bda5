"""A language model is tried before it is saved."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.urls import reverse

from agent.models import LanguageModel
from agent.providers.openai_compatible import OpenAICompatible, ServedModel
from agent.service_keys import save_language_model
from audit.actions import Action
from audit.models import Entry
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff, text_of
from tests.modelserver import Step, says, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> User:
    return make_user("root", is_superuser=True)


def tried(user: User, address: str, **fields: Any) -> Any:
    given = {
        "name": "new",
        "base_url": address,
        "model": "m",
        "context_tokens": "8000",
        "price_input": "0",
        "price_output": "0",
    }
    return client_of(user).post(reverse("model-try"), {**given, "is_enabled": "on", **fields})


def test_one_that_answers_is_said_to_and_nothing_is_saved(root: User) -> None:
    with serving(says("ok")) as served:
        said = text_of(tried(root, served.base_url))
    assert "It answers" in said
    assert not LanguageModel.objects.exists()
    assert Entry.objects.get(action=Action.MODEL_TESTED).detail == {"address": served.base_url}


def test_one_whose_thinking_has_no_beginning_is_told_what_to_switch_on_and_does_not_leak(root: User) -> None:
    """Its template begins the thinking in the prompt; once that is seen, none of it is said."""
    with serving(
        says("The user wants: ok.\n</think>\n\nok"), says("He asks again.\n</think>\n\nyes", size=3)
    ) as served:
        said = text_of(tried(root, served.base_url))
        replies = async_to_sync(reply_of)(served.base_url)
    assert "--reasoning-parser" in said
    assert "It answers" in said
    assert "".join(replies) == "yes"
    with serving(says("<think>The user wants: ok.</think>ok")) as served:
        assert "--reasoning-parser" not in text_of(tried(root, served.base_url))


async def reply_of(base_url: str) -> list[str]:
    model = OpenAICompatible(ServedModel("m", base_url, "m"))
    texts = [delta.text async for delta in model.stream([{"role": "user", "content": "Again"}])]
    await model.aclose()
    return texts


def test_one_that_refuses_the_key_or_is_not_there_says_what_to_check(root: User) -> None:
    with serving(Step(status=401, body='{"error": {"message": "bad key"}}')) as served:
        assert "check the key and the name of the model" in text_of(tried(root, served.base_url, api_key="wrong"))
    assert "does not answer at this address" in text_of(tried(root, "http://127.0.0.1:9/v1"))
    assert "This is no address" in text_of(tried(root, "nowhere"))


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """A service that refuses everybody: its address, and the keys that came."""
    came: list[str] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came.append(self.headers.get("Authorization", ""))
            self.send_error(401)

        def log_message(self, *_args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_stored_key_is_tried_at_its_own_address_alone(root: User) -> None:
    with listening() as (own, at_own), listening() as (other, at_other):
        row = LanguageModel(name="stored", base_url=own, model="m")
        save_language_model(None, row, key="the-secret-key")
        tried(root, own, name="stored", id=str(row.pk))
        tried(root, other, name="stored", id=str(row.pk))
    assert at_own == ["Bearer the-secret-key"]
    assert at_other
    assert "the-secret-key" not in str(at_other)
    assert LanguageModel.objects.get().base_url == own


def test_only_administrators_of_the_system_try_models() -> None:
    for person, status in ((staff("sam"), 403), (make_user("clara"), 302)):
        assert tried(person, "http://127.0.0.1:9/v1").status_code == status
    assert not Entry.objects.filter(action=Action.MODEL_TESTED).exists()


def test_the_first_one_is_asked_where_nobody_chooses_and_the_next_one_is_not(root: User) -> None:
    """Saved as the form comes, it writes the answers; another one does not take its place by itself."""
    address, client = reverse("admin:agent_languagemodel_add"), client_of(root)
    assert client.get(address).context["adminform"].form["is_default"].initial is True
    LanguageModel.objects.create(name="large", base_url="https://models.example.com/v1", model="large", is_default=True)
    assert client.get(address).context["adminform"].form["is_default"].initial is False
