"""A language model is tried before it is saved."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.urls import reverse

from agent.connections.service_keys import save_language_model
from agent.models import LanguageModel
from agent.providers.openai_compatible import OpenAICompatible, ServedModel
from audit.actions import Action
from audit.models import Entry
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff, text_of
from tests.modelserver import Request, Step, calls, says, says_json, serving

pytestmark = pytest.mark.django_db
NUMBERS = {"context_tokens": "8000", "price_input": "0", "price_output": "0"}


@pytest.fixture
def root() -> User:
    return make_user("root", is_superuser=True)


def tried(user: User, address: str, check: str = "answers", **fields: Any) -> Any:
    given = {"name": "new", "base_url": address, "model": "m", **NUMBERS, "check": check}
    return client_of(user).post(reverse("model-try"), {**given, "is_enabled": "on", **fields})


def able(request: Request) -> Step:
    """A service that can do everything."""
    if names := [tool["function"]["name"] for tool in request.get("tools", [])]:
        return calls((names[0], {"a": 17, "b": 25}))
    if "response_format" in request:
        return says_json({"country": "France", "capital": "Paris"})
    return Step([{"reasoning_content": "Twenty."}, {"content": "1 2 3"}, {"content": " 4 5"}])


def unable(request: Request) -> Step:
    """One that refuses tools and every form, and answers in one piece."""
    return Step(status=400) if {"tools", "response_format"} & set(request) else says("no", size=9)


def works(user: User, choose: Callable[[Request], Step]) -> list[str]:
    """What the page says after each check, as the page asks for them."""
    told, check = [], "answers"
    with serving(chooses=choose) as served:
        while check:
            page = tried(user, served.base_url, check).content.decode()
            told.append(" · ".join(re.findall(r"<span>(.*?)</span>", page)))
            check = re.search(r'data-next="(\w*)"', page)[1]  # type: ignore[index]
    return [re.sub(r"\d+\.\d s", "0 s", item) for item in told]


def test_each_check_adds_what_works_to_one_line_and_nothing_is_saved(root: User) -> None:
    assert works(root, able) == [
        "First word 0 s · Streaming · Reasoning · JSON…",
        "First word 0 s · Streaming · Reasoning · JSON · Tools…",
        "First word 0 s · Streaming · Reasoning · JSON · Tools",
    ]
    assert works(root, unable)[-1] == "First word 0 s · No streaming · No reasoning · No JSON · No tools"
    assert not LanguageModel.objects.exists()
    assert [entry.detail["check"] for entry in Entry.objects.filter(action=Action.MODEL_TESTED).order_by("pk")] == [
        "answers", "json", "tools",
    ] * 2  # fmt: skip


def test_one_whose_thinking_has_no_beginning_is_told_what_to_switch_on_and_does_not_leak(root: User) -> None:
    """Its template begins the thinking in the prompt; once that is seen, none of it is said."""
    with serving(
        says("The user wants: ok.\n</think>\n\nok"), says("He asks again.\n</think>\n\nyes", size=3)
    ) as served:
        said = text_of(tried(root, served.base_url))
        replies = async_to_sync(reply_of)(served.base_url)
    assert "--reasoning-parser" in said
    assert "First word" in said
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
    assert "Nothing answers at this address" in text_of(tried(root, "http://127.0.0.1:9/v1"))
    assert "This is not an address" in text_of(tried(root, "nowhere"))


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
