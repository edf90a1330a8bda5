"""`manage.py benchmark model`: the scripted service over HTTP answers, counts and caches as a hosted model does; no time is asserted."""

import json
from collections.abc import Iterator
from math import inf
from typing import Any

import httpx
import pytest
from asgiref.sync import async_to_sync

from agent.providers.openai_compatible import ServedModel
from authz.principal import Principal
from evals.model_benchmark import ask_plainly
from evals.model_script import QUERY, SEARCH, Script, ScriptedQuestion
from evals.scripted_service import PacedService, ReplyPace, served
from tests.factories import make_user

AT_ONCE = ReplyPace(0.0, inf, inf)
QUESTIONS = [
    ScriptedQuestion.model_validate(row)
    for row in (
        {
            "group": "both",
            "ask": "What is the allowance, and how many orders are open?",
            "as": "anna",
            "sql": "SELECT count(*) FROM sales_order",
            "answer": [{"words": "The `allowance` is EUR 300"}, {"says": "70 orders are open"}],
        },
        {
            "group": "documents",
            "ask": "津贴是多少？",
            "as": "anna",
            "answer": [{"words": "每周 300 欧元", "says": "每个星期给三百欧元"}, {"words": "每月支付"}],
        },
    )
]
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in (SEARCH, QUERY)]
SYSTEM = {"role": "system", "content": "You answer from the evidence." * 20}


@pytest.fixture
def service() -> PacedService:
    return PacedService(Script(QUESTIONS).reply, AT_ONCE)


@pytest.fixture
def model(service: PacedService) -> Iterator[ServedModel]:
    with served(service.answer) as model:
        yield model


def asked(number: int, *evidence: str) -> dict[str, str]:
    """The message of a question with its evidence, numbered from 1."""
    blocks = [f'<evidence number="{n}" title="Pay">\n{text}\n</evidence>' for n, text in enumerate(evidence, 1)]
    return {"role": "user", "content": "\n".join([*blocks, QUESTIONS[number].ask])}


def judge(*sentences: str, evidence: str) -> list[dict[str, str]]:
    blocks = [f'<sentence number="{n}">\n{text}\n</sentence>' for n, text in enumerate(sentences, 1)]
    content = "\n".join([f'<evidence number="4">\n{evidence}\n</evidence>', *blocks])
    return [{"role": "system", "content": "You check sentences."}, {"role": "user", "content": content}]


def post(model: ServedModel, messages: list[Any], **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The assistant's message, put together from the stream, and its usage."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    usage: dict[str, Any] = {}
    body = {"model": "scripted", "stream": True, "messages": messages, **more}
    with httpx.stream("POST", f"{model.base_url}/chat/completions", json=body) as answer:
        lines = [line.removeprefix("data: ") for line in answer.iter_lines() if line]
    assert lines.pop() == "[DONE]"
    for event in map(json.loads, lines):
        usage = event.get("usage") or usage
        for delta in (choice["delta"] for choice in event["choices"]):
            message["content"] += delta.get("content", "")
            for call in delta.get("tool_calls", ()):
                if "id" in call:
                    message["tool_calls"] = [call]
                else:
                    message["tool_calls"][0]["function"]["arguments"] += call["function"]["arguments"]
    return message, usage


def result(call: dict[str, Any], *evidence: tuple[int, str]) -> dict[str, Any]:
    blocks = [f'<evidence number="{number}">\n{text}\n</evidence>' for number, text in evidence]
    return {"role": "tool", "tool_call_id": call["id"], "content": "\n".join(blocks)}


def test_a_conversation_asks_the_data_then_searches_then_cites_each_sentence(model: ServedModel) -> None:
    messages: list[Any] = [SYSTEM, asked(0, "Nothing of that.")]
    for name, told in (
        (QUERY, (2, "| count |\n| --- |\n| 70 |")),
        (SEARCH, (3, "The <b>allowance</b> is.\nThe allowance is EUR 300.")),
    ):
        message, _usage = post(model, messages, tools=TOOLS)
        call = message["tool_calls"][0]
        assert call["function"]["name"] == name
        messages += [message, result(call, told)]
    assert json.loads(messages[2]["tool_calls"][0]["function"]["arguments"]) == {
        "sql": "SELECT count(*) FROM sales_order",
        "source": "demo",
    }
    message, _usage = post(model, messages, tools=TOOLS)
    assert message["content"] == "The `allowance` is EUR 300 [3]. 70 orders are open [2]."


def test_the_judge_answers_a_line_for_each_sentence(model: ServedModel) -> None:
    sentences = ("70 orders are open [2]. 每个星期给三百欧元 [4]。", "每月支付 [4]。", "An invention [4].")
    message, _usage = post(model, judge(*sentences, evidence="他们每周 300 欧元。"))
    assert message["content"] == '1 S "每周 300 欧元"\n2 N ""\n3 N ""'


@pytest.mark.django_db
def test_the_plain_pipeline_answers_with_one_call(model: ServedModel, service: PacedService) -> None:
    messages = [SYSTEM, asked(1, "每月支付。每周 300 欧元。")]
    plain = async_to_sync(ask_plainly)(model, Principal.of(make_user("anna")), QUESTIONS[1], messages)
    assert plain.text == "每个星期给三百欧元 [1]。每月支付 [1]。"
    assert plain.first_sentence_s is not None
    assert plain.first_sentence_s <= plain.end_s
    assert len(service.calls) == 1
