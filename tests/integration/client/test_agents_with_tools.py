"""The worked examples of specifications 000 and 001: an agent that calls tools, watched through the client package.

The model decides from what the tool before it said, as an agent does; the program reads `tool_call` and `tool_result` events.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from copilot_client import KnowledgeQARequest, ResponseType, StreamResponse, Transcript
from knowledge.models import Document, DocumentVersion, ParseStatus, Stage, StageName, StageStatus
from tests.factories import allow, make_base, make_document, newest_version
from tests.integration.agent.modelled import modelled
from tests.integration.client.desk import Desk
from tests.modelserver import Request, Step, calls, says

LEARNING = "# {title}\n\n机器学习是让计算机从数据中学习规律的方法。第 {number} 篇介绍{topic}的做法。\n"
TOPICS = ("线性回归", "决策树", "支持向量机", "神经网络", "聚类")


class Agent:
    """Takes each decision from the results so far. next_call: given them, the next call, or None when there is enough."""

    def __init__(self, next_call: Callable[[list[str]], Step | None], answer: str) -> None:
        self._next_call, self._answer = next_call, answer

    def __call__(self, request: Request) -> Step:
        results = [str(message["content"]) for message in request["messages"] if message["role"] == "tool"]
        numbers = re.findall(r'<evidence number="(\d+)"', results[-1] if results else "")
        return self._next_call(results) or says(self._answer.replace("[last]", f"[{(numbers or [1])[-1]}]"))


def watched(desk: Desk, question: str, agent: Agent, *bases: str) -> tuple[list[StreamResponse], str]:
    """The events of one question, and the answer."""
    transcript = Transcript()
    with desk.client() as client, modelled(chooses=agent):
        request = KnowledgeQARequest(question, knowledge_base_ids=bases)
        events = list(client.agent_qa_stream(client.create_session(), request))
    for event in events:
        transcript.take(event)
    assert transcript.end is not None
    assert transcript.end.data["stop_reason"] == "ok", transcript.text
    return events, transcript.text


def called(events: Sequence[StreamResponse]) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of the calls, in order."""
    return [(call.function.name, call.function.parsed()) for event in events for call in event.tool_calls]


def results(events: Sequence[StreamResponse], name: str) -> list[StreamResponse]:
    found = [event for event in events if event.response_type is ResponseType.TOOL_RESULT]
    return [event for event in found if event.data["tool_name"] == name]


def ids_in(output: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r'knowledge_id="([^"]+)"', output)))


@pytest.fixture
def papers(desk: Desk) -> list[Document]:
    """Five documents in a base that the reader may see; a new version of two of them is in work."""
    base = make_base("Papers")
    allow(desk.reader, base)
    rows = []
    for number, topic in enumerate(TOPICS, 1):
        text = LEARNING.format(title=f"机器学习入门指南 {number}", number=number, topic=topic)
        rows.append(make_document(base, f"ml_intro_{number}.md", text, ingested=True))
    for row in rows[3:]:
        in_work(make_document(base, row.filename, f"# {row.title}\n\n新版。\n"))
    return rows


def in_work(document: Document, done: int = 50, total: int = 100) -> None:
    """As a worker leaves it in the middle."""
    version = newest_version(document)
    DocumentVersion.unscoped.filter(pk=version.pk).update(parse_status=ParseStatus.PROCESSING)
    stage = Stage.objects.filter(version=version, name=StageName.EMBED)
    stage.update(status=StageStatus.RUNNING, items_done=done, items_total=total)


def test_000_scene_1_after_a_search_the_agent_looks_the_documents_up(desk: Desk, papers: list[Document]) -> None:
    def decide(found: list[str]) -> Step | None:
        if not found:
            return calls(("knowledge_search", {"queries": ["机器学习"]}))
        return calls(("get_document_info", {"knowledge_ids": ids_in(found[0])})) if len(found) == 1 else None

    said = "找到了 5 篇文档,其中 3 篇已完成处理,2 篇还在处理中 [6]。"
    question = "帮我找一下关于“机器学习”的文档"
    events, answer = watched(desk, question, Agent(decide, said), str(papers[0].knowledge_base_id))
    assert [name for name, _arguments in called(events)] == ["knowledge_search", "get_document_info"]
    asked = called(events)[1][1]["knowledge_ids"]
    assert set(asked) == {str(paper.pk) for paper in papers}
    (info,) = results(events, "get_document_info")
    statuses = [card["parse_status"] for card in info.data["documents"]]
    assert sorted(statuses) == ["completed"] * 3 + ["processing"] * 2
    assert [card["knowledge_id"] for card in info.data["documents"]] == asked
    assert "3 篇已完成处理,2 篇还在处理中" in answer


def test_000_scene_2_a_person_asks_whether_a_document_is_ready(desk: Desk) -> None:
    """A number that the catalogue does not say is told as unchecked: facts do not settle it, and this model is no judge."""
    document = make_document(desk.base, "ml_intro.pdf.md", "# 机器学习入门指南\n\n尚未处理。\n")
    in_work(document)

    def decide(found: list[str]) -> Step | None:
        return None if found else calls(("get_document_info", {"knowledge_ids": [str(document.pk)]}))

    said = "您的文档正在处理中(🔄 处理中),已完成 50/100 个分块 [last]。您的文档已完成 99/100 个分块 [last]。"
    events, answer = watched(desk, "我上传的文档处理完了吗?", Agent(decide, said))
    (info,) = results(events, "get_document_info")
    assert info.data["documents"][0]["progress"] == {"done": 50, "total": 100}
    assert "已完成 50/100 个分块" in answer
    (source,) = [event.query_references for event in events if event.query_references][-1]
    assert (source.number, source.source) == (1, "document catalogue")
    assert source.result is not None
    assert source.result["table"]["rows"][0][3] == "in work"
    (told,) = [event for event in events if event.response_type == "answer" and "99/100" in event.content]
    assert told.data["is_checked"] is False
