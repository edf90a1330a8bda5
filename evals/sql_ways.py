"""Write statements for questions: by their words, or with a language model or what replies in its place."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date

from asgiref.sync import sync_to_async

from agent.prompting import load_prompt
from agent.providers.base import ChatModel
from agent.providers.openai_compatible import ServedModel
from agent.providers.reply import CompleteCall, Reply
from agent.run_state.state import Turn
from agent.tools.base import build_tool_specification, find_tool
from agent.tools.linked_tables import describe_layer_part
from agent.verified_answers.matching import list_verified_examples
from authz.principal import Principal
from business.guard.refusal import SqlRefused
from business.linking.linker import Linker
from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.query import LogicalQuery
from business.models import DataSource
from business.parsing.base import Clarification, Context, Example, Unparseable
from business.parsing.model.free_form import find_statement_fault
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import parse
from copilot_site.lib.text.json_input import load_repaired_json
from evals.question_sets import Asked
from evals.scripted_service import Delta, Request, calls, scripted_service
from knowledge.text.language import detect_language
from knowledge.text.normalise import normalise_text

QUERY = "database_query"
REPAIRS = 2  # of a statement that would give a wrong number


class NotAnswered(Exception):
    """A way hands a question on; the text says why."""


class Way:
    """Writes the statement of a question. waited_s: how long it has waited for a language model in all."""

    waited_s = 0.0

    async def write(self, question: str) -> str:
        """Return the statement of a question. Raises NotAnswered."""
        raise NotImplementedError

    async def repair(self, question: str, sql: str, refused: SqlRefused) -> str:
        """Return another statement after one was refused, or raise the refusal. Raises NotAnswered."""
        raise refused


class WordsWay(Way):
    """Reads questions by the words of one layer. today: the company's date."""

    def __init__(self, catalog: Catalog, today: date) -> None:
        self.catalog, self.today = catalog, today
        self.lexicon = Lexicon.of(catalog)

    async def write(self, question: str) -> str:
        parsed = parse(question, self.lexicon, Context(detect_language(question) or "en", self.today))
        if isinstance(parsed, LogicalQuery):
            return compile_query(parsed, self.catalog, self.today)
        if isinstance(parsed, Clarification):
            raise NotAnswered(f"several meanings: {' / '.join(choice.text for choice in parsed.choices)}")
        assert isinstance(parsed, Unparseable)
        raise NotAnswered(f"{parsed.why} {' '.join(parsed.unknown)}".strip())


class ModelWay(Way):
    """Has a model write SQL as the product's conversation does: shows it the linked tables, and takes its call of the tool."""

    def __init__(self, model: ChatModel, linker: Linker, examples: Sequence[Example], today: date) -> None:
        self.model, self.linker, self.examples, self.today = model, linker, examples, today

    async def write(self, question: str) -> str:
        return await self._written([await sync_to_async(self._asked)(question)])

    async def repair(self, question: str, sql: str, refused: SqlRefused) -> str:
        call = CompleteCall("call_refused", QUERY, json.dumps({"sql": sql}))
        return await self._written([await sync_to_async(self._asked)(question), *_objected(call, str(refused))])

    async def _written(self, turns: list[Turn]) -> str:
        """Ask until a statement would give no wrong number, REPAIRS times more at most."""
        catalog, why = Catalog.of(self.linker.layer), ""
        for _attempt in range(1 + REPAIRS):
            reply = await self._reply(turns)
            call = next((item for item in reply.calls if item.name == QUERY), None)
            sql = str(load_repaired_json(call.arguments).get("sql", "")) if call else ""
            if call is None or not sql:
                raise NotAnswered("no statement: " + (reply.text or ", ".join(item.name for item in reply.calls)))
            fault = find_statement_fault(sql, catalog)
            if fault is None or not fault.is_wrong:
                return sql
            turns += _objected(call, why := fault.why)
        raise NotAnswered(why)

    async def _reply(self, turns: Sequence[Turn]) -> Reply:
        system = "\n\n".join(load_prompt(name, "en").text for name in ("answer", "tools"))
        messages = [{"role": "system", "content": system}, *(turn.as_message() for turn in turns)]
        reply, began = Reply(), time.perf_counter()
        async for delta in self.model.stream(messages, tools=[build_tool_specification(find_tool(QUERY))]):
            reply.take(delta)
        self.waited_s += time.perf_counter() - began
        return reply

    def _asked(self, question: str) -> Turn:
        shown = describe_layer_part(self.linker, question, source="data", today=self.today, examples=self.examples)
        return Turn(role="user", content=f"{shown}\n\n{question}")


def _objected(call: CompleteCall, why: str) -> list[Turn]:
    """Return the turns of a call, and of the reason why it was not made."""
    asked = Turn(role="assistant", tool_calls=[call.as_message()])
    return [asked, Turn(role="tool", content=f"Error: {why}", tool_call_id=call.id)]


def examples_for(principal: Principal, asked: Sequence[Asked]) -> list[Example]:
    """Return the verified statements of the source of this name, as the product shows them, without the questions asked here."""
    source = DataSource.objects.visible_to(principal).filter(name=asked[0].database).first()
    questions = {normalise_text(one.question).strip() for one in asked}
    found = list_verified_examples(principal, source) if source else []
    return [example for example in found if example.question not in questions]


@contextmanager
def served_gold(asked: Sequence[Asked]) -> Iterator[ServedModel]:
    """Serve a model that writes the gold statements of these questions."""
    gold = {one.question: "".join(one.golds[:1]) for one in asked}

    def reply(request: Request) -> Delta:
        first = next(str(message["content"]) for message in request["messages"] if message["role"] == "user")
        sql = gold[first.rpartition("\n\n")[2]]
        return calls(QUERY, {"sql": sql}) if sql else calls("decline", {"reason": "not_found"})

    with scripted_service(reply) as served:
        yield served
