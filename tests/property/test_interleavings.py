"""What may be read ends in some way at some moment of something that reads: nothing that was hidden then leaves after it.

Ways, kinds of reading and moments are drawn at random, another hundred each time; INTERLEAVINGS=1000 draws more, INTERLEAVINGS_SEED
repeats a run. A moment is a statement that is sent to the database, or an event that leaves.
"""

import os
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.contrib.sessions.models import Session as SignIn
from django.db import transaction
from django.test import Client
from django.utils import timezone

from agent import revocation
from agent.conversations.sessions import create_session
from agent.runs import follow
from agent.runs.start import ask_question
from authz.models import KnowledgeBaseUserGrant
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import deny_rights
from authz.tokens.api_tokens import authenticate_token
from copilot_site.lib.errors import CopilotError
from knowledge.models import Document, KnowledgeBase
from knowledge.services.access import break_inheritance
from knowledge.services.documents import move_document
from knowledge.services.removal import remove_document
from tests.factories import allow, make_folder, make_user
from tests.integration.agent.live import Live, lived
from tests.integration.agent.test_revocation import QUESTION, SECRETS, Library, Moment

pytestmark = pytest.mark.django_db

COUNT = int(os.environ.get("INTERLEAVINGS", "100"))
SEED = int(os.environ.get("INTERLEAVINGS_SEED") or random.SystemRandom().randrange(10**6))


class House(Library):
    """The library with a keeper who may move things, a folder that the reader does not see, and a sign-in of the reader."""

    def __init__(self) -> None:
        super().__init__()
        for base in self.bases.values():  # whoever may read a base is told its name, whatever became of a document
            KnowledgeBase.unscoped.filter(pk=base.pk).update(name=f"Base {base.pk}")
        self.keeper, self.attic = make_user("mover"), make_folder(self.bases["salaries"], "attic")
        for place in (self.bases["salaries"], self.attic):
            allow(self.keeper, place, *Right)
        break_inheritance(None, self.attic)
        signed_in = Client()
        signed_in.force_login(self.reader)
        self.session_key = signed_in.session.session_key or ""
        self.document_id = Document.unscoped.get(filename="salaries.md").pk

    @property
    def browser(self) -> Client:
        """A browser with the sign-in's cookie; one that was told of its end would have dropped it."""
        client = Client()
        client.cookies[settings.SESSION_COOKIE_NAME] = self.session_key
        return client

    @property
    def at_a_page(self) -> Principal:
        return Principal.of(self.reader).signed_in(self.session_key)

    @property
    def through_a_token(self) -> Principal:
        return authenticate_token(self.secret).principal

    def deny(self) -> None:
        deny_rights(None, [Right.VIEW], self.bases["salaries"], to=self.reader)

    def let_end(self) -> None:
        KnowledgeBaseUserGrant.objects.filter(user=self.reader, content_object=self.bases["salaries"]).update(
            expires_at=timezone.now() - timedelta(seconds=1)
        )

    def move_away(self) -> None:
        move_document(Principal.of(self.keeper), document_id=self.document_id, folder_id=self.attic.pk)

    def delete(self) -> None:
        remove_document(None, Document.unscoped.get(pk=self.document_id))

    def sign_out(self) -> None:
        SignIn.objects.filter(session_key=self.session_key).delete()


Way = Callable[[House], None]
Asker = Callable[[House], Principal]
ANYHOW: tuple[Way, ...] = (
    House.revoke_right, House.deny, House.let_end, House.move_away, House.delete, House.disable,
)  # fmt: skip
ENDINGS: dict[str, tuple[Asker, tuple[Way, ...]]] = {
    "a page": (lambda house: house.at_a_page, (*ANYHOW, House.sign_out)),
    "a token": (lambda house: house.through_a_token, (*ANYHOW, House.end_token)),
}
Texts = list[tuple[bool, str]]
"""What left, each with whether the moment had come."""


class Instant(Moment):
    """The k-th statement or event, whichever comes."""

    def passes(self, event: str) -> None:
        if self.has_come:
            return
        if len(self.statements) == self.k:
            self.has_come = True
            self.happens()
        self.statements.append(event)


def a_run(house: House, principal: Principal, instant: Instant) -> Texts:
    """A question from its first statement to its last event."""
    session = create_session(principal)

    async def collect() -> Texts:
        found: Texts = []
        async for event in ask_question(principal.signed_in(None), session_id=session.pk, question=QUESTION):
            found.append((instant.has_come, event.model_dump_json()))
            await sync_to_async(instant.passes)(event.response_type)
        return found

    with instant.watched():
        return async_to_sync(collect)()


def a_stream(house: House, principal: Principal, instant: Instant, *, is_over: bool = False) -> Texts:
    """A reader of a run that goes on, or of one that is over: then it is a replay.

    The run works on beside its reader: what the reader was let read before the moment may leave while it comes.
    """
    live, had_come = Live(principal, QUESTION), [False]

    def noted(look: Any) -> Any:
        def call(*args: Any) -> Any:
            had_come[0] = instant.has_come
            return look(*args)

        return call

    async def read(live: Live) -> Texts:
        if is_over:
            await live.read()
        found: Texts = []
        async for entry in live.follow():
            if entry is not None:
                found.append((had_come[0], entry.body))
                await sync_to_async(instant.passes)(entry.type)
        return found

    with instant.watched(), pytest.MonkeyPatch.context() as patched:
        for look in ("may_read_grounds", "replay_entries"):
            patched.setattr(follow, look, noted(getattr(follow, look)))
        found: Texts = lived(live, read)
    return found


def a_replay(house: House, principal: Principal, instant: Instant) -> Texts:
    return a_stream(house, principal, instant, is_over=True)


def an_export(house: House, principal: Principal, instant: Instant) -> Texts:
    """The conversation, the document with its passages and its original, one after the other, as programs and pages fetch them."""
    session = create_session(principal)

    async def asked() -> None:
        async for _event in ask_question(principal.signed_in(None), session_id=session.pk, question=QUESTION):
            pass

    async_to_sync(asked)()
    headers = {"Authorization": f"Bearer {house.secret}"} if principal.token_id else {}
    client = Client(headers=headers) if headers else house.browser
    paths = [
        f"/api/v1/sessions/{session.pk}/messages",
        f"/api/v1/documents/{house.document_id}",
        f"/api/v1/documents/{house.document_id}/chunks",
    ] + ([] if headers else [f"/chat/{session.pk}/", f"/documents/{house.document_id}/"])
    found: Texts = []
    with instant.watched():
        for path in paths:
            had_come = instant.has_come
            answer: Any = client.get(path)
            body = b"".join(answer) if answer.streaming else answer.content
            found.append((had_come, body.decode()))
            instant.passes(path)
    return found


READINGS: dict[str, Callable[[House, Principal, Instant], Texts]] = {
    "a run": a_run, "a stream": a_stream, "a replay": a_replay, "an export": an_export,
}  # fmt: skip


def once(house: House, reading: str, asker: str, way: Way | None, k: int | None) -> tuple[list[str], int]:
    """What left after the k-th moment and was hidden by then, and how many moments there were; nothing of it stays."""
    with transaction.atomic():
        principal = ENDINGS[asker][0](house)
        done: list[Way] = []

        def happens() -> None:
            assert way is not None
            way(house)
            done.append(way)

        instant = Instant(k, happens)
        try:
            texts = READINGS[reading](house, principal, instant)
        except CopilotError:  # the reader is gone: nothing left
            texts = []
        transaction.set_rollback(True)
    assert bool(done) == instant.has_come, "what was to happen did happen"
    told = [text for had_come, text in texts if had_come and any(secret in text for secret in SECRETS)]
    if way is None:
        assert any(secret in text for _come, text in texts for secret in SECRETS), (
            f"{reading}: it tells what will be hidden"
        )
    return told, len(instant.statements)


@pytest.fixture
def house() -> House:
    return House()


def drawn(house: House, count: int, chance: random.Random) -> Iterator[tuple[str, str, Way, int]]:
    """(reading, asker, way, moment), each moment one of those that the whole reading has."""
    lengths = {
        (reading, asker): once(house, reading, asker, None, None)[1] for reading in READINGS for asker in ENDINGS
    }
    for _each in range(count):
        reading, asker = chance.choice(list(lengths))
        ways = [
            way for way in ENDINGS[asker][1] if reading != "a run" or way is not House.sign_out
        ]  # it belongs to the server
        yield reading, asker, chance.choice(ways), chance.randrange(lengths[reading, asker])


def test_nothing_hidden_leaves_after_the_moment(house: House) -> None:
    chance = random.Random(SEED)
    for reading, asker, way, k in drawn(house, COUNT, chance):
        told, _count = once(house, reading, asker, way, k)
        assert told == [], f"seed {SEED}: {reading} by {asker}, {way.__name__} at moment {k}: {told[0][:200]}"


def test_without_the_looks_it_leaves(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revocation, "may_send_next_words", lambda run: True)
    monkeypatch.setattr(follow, "may_read_grounds", lambda _principal, grounds: [True for _each in grounds])
    for reading in ("a run", "a replay"):
        length = once(house, reading, "a page", None, None)[1]
        assert any(once(house, reading, "a page", House.revoke_right, k)[0] for k in reversed(range(length))), reading
