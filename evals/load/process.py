"""The measuring process of `manage.py benchmark agent`: a task as JSON on its input, what it measured as JSON on its output."""

import asyncio
import gc
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import openai
import psutil

from agent.profiles import Options
from agent.providers.base import Delta, Message, Shape, WrappedModel
from agent.run import Run
from agent.runs.follow import follow
from agent.runs.log import Entry
from agent.runs.run import launch
from agent.runs.start import begin
from agent.threads import in_thread
from authz.principal import Principal
from copilot_site.lib.web_process import SWITCH_S
from knowledge.retrieval.search import Scope

SAMPLES = 10  # of the memory, over the runs of that part
WHILE_MEMORY = 16  # runs at once, there


@dataclass
class Kept(WrappedModel):
    """A ChatModel whose calls are kept, for the bare loop to make them again and to get the same answers."""

    calls: list[dict[str, Any]]

    def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), shape: Shape | None = None
    ) -> AsyncIterator[Delta]:
        asked: dict[str, Any] = {"messages": list(messages)}
        asked |= {"tools": list(tools)} if tools else {}
        asked |= {"response_format": {"type": "json_object"}} if shape else {}
        self.calls.append(asked)
        return self.model.stream(messages, tools=tools, shape=shape)


@dataclass
class Measured:
    """first_ms, whole_ms: of each run, from the question on. taken_ms: processor time until its question was stored.

    cpu_ms: of this process, a run. lost: events that did not come.
    """

    first_ms: list[float] = field(default_factory=list)
    whole_ms: list[float] = field(default_factory=list)
    taken_ms: list[float] = field(default_factory=list)
    cpu_ms: float = 0.0
    lost: int = 0


@dataclass
class Measuring:
    """calls: of each run that was made alone, in their order."""

    task: Mapping[str, Any]
    principal: Principal
    ends: Counter[str] = field(default_factory=Counter)
    calls: list[list[dict[str, Any]]] = field(default_factory=list)

    async def alone(self, measured: Measured, model: str, session_id: str, question: str) -> None:
        """As `run`, with the calls of its model kept."""
        self.calls.append([])
        await self.run(measured, model, session_id, question, keep=self.calls[-1])

    async def run(
        self,
        measured: Measured,
        model: str,
        session_id: str,
        question: str,
        *,
        keep: list[dict[str, Any]] | None = None,
    ) -> None:
        """One run and its reader, as a request makes them. keep: takes the calls of its model."""
        began = time.perf_counter()
        run, taken_ms = await in_thread(self._begun, model, UUID(session_id), question)
        if keep is not None and run.model is not None:
            run.model = Kept(run.model, keep)
        entries: list[Entry] = []
        async for entry in follow(self.principal, session_id=run.session_id, message_id=launch(run), is_own=True):
            if entry is not None:
                if not entries:
                    measured.first_ms.append((time.perf_counter() - began) * 1e3)
                entries.append(entry)
        measured.whole_ms.append((time.perf_counter() - began) * 1e3)
        measured.taken_ms.append(taken_ms)
        measured.lost += len(set(range(entries[-1].seq + 1)) - {entry.seq for entry in entries})
        measured.lost += [entry.is_terminal for entry in entries].count(True) != 1
        ending = json.loads(entries[-1].body).get("data", {})
        self.ends[ending.get("stop_reason", entries[-1].type)] += 1

    def _begun(self, model: str, session_id: UUID, question: str) -> tuple[Run, float]:
        """The run, and the processor time that this took, in ms."""
        began = time.thread_time()
        scope = Scope(knowledge_base_ids=(UUID(self.task["knowledge_base_id"]),))
        options = Options(model=model, disable_title=True)
        run = begin(self.principal, session_id, question, scope=scope, language="en", options=options)
        return run, (time.thread_time() - began) * 1e3

    async def bare(self, measured: Measured, model_url: str, _session_id: str, _question: str) -> None:
        """The calls of a run and nothing else; of the runs that were made alone in turn."""
        calls = self.calls[0]
        self.calls.append(self.calls.pop(0))
        began = time.perf_counter()
        async with openai.AsyncOpenAI(base_url=model_url, api_key="none", max_retries=0) as client:
            for call in calls:
                stream: Any = await client.chat.completions.create(model="scripted", stream=True, **call)
                async for _chunk in stream:
                    if not measured.first_ms:
                        measured.first_ms.append((time.perf_counter() - began) * 1e3)
        measured.whole_ms.append((time.perf_counter() - began) * 1e3)


Asked = Sequence[Sequence[str]]
Do = Callable[[Measured, str, str, str], Awaitable[None]]


async def one_by_one(do: Do, model: str, asked: Asked) -> Measured:
    measured, cpu = Measured(), time.process_time()
    for session_id, question in asked:
        await do(measured, model, session_id, question)
    measured.cpu_ms = (time.process_time() - cpu) * 1e3 / max(1, len(asked))
    return measured


async def at_once(do: Do, model: str, asked: Asked) -> Measured:
    measured, cpu = Measured(), time.process_time()
    await asyncio.gather(*(do(measured, model, session_id, question) for session_id, question in asked))
    measured.cpu_ms = (time.process_time() - cpu) * 1e3 / max(1, len(asked))
    return measured


async def steadily(do: Do, model: str, asked: Asked, *, places: int, over_s: float) -> Measured:
    """`places` runs in flight, the next beginning where one ends. The first of each place, begun evenly over `over_s`, is not counted."""
    measured, cpu, left = Measured(), time.process_time(), iter(asked)

    async def place(number: int) -> None:
        counted = Measured()
        await asyncio.sleep(over_s * number / places)
        for session_id, question in left:
            await do(counted, model, session_id, question)
            counted = measured

    await asyncio.gather(*map(place, range(places)))
    measured.cpu_ms = (time.process_time() - cpu) * 1e3 / max(1, len(asked))
    return measured


async def memory_over(do: Do, model: str, asked: Asked) -> list[tuple[int, float]]:
    """[(runs so far, MB of this process)], the first sample after as many runs as lie between two."""
    parts = list(_parts(asked, max(1, len(asked) // SAMPLES)))
    samples, done = [], 0
    for part in parts:
        await steadily(do, model, part, places=min(WHILE_MEMORY, len(part)), over_s=0.0)
        done += len(part)
        samples.append((done, _memory_mb()))
    return samples


def _parts(asked: Asked, size: int) -> Iterator[Asked]:
    for place in range(0, len(asked), size):
        yield asked[place : place + size]


async def main(task: Mapping[str, Any]) -> dict[str, Any]:
    """Measure the parts that the task has questions for: alone, burst, steady, memory; and the bare loop beside the first two."""
    measuring = Measuring(task, await in_thread(Principal.load, task["user_id"]))
    quick, asked = task["quick"], task["asked"]
    await one_by_one(measuring.run, quick["name"], asked["warm"])
    measuring.ends.clear()
    found: dict[str, Any] = {"memory_mb": [_memory_mb()]}
    found["alone"] = vars(await one_by_one(measuring.alone, quick["name"], asked["alone"]))
    found["burst"] = vars(await at_once(measuring.run, quick["name"], asked["burst"]))
    found["memory_mb"].append(_memory_mb())
    if asked["steady"]:
        places = {"places": len(asked["burst"]), "over_s": task["slow_run_s"]}
        found["steady"] = vars(await steadily(measuring.run, task["slow"]["name"], asked["steady"], **places))
    found["bare"] = {
        "alone": vars(await one_by_one(measuring.bare, quick["url"], asked["alone"])),
        "burst": vars(await at_once(measuring.bare, quick["url"], asked["burst"])),
    }
    found["memory"] = await memory_over(measuring.run, quick["name"], asked["memory"])
    return found | {"ends": measuring.ends}


def _memory_mb() -> float:
    gc.collect()
    return float(psutil.Process().memory_info().rss / 1e6)


if __name__ == "__main__":
    sys.setswitchinterval(SWITCH_S)
    print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
