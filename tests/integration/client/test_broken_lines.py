"""Connections that break anywhere: every reader comes to the same text, and no event is lost or doubled."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models import Message
from copilot_client import KnowledgeQARequest, StreamResponse, Unreachable
from copilot_client.sse import Frame, Frames
from tests.integration.agent.conversations import LEAVE
from tests.integration.agent.modelled import modelled
from tests.integration.client.desk import SHOWN, Desk, script, text_of
from tests.served import cutting

CUTS = st.lists(st.integers(1, 5_000), max_size=4)  # bytes of each connection's answers before it breaks


@pytest.mark.parametrize("examples", [4, 20], ids=["few", "many"])
def test_two_readers_over_breaking_lines_read_the_same(desk: Desk, examples: int) -> None:
    with desk.client() as client, modelled(*script()):
        session_id = client.create_session()
        whole = list(client.agent_qa_stream(session_id, KnowledgeQARequest(LEAVE)))
    message_id = whole[0].assistant_message_id
    assert text_of(whole) == SHOWN

    def read(cuts: list[int], after: int) -> list[StreamResponse]:
        left = iter(cuts)
        with cutting(desk.url, lambda: next(left, None)) as url, desk.client(url) as client:
            return list(client.continue_stream(session_id, message_id, after=after))

    @settings(max_examples=examples, deadline=None, database=None)
    @given(CUTS, CUTS, st.integers(-1, len(whole) - 2), st.integers(-1, len(whole) - 2))
    def holds(first: list[int], second: list[int], after: int, other: int) -> None:
        with ThreadPoolExecutor(2) as threads:
            one, two = threads.submit(read, first, after), threads.submit(read, second, other)
        assert one.result() == whole[after + 1 :]
        assert two.result() == whole[other + 1 :]

    holds()


def test_a_question_over_a_breaking_line_is_asked_once_or_not_at_all(desk: Desk) -> None:
    left = iter([1_500, 700, 700])
    with desk.client() as straight:
        session_id = straight.create_session()
    with modelled(*script()), cutting(desk.url, lambda: next(left, None)) as url, desk.client(url) as client:
        events = list(client.agent_qa_stream(session_id, KnowledgeQARequest(LEAVE)))
    assert [event.seq for event in events] == list(range(len(events)))
    assert text_of(events) == SHOWN
    assert Message.objects.count() == 2
    with (
        cutting(desk.url, lambda: 10) as url,
        desk.client(url) as client,
        pytest.raises(Unreachable, match="no answer began"),
    ):
        list(client.knowledge_qa_stream(session_id, KnowledgeQARequest(LEAVE)))


@given(st.lists(st.text(), min_size=1, max_size=5), st.integers(1, 20))
def test_frames_are_the_same_however_the_bytes_are_cut(texts: list[str], size: int) -> None:
    lines = [text.replace("\n", " ").replace("\r", " ") for text in texts]
    body = "".join(f": alive\n\nid: {n}\nevent: message\ndata: {line}\n\n" for n, line in enumerate(lines)).encode()
    frames = Frames()
    found = [frame for at in range(0, len(body), size) for frame in frames.take(body[at : at + size])]
    assert found == [Frame(str(number), line) for number, line in enumerate(lines)]
