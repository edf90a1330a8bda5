"""The measuring process of `manage.py benchmark agent`: a task as JSON on its input, what it measured as JSON on its output."""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import openai
import psutil

from agent.following import follow
from agent.profiles import Options
from agent.records import begin
from agent.runs import launch
from agent.stream import Entry
from agent.threads import in_thread
from authz.principal import Principal
from knowledge.retrieval.search import Scope

WARM_UP = 3  # runs: the models and the pages are in memory
TOOL = {
    "type": "function",
    "function": {"name": "knowledge_search", "description": "-", "parameters": {"type": "object"}},
}
ASKED = {"role": "user", "content": "What is said?"}
EVIDENCE = {
    "role": "user",
    "content": '<evidence number="1">\nIt is said that nothing is said.\n</evidence>\n\nWhat is said?',
}
CALLS: Sequence[Mapping[str, Any]] = (
    {"messages": [ASKED], "response_format": {"type": "json_object"}},
    {"messages": [ASKED], "tools": [TOOL]},
    {"messages": [ASKED, {"role": "tool", "tool_call_id": "call_0", "content": "-"}], "tools": [TOOL]},
    {"messages": [EVIDENCE]},
)  # what a run asks of its model


@dataclass
class Measured:
    """first_ms, whole_ms: of each run, from the question on. cpu_ms: of this process, a run. lost: events that did not come."""

    first_ms: list[float] = field(default_factory=list)
    whole_ms: list[float] = field(default_factory=list)
    cpu_ms: float = 0.0
    lost: int = 0


@dataclass
class Measuring:
    task: Mapping[str, Any]
    principal: Principal
    ends: Counter[str] = field(default_factory=Counter)

    async def run(self, measured: Measured, session_id: str, question: str) -> None:
        """One run and its reader, as a request makes them."""
        began = time.perf_counter()
        scope = Scope(knowledge_base_ids=(UUID(self.task["knowledge_base_id"]),))
        options = Options(model=self.task["model"], disable_title=True)
        run = await in_thread(
            begin, self.principal, UUID(session_id), question, scope=scope, language="en", options=options
        )
        entries: list[Entry] = []
        async for entry in follow(self.principal, session_id=run.session_id, message_id=launch(run)):
            if entry is not None:
                if not entries:
                    measured.first_ms.append((time.perf_counter() - began) * 1e3)
                entries.append(entry)
        measured.whole_ms.append((time.perf_counter() - began) * 1e3)
        measured.lost += len(set(range(entries[-1].seq + 1)) - {entry.seq for entry in entries})
        measured.lost += [entry.is_terminal for entry in entries].count(True) != 1
        ending = json.loads(entries[-1].body).get("data", {})
        self.ends[ending.get("stop_reason", entries[-1].type)] += 1

    async def bare(self, measured: Measured, _session_id: str, _question: str) -> None:
        """The calls of a run and nothing else."""
        began = time.perf_counter()
        async with openai.AsyncOpenAI(base_url=self.task["model_url"], api_key="none", max_retries=0) as client:
            for call in CALLS:
                stream: Any = await client.chat.completions.create(model="scripted", stream=True, **call)
                async for _chunk in stream:
                    if not measured.first_ms:
                        measured.first_ms.append((time.perf_counter() - began) * 1e3)
        measured.whole_ms.append((time.perf_counter() - began) * 1e3)


Do = Callable[[Measured, str, str], Awaitable[None]]


async def one_by_one(do: Do, asked: Sequence[Sequence[str]]) -> Measured:
    measured, cpu = Measured(), time.process_time()
    for session_id, question in asked:
        await do(measured, session_id, question)
    measured.cpu_ms = (time.process_time() - cpu) * 1e3 / len(asked)
    return measured


async def at_once(do: Do, asked: Sequence[Sequence[str]]) -> Measured:
    measured, cpu = Measured(), time.process_time()
    await asyncio.gather(*(do(measured, session_id, question) for session_id, question in asked))
    measured.cpu_ms = (time.process_time() - cpu) * 1e3 / len(asked)
    return measured


async def main(task: Mapping[str, Any]) -> dict[str, Any]:
    """Measure: alone, all at once, and the bare loop both ways."""
    measuring = Measuring(task, await in_thread(Principal.load, task["user_id"]))
    alone, many = task["asked"][: task["alone"]], task["asked"][task["alone"] :]
    await one_by_one(measuring.run, alone[:WARM_UP])
    measuring.ends.clear()
    before = _memory_mb()
    found = {"alone": vars(await one_by_one(measuring.run, alone)), "many": vars(await at_once(measuring.run, many))}
    memory = [before, _memory_mb()]
    bare = {"alone": vars(await one_by_one(measuring.bare, alone)), "many": vars(await at_once(measuring.bare, many))}
    return {**found, "bare": bare, "memory_mb": memory, "ends": measuring.ends}


def _memory_mb() -> float:
    return float(psutil.Process().memory_info().rss / 1e6)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
