"""Examples of specifications 003 §6 and 000, as they are written there, through the client package; and those of the README."""

import re
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync

import copilot_client
from copilot_client import (
    AsyncClient,
    ClientError,
    KnowledgeQARequest,
    Refused,
    ResponseType,
    SearchKnowledgeRequest,
    StreamResponse,
    Unreachable,
)
from tests.factories import make_folder
from tests.integration.agent.conversations import LEAVE
from tests.integration.agent.modelled import THIRTY, modelled
from tests.integration.client.desk import PATIENT_S, SEARCH, SHOWN, Desk, script, text_of
from tests.modelserver import says
from tests.ports import closed_port


def test_6_1_a_question_is_followed_event_by_event(desk: Desk) -> None:
    request = KnowledgeQARequest(query=LEAVE, knowledge_base_ids=[str(desk.base.pk)], agent_enabled=True)
    said: list[str] = []
    events: list[StreamResponse] = []
    full_answer = ""
    with desk.client() as client, modelled(*script()):
        session_id = client.create_session()
        for resp in client.knowledge_qa_stream(session_id, request):
            events.append(resp)
            match resp.response_type:
                case ResponseType.THINKING:
                    said.append(f"🤔 {resp.content}")
                case ResponseType.TOOL_CALL:
                    said += [f"🔧 {call.function.name}" for call in resp.tool_calls]
                case ResponseType.TOOL_RESULT:
                    said.append(f"✅ {resp.data['display_type']}")
                case ResponseType.ANSWER:
                    full_answer += resp.content
                case ResponseType.REFERENCES:
                    said.append(f"📚 {len(resp.knowledge_references)}")
                case ResponseType.COMPLETE:
                    said.append("✨")
                case ResponseType.ERROR:
                    pytest.fail(resp.content)
    assert full_answer == SHOWN
    assert "".join(line for line in said if line.startswith("🤔")).replace("🤔 ", "") == "Let me look."
    assert [line for line in said if not line.startswith("🤔")] == [
        "🔧 knowledge_search", "✅ search_results", "📚 1", "📚 1", "✨",
    ]  # fmt: skip
    done = [
        event.response_type for event in events if event.done
    ]  # 7.2: it closes a type, and only the last one the stream
    assert {ResponseType.THINKING, ResponseType.ANSWER, ResponseType.COMPLETE} <= set(done)
    assert [event.is_last for event in events] == [False] * (len(events) - 1) + [True]
    (call,) = [call for event in events for call in event.tool_calls]
    assert isinstance(call.function.arguments, str)  # 7.3: arguments are a JSON string
    assert call.function.parsed() == {"queries": ["annual leave days"]}
    assert call.type == "function"


def test_6_2_a_stream_that_was_left_is_continued(desk: Desk) -> None:
    seen: list[StreamResponse] = []
    with desk.client() as client, modelled(*script()):
        session_id = client.create_session()
        for resp in client.agent_qa_stream(session_id, KnowledgeQARequest(LEAVE)):
            seen.append(resp)
            if resp.response_type is ResponseType.TOOL_CALL:
                break  # the page is closed; the answer goes on
        message_id = seen[-1].assistant_message_id
        rest = list(client.continue_stream(session_id, message_id, after=seen[-1].seq))
        whole = list(client.continue_stream(session_id, message_id))
    assert [*seen, *rest] == whole
    assert [event.seq for event in whole] == list(range(len(whole)))
    assert text_of(whole) == SHOWN


def test_6_3_an_answer_is_stopped_and_what_was_written_stays(desk: Desk) -> None:
    with desk.client() as client:
        session_id = client.create_session()
        with modelled(SEARCH, says(f"{THIRTY} More will never come", size=100, hang=1)) as server:
            events = []
            for resp in client.agent_qa_stream(session_id, KnowledgeQARequest(LEAVE)):
                events.append(resp)
                if resp.response_type is ResponseType.ANSWER:
                    assert client.stop_session(session_id, resp.assistant_message_id)
            assert server.gone.wait(PATIENT_S)
        assert [event.response_type for event in events[-2:]] == [ResponseType.STOP, ResponseType.COMPLETE]
        assert events[-1].data["stop_reason"] == "cancelled"
        assert text_of(events) == SHOWN
        assert not client.stop_session(session_id, events[-1].assistant_message_id)


def test_6_4_passages_are_searched_and_questions_asked_of_what_is_chosen(desk: Desk) -> None:
    with desk.client() as client:
        request = SearchKnowledgeRequest("annual leave", knowledge_base_ids=[str(desk.base.pk)])
        results = client.search_knowledge(request)
        assert {result.title for result in results} == {"Leave"}
        assert results[0].score == max(result.score for result in results)
        assert "30 days" in results[0].content
        empty = str(make_folder(desk.base, "Empty").pk)
        assert client.search_knowledge(SearchKnowledgeRequest(LEAVE, folder_ids=(empty,))) == []
        session_id = client.create_session()
        told = text_of(client.knowledge_qa_stream(session_id, KnowledgeQARequest(LEAVE, folder_ids=[empty])))
        assert "30 days" not in told
        colour = [{"field": "Colour", "equals": "red"}]
        with pytest.raises(Refused, match="no field “Colour”"):
            list(client.knowledge_qa_stream(session_id, KnowledgeQARequest(LEAVE, metadata=colour)))
        with pytest.raises(Refused, match="no field “Colour”"):
            client.search_knowledge(SearchKnowledgeRequest(LEAVE, metadata=colour))
        table = {"source": "sales", "table": "deal"}
        with pytest.raises(Refused, match="scope “sql”"):
            list(client.knowledge_qa_stream(session_id, KnowledgeQARequest(LEAVE, tables=[table])))


def test_7_4_refusals_and_a_silent_server_are_told_apart(desk: Desk) -> None:
    request = KnowledgeQARequest(LEAVE, web_search_enabled=True)
    with desk.client() as client:
        session_id = client.create_session()
        with pytest.raises(Refused, match="does not search the web") as refused:
            list(client.knowledge_qa_stream(session_id, request))
    assert (refused.value.status, refused.value.code) == (400, "invalid")
    with desk.client(f"http://127.0.0.1:{closed_port()}") as nobody:
        with pytest.raises(Unreachable):
            list(nobody.knowledge_qa_stream(session_id, KnowledgeQARequest(LEAVE)))
        with pytest.raises(ClientError):
            nobody.create_session()


def test_the_asynchronous_client_does_the_same(desk: Desk) -> None:
    async def talk() -> tuple[list[StreamResponse], list[StreamResponse], bool]:
        async with AsyncClient(desk.url, desk.secret, timeout=PATIENT_S) as client:
            session_id = await client.create_session()
            events = [event async for event in client.agent_qa_stream(session_id, KnowledgeQARequest(LEAVE))]
            message_id = events[0].assistant_message_id
            again = [event async for event in client.continue_stream(session_id, message_id, after=1)]
            found = await client.search_knowledge(SearchKnowledgeRequest("annual leave"))
            assert "30 days" in found[0].content
            return events, again, await client.stop_session(session_id, message_id)

    with modelled(*script()):
        events, again, is_stopping = async_to_sync(talk)()
    assert text_of(events) == SHOWN
    assert again == events[2:]
    assert not is_stopping


def test_the_readme_s_examples_run(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = Path(copilot_client.__file__).with_name("README.md").read_text(encoding="utf-8")
    first, second = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    monkeypatch.setenv("COPILOT_URL", desk.url)
    monkeypatch.setenv("COPILOT_TOKEN", desk.secret)
    with desk.client() as patient:
        patient.create_session()  # the first request of a process takes its time
    exec(compile(first, "README.md", "exec"), {"__name__": "example"})
    said = capsys.readouterr().out
    assert "30 days" in said
    assert "[1] Leave" in said
    with modelled(*script()):
        exec(compile(second, "README.md", "exec"), {"__name__": "example"})
    said = capsys.readouterr().out
    assert "30 days" in said
    assert "calls knowledge_search" in said
