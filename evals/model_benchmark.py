"""`manage.py benchmark model`: measure the waiting with a hosted model, beside a plain pipeline that checks nothing."""

import json
import re
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import median
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings

from agent.events import Answer
from agent.models import Session
from agent.profiles.settings import Options
from agent.providers.base import Message
from agent.providers.configured import FROM_SETTINGS, connect
from agent.providers.openai_compatible import ServedModel
from agent.providers.reply import Reply
from agent.runs.start import ask_question
from agent.tools.knowledge_search import TOP_K
from authz.principal import Principal
from business.presentation.report import format_markdown_table
from business.sources.services import open_source
from business.statements.run_query import run_query
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from copilot_site.lib.progress import show_progress_bar
from evals.model_script import GROUPS, QUERY, SOURCE, Script, ScriptedQuestion, Sentence, load_questions
from evals.report import Report, Row
from evals.scripted_service import Call, PacedService, ReplyPace, served
from knowledge.retrieval.search import search

PLAIN = ("prompt_tokens", "first_sentence_s", "end_s")
# of ours: the plain pipeline's number beside it; the most that it may be for documents, and with data
OURS = {
    "calls": ("", "1, with a tool 2", "3"),
    "prompt_tokens": ("prompt_tokens", "6,000", "10,000"),
    "judge_calls": ("", "2", "2"),
    "judge_tokens": ("", "", ""),
    "cached_share": ("", "", ""),
    "first_settled_s": ("first_sentence_s", "1.5 ×", "1.5 ×"),
    "first_judged_s": ("first_sentence_s", "2.2 ×", "2.2 ×"),
    "end_s": ("end_s", "1.5 ×", "1.5 ×"),
}

RESULT = 1_000  # number of the evidence that a result is: none of the passages has it
_SENTENCE_END = re.compile(r"\[\d+\][.。]")
_STATEMENT = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}
TOOL = {
    "type": "function",
    "function": {"name": QUERY, "description": "Runs one PostgreSQL SELECT.", "parameters": _STATEMENT},
}


@dataclass
class Seen:
    """An answer as a person saw it, in seconds from asking. at: of each sentence of the script. unchecked: pieces marked so."""

    at: dict[Sentence, float] = field(default_factory=dict)
    end_s: float = 0.0
    unchecked: int = 0
    _slots: dict[Any, str] = field(default_factory=dict)

    def take(self, event: Answer, question: ScriptedQuestion, now: float) -> None:
        slot = event.data.get("slot")
        self.unchecked += event.data.get("is_checked") is False
        self._slots[slot] = self._slots.get(slot, "") + event.content
        for sentence in question.answer:
            if sentence not in self.at and sentence.is_in(self._slots[slot]):
                self.at[sentence] = now


class ModelBenchmark:
    """Measures the product's runs beside calls of the same model with the same evidence, which nobody checks. pace: of the model."""

    def __init__(self, pace: ReplyPace = ReplyPace()) -> None:  # noqa: B008 - frozen
        self._pace = pace

    help = (
        "Ask the demo company's people's questions in both languages of a scripted model that has the pace of a hosted one, once "
        "through the product and once through a plain pipeline. It takes three minutes; the audit log keeps what was asked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--group", choices=GROUPS, action="append", help="only these questions")

    def run(self, options: Mapping[str, Any]) -> Report:
        groups = options["group"] or GROUPS
        questions = [question for question in load_questions() if question.group in groups]
        people = _people(questions)
        script = Script(questions)
        service = PacedService(script.reply, self._pace)
        with served(service.answer) as model, _configured(model):
            for first in {question.group: question for question in reversed(questions)}.values():
                # what a process loads once is in memory then
                _measured(first, people[first.username], script, service, model)
            rows = [
                _measured(question, people[question.username], script, service, model)
                for question in show_progress_bar(questions, desc="both ways", unit="question")
            ]
        return _report_of(rows)


def _people(questions: Sequence[ScriptedQuestion]) -> dict[str, Principal]:
    """Return the people who ask. Raises InvalidInput where the demo is not there."""
    try:
        people = {question.username: Principal.named(question.username) for question in questions}
        for question in questions:
            if question.sql:
                open_source(people[question.username], SOURCE)
    except NotFound as error:
        raise InvalidInput("The demo company is not in this database: start it with `manage.py up --demo`.") from error
    return people


@contextmanager
def _configured(model: ServedModel) -> Iterator[None]:
    """Configure this model as the product's, in this process, until the block ends."""
    before = settings.LLM
    free = {"api_key": "", "price_input": Decimal(0), "price_output": Decimal(0)}
    known = {"base_url": model.base_url, "model": model.model, "context_tokens": model.context_tokens}
    settings.LLM = before | known | free
    try:
        yield
    finally:
        settings.LLM = before


def _measured(
    question: ScriptedQuestion, person: Principal, script: Script, service: PacedService, model: ServedModel
) -> dict[str, Any]:
    """Ask one question both ways. Raises Conflict where the product did not ask the model."""
    session = Session.objects.create(user_id=person.user_id)
    service.forget()
    try:
        seen = async_to_sync(_ours)(question, person, session)
    finally:
        session.delete()
    calls = service.forget()
    first = next((call for call in calls if not call.is_judge), None)
    if first is None:
        raise Conflict(f"The model was not asked “{question.ask}”: nothing was measured.")
    plain = async_to_sync(ask_plainly)(model, person, question, first.request["messages"])
    read = sum(call.prompt_tokens for call in service.forget())
    return {
        "question": question.ask,
        "group": question.group,
        "language": question.language,
        "sentences": len(question.answer),
        "shown": len(seen.at),
        "unchecked": seen.unchecked,
        "ours": _counted(calls, seen, script),
        "plain": {"prompt_tokens": read, "first_sentence_s": plain.first_sentence_s, "end_s": plain.end_s},
    }


async def _ours(question: ScriptedQuestion, person: Principal, session: Session) -> Seen:
    seen, began = Seen(), time.monotonic()
    options = Options(model=FROM_SETTINGS, disable_title=True)
    asked = ask_question(
        person, session_id=session.pk, question=question.ask, language=question.language, options=options
    )
    async for event in asked:
        seen.end_s = time.monotonic() - began
        if isinstance(event, Answer):
            seen.take(event, question, seen.end_s)
    return seen


def _counted(calls: Sequence[Call], seen: Seen, script: Script) -> dict[str, float | None]:
    judged = {sentence for call in calls if call.is_judge for _number, sentence in script.judged(call.request)}
    judge = [call for call in calls if call.is_judge]
    read, by_judge = (sum(call.prompt_tokens for call in part) for part in (calls, judge))
    return {
        "calls": len(calls) - len(judge),
        "prompt_tokens": read - by_judge,
        "judge_calls": len(judge),
        "judge_tokens": by_judge,
        "cached_share": sum(call.cached_tokens for call in calls) / read,
        "first_settled_s": min((at for sentence, at in seen.at.items() if sentence not in judged), default=None),
        "first_judged_s": min((at for sentence, at in seen.at.items() if sentence in judged), default=None),
        "end_s": seen.end_s,
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
    table = format_markdown_table(rows.columns, rows.rows)
    return [
        {"role": "assistant", "content": reply.text, "tool_calls": [call.as_message()]},
        {
            "role": "tool",
            "tool_call_id": call.id,
            "content": f'<evidence number="{RESULT}">\n{table}\n</evidence>',
        },
    ]


def _report_of(questions: Sequence[Mapping[str, Any]]) -> Report:
    """Report the medians of each group. questions: as `_measured` gives them."""
    groups: dict[str, Any] = {}
    rows: list[Row] = []
    for group in GROUPS:
        asked = [item for item in questions if item["group"] == group]
        groups[group] = {
            "ours": {name: _middle(item["ours"][name] for item in asked) for name in OURS},
            "plain": {name: _middle(item["plain"][name] for item in asked) for name in PLAIN},
        }
        rows += _rows(group, asked)
    facts = {
        "questions": len(questions),
        "sentences of a perfect answer": sum(item["sentences"] for item in questions),
        "of them shown": sum(item["shown"] for item in questions),
        "marked as not checked": sum(item["unchecked"] for item in questions),
    }
    peer = "a plain pipeline: the same search, prompt, evidence and answer, and no checks"
    parts = {"groups": groups, "questions": questions, **groups["documents"]}
    return Report(peer=peer, rows=rows, facts=facts, parts=parts)


def _rows(group: str, asked: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """Give the medians of a group, each beside the plain pipeline's over the questions that have ours."""
    for name, (beside, *aims) in OURS.items():
        having = [item for item in asked if item["ours"][name] is not None]
        ours = _middle(item["ours"][name] for item in having)
        if ours is not None:
            peer = _middle(item["plain"][beside] for item in having) if beside else None
            title, unit = (name.removesuffix("_s"), "s") if name.endswith("_s") else (name, "")
            yield Row(f"{group}: {title.replace('_', ' ')}", unit, ours, peer, aims[group != "documents"])


def _middle(values: Iterator[float | None]) -> float | None:
    """Return the median of the known values; None without one."""
    known = [value for value in values if value is not None]
    return round(median(known), 3) if known else None
