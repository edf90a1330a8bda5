"""A model that thinks aloud between the sentences of its answer: no door shows a word of it as the answer."""

from agent.models import Message
from copilot_client import KnowledgeQARequest
from tests.integration.agent.conversations import LEAVE
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.integration.client.desk import Desk, text_of
from tests.integration.client.test_openai_clients import asked, openai
from tests.integration.mcp import programs
from tests.modelserver import says

THOUGHT = "the walrus says forty"
ALOUD = f"{THIRTY} <think>{THOUGHT}</think> {THIRTY}\n<think>{THOUGHT}"


def streamed(desk: Desk) -> str:
    with desk.client() as client:
        return text_of(client.agent_qa_stream(client.create_session(), KnowledgeQARequest(LEAVE)))


def completed(desk: Desk) -> str:
    with openai(desk) as client:
        return asked(client, LEAVE).choices[0].message.content or ""


def completed_in_pieces(desk: Desk) -> str:
    with openai(desk) as client:
        chunks = asked(client, LEAVE, stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def by_assistant(desk: Desk) -> str:
    return programs.text_of(programs.called(desk.url, desk.secret, "ask", {"question": LEAVE}))


def test_thinking_between_sentences_reaches_nobody(desk: Desk) -> None:
    for door in (streamed, completed, completed_in_pieces, by_assistant):
        with modelled(SEARCH, says(ALOUD, size=3)):
            said = door(desk)
        assert said.count("30 days of annual leave") == 2, door
        assert THOUGHT not in said, door
        assert "think>" not in said, door
    assert not Message.objects.filter(content__contains=THOUGHT).exists()
