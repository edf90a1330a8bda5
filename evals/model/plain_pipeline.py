"""Answer by a plain pipeline: search, one call of the model, its words as they come; for data a call before that writes the statement.

It is told what the product's own first call is told, has no tools but the one that runs a statement, and checks nothing.
"""

import json
import re
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from asgiref.sync import sync_to_async

from agent.providers.base import Message
from agent.providers.configured import connect
from agent.providers.openai_compatible import ServedModel
from agent.providers.reply import Reply
from agent.tools.knowledge_search import TOP_K
from authz.principal import Principal
from business.presentation.report import markdown_table
from business.sources.services import open_source
from business.statements.run_query import run_query
from evals.model.model_script import QUERY, SOURCE, ScriptedQuestion
from knowledge.retrieval.search import search

RESULT = 1_000  # number of the evidence that a result is: none of the passages has it
_SENTENCE_END = re.compile(r"\[\d+\][.。]")
_STATEMENT = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}
TOOL = {
    "type": "function",
    "function": {"name": QUERY, "description": "Runs one PostgreSQL SELECT.", "parameters": _STATEMENT},
}


@dataclass
class Answered:
    """An answer, in seconds from asking. first_sentence_s: to the end of the first whole one, None where none came."""

    text: str = ""
    first_sentence_s: float | None = None
    end_s: float = 0.0


async def ask_plainly(
    served: ServedModel, person: Principal, question: ScriptedQuestion, messages: Sequence[Message]
) -> Answered:
    """Ask a question. messages: prompt, evidence and question; the search is made again for its time."""
    answered, began, messages_sent = Answered(), time.monotonic(), list(messages)
    model, tools = connect(served), [TOOL] if question.sql else []
    if question.group != "data":
        await sync_to_async(search)(person, question.ask, top_k=TOP_K)
    try:
        while True:
            reply = Reply()
            async with aclosing(model.stream(messages_sent, tools=tools)) as deltas:  # type: ignore[type-var]
                async for delta in deltas:
                    reply.take(delta)
                    if answered.first_sentence_s is None and _SENTENCE_END.search(reply.text):
                        answered.first_sentence_s = time.monotonic() - began
            if not reply.calls:
                break
            messages_sent += await _queried(person, reply)
    finally:
        await model.aclose()
    answered.text, answered.end_s = reply.text, time.monotonic() - began
    return answered


async def _queried(person: Principal, reply: Reply) -> list[Message]:
    """Run the statement that the model wrote; return the messages of both."""
    call = reply.calls[0]
    source = await sync_to_async(open_source)(person, SOURCE)
    result = await run_query(person, source, json.loads(call.arguments)["sql"])
    rows: Any = result.answer.rows
    table = markdown_table(rows.columns, rows.rows)
    return [
        {"role": "assistant", "content": reply.text, "tool_calls": [call.as_message()]},
        {
            "role": "tool",
            "tool_call_id": call.id,
            "content": f'<evidence number="{RESULT}">\n{table}\n</evidence>',
        },
    ]
