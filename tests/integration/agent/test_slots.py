"""An answer with a slot that is still checked: in the log, in the row, for readers who know slots and for those who know none."""

import json
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from redis import Redis

from agent.models import Message
from agent.run_state.run import Run
from agent.runs.follow import replay_entries
from agent.runs.leases import request_stop
from agent.runs.log import LogEntry, build_log_key
from agent.text_answer import TextAnswer
from authz.principal import Principal
from copilot_client import StreamResponse, Transcript
from knowledge.retrieval.search import Scope
from tests.integration.agent.conversations import LEAVE, Handbook, make_reader
from tests.integration.agent.live import Live, events_of, lived, text_of
from tests.integration.agent.modelled import SEARCH, THIRTY, judge, judges, modelled
from tests.modelserver import Step, says

pytestmark = pytest.mark.django_db

OPEN = "Staff can be away for a whole month each year [1]."
NOTE = "A sick note is due on the third day of absence [1]."
WRITTEN = f"{THIRTY} {OPEN} {NOTE}"
SUPPORTED = judges("supported", quote="30 days of annual leave")


@pytest.fixture
def reader(handbook: Handbook) -> Principal:
    base, _manual, _secret = handbook
    return Principal.of(make_reader(base))


def answered(reader: Principal, judging: Step) -> tuple[Live, list[LogEntry]]:
    live = Live(reader, LEAVE)
    with modelled(SEARCH, says(WRITTEN), judging):
        return live, lived(live, Live.read)


def transcript(entries: list[LogEntry]) -> Transcript:
    told = Transcript()
    for entry in entries:
        told.take(StreamResponse.of(entry.body))
    return told


def is_early(entry: LogEntry) -> bool:
    return entry.type == "slot" and json.loads(entry.body)["data"]["state"] == "settled"


def test_while_the_judge_is_silent_the_rest_is_shown_and_nothing_of_the_open_sentence_is_anywhere(
    reader: Principal,
) -> None:
    """The run is stopped there: what is stored is what facts have settled."""

    def kept() -> str:
        row = Message.objects.get(pk=live.message_id)
        with Redis.from_url(settings.REDIS_URL, protocol=2, decode_responses=True) as valkey:
            logged = valkey.xrange(build_log_key(live.message_id))
        return json.dumps([logged, row.content, row.sentences, row.state], default=str)

    async def looked(live: Live) -> tuple[list[LogEntry], str]:
        before = await live.read(until=is_early)
        found = await sync_to_async(kept)()
        await request_stop(live.message_id)
        await live.read()
        return before, found

    live = Live(reader, LEAVE)
    with modelled(SEARCH, says(WRITTEN), judge(Step(hang="before"))):
        before, found = lived(live, looked)
    assert "third day of absence" in found
    assert "a whole month" not in found
    told = transcript(before)
    assert (told.checking, list(told.early)) == ({1: ("Leave",)}, [2])
    assert told.text == THIRTY.replace(" [1].", ".[1]")
    row = Message.objects.get(pk=live.message_id)
    assert [sentence["text"][:5] for sentence in row.sentences] == ["Emplo", "A sic"]
    assert [sentence.get("slot", place) for place, sentence in enumerate(row.sentences)] == [0, 2]


@pytest.mark.parametrize(("judging", "slots"), [(SUPPORTED, [0, 1, 2]), (judges(), [0, 2])], ids=["stands", "left out"])
def test_an_answer_reads_the_same_live_and_again_and_where_nobody_knows_slots(
    reader: Principal, judging: Step, slots: list[int]
) -> None:
    live, entries = answered(reader, judging)
    content = Message.objects.get(pk=live.message_id).content
    again = replay_entries(reader, live.session_id, live.message_id)
    for told in (entries, again):
        answers = [event for event in events_of(told) if event.response_type == "answer" and event.content]
        assert [event.data["slot"] for event in answers] == slots
        assert transcript(told).text == text_of(told) == content
        assert (transcript(told).early, transcript(told).checking) == ({}, {})
    states = [event.data["state"] for event in events_of(entries) if event.response_type == "slot"]
    assert states[0] == "checking"
    # /v1, MCP and the bots make their answers from the same pieces
    answer: Any = TextAnswer(Run(uuid4(), live.message_id, reader, LEAVE, Scope(), "en"), "http://site")
    pieces = [answer.took(json.loads(entry.body)) for entry in entries]
    assert "".join(pieces) == content
    assert [piece.strip()[:5] for piece in pieces if piece] == [["Emplo", "Staff", "A sic"][slot] for slot in slots]
