"""A right ends at every single moment of a run: no byte of what it hid leaves in work begun afterwards.

The moments are the statements a run sends to the database and the events it yields: whatever pauses between two of them (the search,
the reranker, a model, a delta, a citation) lies between two of these. Before the k-th the right is taken back, for every k.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.db import connection, transaction

from agent import revocation
from agent.conversations.sessions import create_session, list_branch_messages
from agent.events import Event
from agent.models import Session
from agent.runs.start import ask_question
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from authz.tokens.api_tokens import authenticate_token, issue_token, revoke_token
from knowledge.models import KnowledgeBase
from knowledge.retrieval.search import search
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.modelled import modelled, sent
from tests.integration.pages.house import client_of
from tests.modelserver import Request, Step, calls, says
from tests.sharing import Share

pytestmark = pytest.mark.django_db

SECRETS = ("420,000", "salaries")  # of the document that is hidden: its text and its title
LINES = {
    "manual": "The notice period of the director is four weeks.",
    "salaries": "The notice period of the director costs 420,000 euros.",
}
QUESTION = "What is the notice period of the director?"
LEFT_OUT = "Your access changed while this was answered; parts that depended on it were left out."


class Library:
    """A reader who may read two bases, and what the second one hides when the right on it ends."""

    def __init__(self) -> None:
        self.reader: User = make_user("reader")
        self.bases: dict[str, KnowledgeBase] = {}
        for name, text in LINES.items():
            self.bases[name] = make_base(name)
            make_document(self.bases[name], f"{name}.md", f"# {name}\n\n{text}\n", ingested=True)
            allow(self.reader, self.bases[name])
        self.token, self.secret = issue_token(Principal.of(self.reader), name="script")

    def revoke_right(self) -> None:
        revoke_rights(None, [Right.VIEW], self.bases["salaries"], of=self.reader)

    def disable(self) -> None:
        User.objects.filter(pk=self.reader.pk).update(is_active=False)

    def end_token(self) -> None:
        revoke_token(Principal.of(self.reader), token_id=self.token.pk)


WAYS: dict[str, Callable[[Library], None]] = {
    "the right ends": Library.revoke_right,
    "the account is disabled": Library.disable,
    "the token is revoked": Library.end_token,
}


@pytest.fixture(scope="module")
def shared_library(share: Share) -> Callable[[], Library]:
    return share(Library)


@pytest.fixture
def library(shared_library: Callable[[], Library], db: None) -> Library:
    return shared_library()


class Moment:
    """Runs `happens` before the k-th statement that is sent while it watches; k is None to count only."""

    def __init__(self, k: int | None, happens: Callable[[], None]) -> None:
        self.k, self.happens = k, happens
        self.statements: list[str] = []
        self.has_come = False

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if self.has_come or sql.startswith(("SAVEPOINT", "RELEASE", "ROLLBACK")):
            return execute(sql, params, many, context)
        if len(self.statements) == self.k:
            self.has_come = True
            self.happens()
        self.statements.append(sql)
        return execute(sql, params, many, context)

    @contextmanager
    def watched(self) -> Iterator[None]:
        with connection.execute_wrapper(self):
            yield


def run(principal: Principal, moment: Moment, session: Session) -> list[tuple[bool, Event]]:
    """Ask; each event with whether the moment had come when it left."""

    async def collect() -> list[tuple[bool, Event]]:
        return [
            (moment.has_come, event)
            async for event in ask_question(principal, session_id=session.pk, question=QUESTION)
        ]

    with moment.watched():
        return async_to_sync(collect)()


def told(events: list[tuple[bool, Event]]) -> list[str]:
    """What left after the moment and should not have."""
    after = [event.model_dump_json() for has_come, event in events if has_come]
    return [text for text in after if any(secret in text for secret in SECRETS)]


Moments = Callable[[Moment], list[int]]


def leaks(library: Library, way: str, moments: Moments) -> list[str]:
    """The moments of a run at which the change came too late for something that left after it."""
    principal = Principal.of(library.reader)
    if way == "the token is revoked":
        principal = authenticate_token(library.secret).principal
    found = []
    whole = once(library, way, principal, None)
    assert whole.has_come is False
    for k in moments(whole):
        moment = once(library, way, principal, k)
        if moment.told:
            found.append(f"before statement {k}, {moment.statements[k][:80]}: {moment.told[0][:200]}")
    assert len(whole.statements) > 20, "a run that was watched to its end"
    return found


def every_moment(whole: Moment) -> list[int]:
    return list(range(len(whole.statements)))


def after_reading(whole: Moment) -> list[int]:
    """The moments right after passages were read or looked at: between two of these nothing more is known than was."""
    reads = [k for k, sql in enumerate(whole.statements) if 'FROM "knowledge_chunk"' in sql or looks_again(sql)]
    assert len(reads) > 1
    return [k + 1 for k in reads if k + 1 < len(whole.statements)]


def first_and_last(whole: Moment) -> list[int]:
    """Of the moments after each statement that reads passages, the first and the last."""
    places: dict[str, list[int]] = {}
    for k in after_reading(whole):
        places.setdefault(whole.statements[k - 1], []).append(k)
    return sorted({place for found in places.values() for place in (found[0], found[-1])})


class Watched(Moment):
    told: list[str]


def once(library: Library, way: str, principal: Principal, k: int | None) -> Watched:
    moment = Watched(k, lambda: WAYS[way](library))
    with transaction.atomic():
        events = run(principal, moment, create_session(principal))
        if k is None:
            text = "".join(event.model_dump_json() for _come, event in events)
            assert all(secret in text for secret in SECRETS), "the answer stands on what will be hidden"
        moment.told = told(events)
        transaction.set_rollback(True)
    return moment


def test_nothing_leaves_that_may_not_be_read_any_more(library: Library) -> None:
    for way in WAYS:
        assert leaks(library, way, after_reading if way == "the right ends" else first_and_last) == []


def test_at_no_statement_of_a_run_anything_leaves_that_may_not_be_read_any_more(library: Library) -> None:
    for way in WAYS:
        assert leaks(library, way, every_moment if way == "the right ends" else after_reading) == []


@pytest.mark.parametrize("moments", [first_and_last, after_reading])
def test_with_a_model_nothing_hidden_leaves_or_is_sent_to_it(library: Library, moments: Moments) -> None:
    """The same with a model behind HTTP: neither the stream nor a request made after the moment says what was hidden."""
    principal = Principal.of(library.reader)
    earlier = create_session(principal)
    run(principal, Moment(None, lambda: None), earlier)
    whole = modelled_once(library, principal, earlier, None)
    assert any("420,000" in text for text in whole.requests), "the model is shown what will be hidden"
    assert all("420,000" in whole.streamed[kind] for kind in ("tool_result", "references", "answer")), (
        "and so is the person"
    )
    late = []
    for k in moments(whole):
        moment = modelled_once(library, principal, earlier, k)
        late += [f"before statement {k}: {text[:200]}" for text in moment.told]
    assert late == []


class Modelled(Watched):
    requests: list[str]
    streamed: dict[str, str]


def modelled_once(library: Library, principal: Principal, session: Session, k: int | None) -> Modelled:
    """A follow-up, so that an earlier answer is told, answered by a model that searches, looks, and writes."""
    moment = Modelled(k, library.revoke_right)
    moment.requests, to_model = [], []

    def choose(request: Request) -> Step:
        text = sent(request)
        moment.requests.append(text)
        if moment.has_come and any(secret in text for secret in SECRETS):
            to_model.append(f"to the model: {text}")
        return SCRIPT[min(len(moment.requests), len(SCRIPT)) - 1]

    with transaction.atomic(), modelled(chooses=choose):
        events = run(principal, moment, session)
        moment.told = [*told(events), *to_model]
        moment.streamed = {}
        for _come, event in events:
            before = moment.streamed.get(event.response_type, "")
            moment.streamed[event.response_type] = before + event.model_dump_json(exclude={"id", "seq"})
        transaction.set_rollback(True)
    return moment


SCRIPT = (
    calls(("knowledge_search", {"queries": ["notice period director"]})),
    says(f"{LINES['salaries'][:-1]} [2]. {LINES['manual'][:-1]} [1].", size=9),
)


def paused(library: Library, stop: int) -> tuple[list[Event], list[Event], str]:
    """The right ends while whoever reads the stream pauses after event number `stop`: the events before, those after, and the
    conversation as it is shown then.
    """
    principal = Principal.of(library.reader)
    session = create_session(principal)

    async def collect() -> tuple[list[Event], list[Event]]:
        before: list[Event] = []
        after: list[Event] = []
        async for event in ask_question(principal, session_id=session.pk, question=QUESTION):
            (after if len(before) > stop else before).append(event)
            if len(before) == stop + 1 and not after:
                await sync_to_async(library.revoke_right)()
        return before, after

    with transaction.atomic():
        before, after = async_to_sync(collect)()
        shown = str(list_branch_messages(principal, session))
        transaction.set_rollback(True)
    return before, after, shown


def test_between_any_two_events_the_rest_of_the_answer_stays_away(library: Library) -> None:
    """What comes after the change says nothing of it; what is still readable is told, and the end says that something is missing."""
    lead = "Best match (not verified):\n"
    kinds = [event.response_type for event in paused(library, 10**6)[0]]
    for stop in range(kinds.index("references") + 2):
        before, after, shown = paused(library, stop)
        assert not any(secret in event.model_dump_json() for event in after for secret in SECRETS), kinds[stop]
        told = "".join(event.content for event in (*before, *after) if event.response_type == "answer")
        assert told == f"{lead}{LINES['manual']}[1]"
        assert LINES["manual"] in shown
        assert "420,000" not in shown
        assert after[-1].response_type == "complete"
        notices = [event.content for event in after if event.response_type == "reflection"]
        assert notices == ([LEFT_OUT] if stop >= kinds.index("references") else [])


def test_where_nothing_is_left_to_stand_on_the_run_says_so(library: Library) -> None:
    """The sentence that has left stays with whoever read it; the run ends as one that failed."""
    revoke_rights(None, [Right.VIEW], library.bases["manual"], of=library.reader)
    kinds = [event.response_type for event in paused(library, 10**6)[0]]
    before, after, shown = paused(library, kinds.index("references"))
    assert not any(event.response_type == "answer" for event in before)
    assert [event.response_type for event in after] == ["error"]
    assert after[0].content == "Your access changed while this was answered. Ask again."
    assert "420,000" not in shown


def test_without_the_look_before_each_event_the_answer_leaves(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocation, "may_send_next_words", lambda run: True)
    kinds = [event.response_type for event in paused(library, 10**6)[0]]
    _before, after, _shown = paused(library, kinds.index("references"))
    assert any("420,000" in event.model_dump_json() for event in after)


def test_without_the_look_before_a_model_reads_it_reads_what_is_hidden(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocation, "may_send_next_words", lambda run: True)
    monkeypatch.setattr(import_module("agent.states.act"), "remove_unreadable_evidence", lambda run: 0)
    principal = Principal.of(library.reader)
    earlier = create_session(principal)
    run(principal, Moment(None, lambda: None), earlier)
    whole = modelled_once(library, principal, earlier, None)
    assert any(modelled_once(library, principal, earlier, k).told for k in after_reading(whole))


def test_what_is_still_readable_is_answered_from_the_rest(library: Library) -> None:
    """Whenever the right on one document ends, the answer stands on the other one; no run ends without one."""
    principal = Principal.of(library.reader)
    run(principal, Moment(None, lambda: None), create_session(principal))  # keeps a snapshot of the rights once
    moment = Moment(None, lambda: None)
    run(principal, moment, create_session(principal))
    looks = [k for k, sql in enumerate(moment.statements) if looks_again(sql)]
    assert len(looks) > 4, "before the choice, the references, each sentence and the end"
    for k in looks:
        with transaction.atomic():
            events = run(principal, Moment(k, library.revoke_right), create_session(principal))
            transaction.set_rollback(True)
        kinds = [event.response_type for _come, event in events]
        assert kinds[-1] == "complete", k
        answer = "".join(event.content for _come, event in events if event.response_type == "answer")
        assert "four weeks" in answer, k
        if k <= looks[1]:  # nothing of the answer had left
            assert "420,000" not in "".join(event.model_dump_json() for _come, event in events), k


def looks_again(sql: str) -> bool:
    """Whether a statement looks at evidence again: it reads ids of chunks only."""
    return sql.startswith("WITH asked AS MATERIALIZED (SELECT c.id")


def moments_of(read: Callable[[], str], library: Library, until: str) -> list[int]:
    """Moments of one reading, up to the statement that reads the passages, at which a change came too late."""
    with transaction.atomic():
        moment = Moment(None, library.revoke_right)
        with moment.watched():
            assert "420,000" in read()
        transaction.set_rollback(True)
    last = max(k for k, sql in enumerate(moment.statements) if until in sql)
    found = []
    for k in range(last + 1):
        with transaction.atomic():
            with Moment(k, library.revoke_right).watched():
                text = read()
            found += [k] if "420,000" in text else []
            transaction.set_rollback(True)
    return found


def test_a_search_tells_nothing_that_ended_before_its_last_look(library: Library) -> None:
    def read() -> str:
        return str(search(Principal.of(library.reader), QUESTION))

    assert moments_of(read, library, "c.heading_path, c.text") == []


@pytest.mark.parametrize("path", ["/chat/{}/", "/api/v1/sessions/{}/messages"])
def test_an_old_conversation_tells_nothing_that_ended_before_it_is_read(library: Library, path: str) -> None:
    session = create_session(Principal.of(library.reader))
    run(Principal.of(library.reader), Moment(None, lambda: None), session)
    client = client_of(library.reader)

    def read() -> str:
        answer: Any = client.get(path.format(session.pk))
        assert answer.status_code == 200
        return str(answer.content.decode())

    assert moments_of(read, library, '"knowledge_chunk"."text"') == []
    library.revoke_right()
    text = read()
    assert not any(secret in text for secret in SECRETS)
    assert json.dumps(QUESTION)[1:-1] in text, "what they asked is theirs"
