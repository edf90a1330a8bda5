"""What services send, however they cut, order, leave out and misspell it: one reply that is always the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.providers import openai_compatible
from agent.providers.base import CallPiece, Delta, ModelBroken, Usage
from agent.providers.chunks import Thoughts
from agent.providers.reply import Reply
from tests.contract.test_providers import TOOL, client, replied
from tests.modelserver import Step, calls, serving


async def test_parallel_calls_are_taken_apart() -> None:
    named = (("look", {"at": "一"}), ("listen", {"to": ["b", {"c": 1}]}))
    with serving(calls(*named)) as server:
        reply = await replied(client(server.base_url), tools=[TOOL])
    assert [(call.name, json.loads(call.arguments)) for call in reply.calls] == list(named)
    assert len({call.id for call in reply.calls}) == 2
    assert reply.finish == "tool_calls"
    assert server.requests[0]["tools"] == [TOOL]


ODD: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "whole call in one delta, no id": (
        [{"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": '{"a": 1}'}}]}],
        [("look", '{"a": 1}')],
    ),
    "no index, no id, two calls": (
        [
            {"tool_calls": [{"function": {"name": "look", "arguments": '{"a"'}}]},
            {"tool_calls": [{"function": {"arguments": ": 1}"}}]},
            {"tool_calls": [{"function": {"name": "look", "arguments": '{"a": 2}'}}]},
        ],
        [("look", '{"a": 1}'), ("look", '{"a": 2}')],
    ),
    "the same index for two calls with ids": (
        [
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}}]},
            {"tool_calls": [{"index": 0, "id": "b", "function": {"name": "listen", "arguments": "{}"}}]},
        ],
        [("look", "{}"), ("listen", "{}")],
    ),
    "name and id with every piece": (
        [
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": '{"a"'}}]},
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": ":1}"}}]},
        ],
        [("look", '{"a":1}')],
    ),
    "no arguments at all": (
        [{"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look"}}]}],
        [("look", "{}")],
    ),
    "arguments as an object": (
        [{"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": {"a": 1}}}]}],
        [("look", '{"a": 1}')],
    ),
    "index 0 for every call, an id with its first piece": (
        [
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": '{"a"'}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
            {"tool_calls": [{"index": 0, "id": "b", "function": {"name": "listen", "arguments": '{"b"'}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": ":2}"}}]},
        ],
        [("look", '{"a":1}'), ("listen", '{"b":2}')],
    ),
    "a new id with every piece": (
        [
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": '{"a"'}}]},
            {"tool_calls": [{"index": 0, "id": "b", "function": {"name": "", "arguments": ":1}"}}]},
        ],
        [("look", '{"a":1}')],
    ),
    "the old form of one call": (
        [{"function_call": {"name": "look", "arguments": '{"a"'}}, {"function_call": {"arguments": ":1}"}}],
        [("look", '{"a":1}')],
    ),
    "numbers for words, words for numbers": (
        [
            {"tool_calls": [{"index": "0", "id": 7, "function": {"name": "look", "arguments": [1]}}]},
            {"tool_calls": [{"index": "1", "id": 8, "function": {"name": 5, "arguments": 6}}]},
            {"tool_calls": 3, "content": {"text": "x"}, "reasoning": [{"text": 5}, None]},
            {"tool_calls": {"function": None}, "content": [{"text": None}, 4, "x"]},
        ],
        [("look", "[1]")],
    ),
    "nulls everywhere": ([{"content": None, "tool_calls": None}, {"content": "hi", "role": None, "refusal": None}], []),
    "a call without a name is none": ([{"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}], []),
}


@pytest.mark.parametrize("case", ODD)
async def test_odd_deltas_are_understood(case: str) -> None:
    deltas, expected = ODD[case]
    with serving(Step(deltas, usage=None)) as server:
        reply = await replied(client(server.base_url), tools=[TOOL])
    assert [(call.name, call.arguments) for call in reply.calls] == expected


async def test_reasoning_is_kept_apart_from_the_answer() -> None:
    with serving(Step([{"reasoning_content": "hmm"}, {"content": "42"}])) as server:
        reply = await replied(client(server.base_url))
    assert (reply.reasoning, reply.text) == ("hmm", "42")


def chunk(**choice: Any) -> str:
    return json.dumps({"choices": [{"index": 0, **choice}]})


def counted(prompt: Any, completion: Any, **choice: Any) -> str:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    return json.dumps({"choices": [choice] if choice else [], "usage": usage})


OK, STOPPED, ALL = chunk(delta={"content": "ok"}), chunk(delta={}, finish_reason="stop"), "[DONE]"
ENDINGS: dict[str, tuple[list[str], Usage | None]] = {
    "a finish beside the last words": ([chunk(delta={"content": "ok"}, finish_reason="stop"), ALL], None),
    "a finish and no [DONE]": ([OK, STOPPED], None),
    "[DONE] and no finish": ([OK, ALL], None),
    "an empty finish": ([OK, chunk(delta={}, finish_reason=""), ALL], None),
    "usage last of all": ([OK, STOPPED, counted(12, 9), ALL], Usage(12, 9)),
    "usage and no finish": ([OK, counted(12, 9)], Usage(12, 9)),
    "usage with every chunk": (
        [counted(12, 1, delta={"content": "o"}), counted(12, 2, delta={"content": "k"}, finish_reason="stop"), ALL],
        Usage(12, 2),
    ),
    "usage in words": ([OK, STOPPED, counted("12", None), ALL], Usage(12, 0)),
    "a chunk that is null": (["null", "[]", '{"choices": null}', OK, STOPPED, ALL], None),
    "a whole message in a chunk": ([chunk(message={"content": "ok"}, finish_reason="stop"), ALL], None),
    "a second choice": (
        [json.dumps({"choices": [{"delta": {"content": "ok"}}, {"delta": {"content": "no"}}]}), STOPPED, ALL],
        None,
    ),
    "what cannot be stored": ([chunk(delta={"content": "o\0\ud83d"}), chunk(delta={"content": "\ude00k"}), ALL], None),
}


@pytest.mark.parametrize("case", ENDINGS)
async def test_an_answer_ends_as_services_end_it(case: str) -> None:
    events, usage = ENDINGS[case]
    with serving(Step(events=events)) as server:
        reply = await replied(client(server.base_url))
    assert (reply.text, reply.usage) == ("ok", usage)
    assert reply.finish or usage


async def test_usage_with_every_chunk_is_no_end() -> None:
    with serving(Step(events=[counted(12, 1, delta={"content": "ha"})])) as server, pytest.raises(ModelBroken):
        await replied(client(server.base_url))


async def test_a_service_that_does_not_stream_is_understood() -> None:
    whole = {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    with serving(Step(body=json.dumps(whole))) as server:
        reply = await replied(client(server.base_url))
    assert (reply.text, reply.usage, reply.finish) == ("ok", Usage(3, 0), "stop")


async def test_a_connection_that_stays_open_after_the_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_compatible, "COUNTED_S", 0.05)
    with serving(Step([{"content": "ok"}], hang=2)) as server:
        assert (await replied(client(server.base_url))).text == "ok"


def parted(random: Any, text: str) -> tuple[str, str]:
    """What was thought and what was said of a text that comes in pieces."""
    thoughts, reply = Thoughts(), Reply()
    for piece in cut(text, random):
        reply.take(thoughts.take(Delta(text=piece)))
    reply.take(thoughts.rest())
    return reply.reasoning, reply.text


THOUGHTS = {
    # text → what was thought, what was said
    "<think></think>\n\nA <think> b.": ("", "A <think> b."),
    "\n <think>Is a < b? </thin</think>\n\nA <think> b.": ("Is a < b? </thin", "A <think> b."),
    "<think>one</think><think>two</think>B.": ("onetwo", "B."),
    "<think>one</think>A <<think>two</think>B.": ("onetwo", "A <B."),
    "A [1].<think>no, {wrong}</think>B.": ("no, {wrong}", "A [1].B."),
    "\nA\n<think>no, {wrong}</think>B.": ("no, {wrong}", "\nA\nB."),
    "答。<think>no, {wrong}</think>B.": ("no, {wrong}", "答。B."),
    # a mark that is a word stays
    "Between `<think>` and `</think>` it thinks.": ("", "Between `<think>` and `</think>` it thinks."),
    "It ends with </think> there.": ("", "It ends with </think> there."),
    " <thi": ("", " <thi"),
    "<b>x < y": ("", "<b>x < y"),
}


@given(st.randoms(use_true_random=False), st.sampled_from([*THOUGHTS.items()]))
def test_thinking_in_the_text_is_taken_out_wherever_the_service_cuts(
    random: Any, case: tuple[str, tuple[str, str]]
) -> None:
    text, expected = case
    assert parted(random, text) == expected


@given(st.randoms(use_true_random=False), st.sampled_from(["<think>one</think>A.\n ", "A [1]. ", "答。", "A:\n\n"]))
def test_a_block_without_an_end_does_not_leak_where_a_sentence_may_begin(random: Any, before: str) -> None:
    thought, said = parted(random, f"{before}<think>two is cut")
    assert thought.endswith("two is cut")
    assert said == before.removeprefix("<think>one</think>")


@given(st.randoms(use_true_random=False), st.sampled_from(["", "\n", "One. [1] "]), st.sampled_from(["\n", ".\n", ""]))
def test_thinking_that_never_began_is_taken_back_at_its_end(random: Any, before: str, after: str) -> None:
    thoughts, reply = Thoughts(), Reply()
    for piece in cut(f"{before}He wants 30.{after}</think>\n\nB.", random):
        reply.take(thoughts.take(Delta(text=piece)))
    reply.take(thoughts.rest("stop"))
    assert (reply.reasoning.strip(), reply.text) == (f"{before}He wants 30.{after}".strip(), "B.")
    assert thoughts.is_begun, "the next reply is held to begin so"


@given(
    st.randoms(use_true_random=False),
    st.sampled_from(["", "<think>", "\n<think>\n"]),
    st.sampled_from([" </thin", "\n"]),
)
def test_where_replies_begin_as_thinking_none_of_it_is_said(random: Any, before: str, after: str) -> None:
    thoughts, reply, said = Thoughts(is_begun=True), Reply(), ""
    for piece in cut(f"{before}He wants 30.{after}</think>\n\nB.", random):
        delta = thoughts.take(Delta(text=piece))
        said += delta.text
        reply.take(delta)
    reply.take(thoughts.rest("stop"))
    assert (reply.reasoning.strip(), reply.text) == (f"He wants 30.{after}".strip(), "B.")
    assert "B.".startswith(said)


@given(st.randoms(use_true_random=False), st.sampled_from(["stop", "length"]))
def test_such_a_reply_without_any_end_of_thinking_is_the_answer_unless_it_was_cut(random: Any, finish: str) -> None:
    thoughts, reply = Thoughts(is_begun=True), Reply()
    for piece in cut("B is the answer.", random):
        reply.take(thoughts.take(Delta(text=piece)))
    reply.take(thoughts.rest(finish))
    assert reply.text == ("B is the answer." if finish == "stop" else "")
    assert reply.reasoning


TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)
CALLS = st.lists(
    st.tuples(st.sampled_from(["look", "listen"]), st.dictionaries(TEXTS, TEXTS | st.integers(), max_size=3)),
    max_size=4,
)


@given(TEXTS, CALLS, st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_assembly_does_not_depend_on_where_the_service_cuts(
    text: str, named: list[tuple[str, dict[str, Any]]], random: Any, has_ids: bool, has_indexes: bool
) -> None:
    """Whatever pieces the same answer comes in, it is the same answer, with ids, with indexes, with both or neither."""
    deltas = [Delta(text=piece) for piece in cut(text, random)]
    for index, (name, arguments) in enumerate(named):
        pieces = cut(json.dumps(arguments, ensure_ascii=False), random) or [""]
        place = index if has_indexes else None
        first = CallPiece(place, f"id{index}" if has_ids else "", name, pieces[0])
        deltas += [Delta(calls=(item,)) for item in (first, *(CallPiece(place, "", "", rest) for rest in pieces[1:]))]
    deltas.append(Delta(finish="stop"))
    reply = Reply()
    for delta in deltas:
        reply.take(delta)
    assert reply.text == text
    assert [(call.name, json.loads(call.arguments)) for call in reply.calls] == named


def cut(text: str, random: Any) -> list[str]:
    """The text in pieces at random places."""
    marks = sorted(random.sample(range(1, len(text)), min(3, len(text) - 1))) if len(text) > 1 else []
    return [text[a:b] for a, b in zip([0, *marks], [*marks, len(text)], strict=True)] if text else []
