"""Ways from a question to a statement, for whoever measures them: by words, and by a language model or what replies in its place."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from agent.business_parser import parser_over, replied
from agent.evaluation.scripted_service import Request, says_json, scripted_service
from agent.prompting import prompt
from agent.providers.base import ChatModel
from agent.providers.configured import served_model
from agent.providers.openai_compatible import ServedModel
from agent.verified_answers.matching import verified_examples
from authz.principal import Principal
from business.evaluation.ceilings import Replies, gold_reply
from business.evaluation.questions import Asked, NotAnswered, Statement, Way
from business.linking.linker import Linker
from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.query import LogicalQuery
from business.models import DataSource
from business.parsing.base import Clarification, Context, Example, Parsed, Unparseable
from business.parsing.model.parser import ModelParser
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import parse
from copilot_site.lib.errors import InvalidInput
from knowledge.text.language import language_of
from knowledge.text.normalise import normalise

T = TypeVar("T", bound=BaseModel)
_ASKED = "question: "  # before the question, in what a model is asked


@dataclass(frozen=True)
class Parsing:
    """The words of one layer, or a model over it. today: the company's date; None for now."""

    parser: Lexicon | ModelParser
    catalog: Catalog
    today: date | None = None

    async def write(self, question: str) -> Statement:
        """Raises NotAnswered, and what the parser raises."""
        context = self.context(question)
        if isinstance(self.parser, Lexicon):
            return self._statement(parse(question, self.parser, context), context)
        return self._statement(await self.parser.parse(question, self.catalog, context), context)

    async def repair(self, question: str, sql: str, why: str) -> Statement:
        """A free statement once more, after it was refused."""
        assert isinstance(self.parser, ModelParser)
        context = self.context(question)
        return self._statement(await self.parser.repaired(question, self.catalog, context, sql, why), context)

    def context(self, question: str) -> Context:
        today = self.today or datetime.now(ZoneInfo(self.catalog.layer.time_zone)).date()
        return Context(language_of(question) or "en", today)

    def _statement(self, parsed: Parsed, context: Context) -> Statement:
        if isinstance(parsed, LogicalQuery):
            return Statement(compile_query(parsed, self.catalog, context.today), is_logical=True)
        if isinstance(parsed, Clarification):
            raise NotAnswered(f"several meanings: {' / '.join(choice.text for choice in parsed.choices)}")
        if isinstance(parsed, Unparseable):
            raise NotAnswered(f"{parsed.why} {' '.join(parsed.unknown)}".strip())
        return Statement(parsed.sql)


@dataclass
class _Waiting:
    """Asks a model, and counts how long it has been waited for."""

    model: ChatModel
    seconds: float = field(default=0.0)

    async def __call__(self, turns: Sequence[Mapping[str, Any]], wanted: type[T]) -> T:
        began = time.perf_counter()
        try:
            return await replied(self.model, turns, wanted)
        finally:
            self.seconds += time.perf_counter() - began


def by_words(catalog: Catalog, today: date | None) -> Way:
    return Way(Parsing(Lexicon.of(catalog), catalog, today).write)


def by_model(model: ChatModel, linker: Linker, examples: Sequence[Example], today: date | None) -> Way:
    """As the product asks a model, over one layer."""
    waiting = _Waiting(model)
    parser = parser_over(linker, waiting, lambda name: prompt(name, "en").text, examples)
    parsing = Parsing(parser, Catalog.of(linker.layer), today)
    return Way(parsing.write, parsing.repair, lambda: waiting.seconds)


def examples_for(principal: Principal, asked: Sequence[Asked]) -> list[Example]:
    """The verified statements of the source of this name, as the product would show them; never one that is asked here itself."""
    source = DataSource.objects.visible_to(principal).filter(name=asked[0].database).first()
    questions = {normalise(one.question).strip() for one in asked}
    found = verified_examples(principal, source) if source else []
    return [example for example in found if example.question not in questions]


@contextmanager
def served_by(name: str) -> Iterator[ServedModel]:
    """The language model of this name, or the one that is configured. Raises InvalidInput where there is none."""
    served = served_model(name)
    if served is None:
        raise InvalidInput(
            "No language model is configured: set COPILOT_LLM_BASE_URL and COPILOT_LLM_MODEL, or add one."
        )
    yield served


@contextmanager
def served_gold(asked: Sequence[Asked], catalog: Catalog, kind: Replies, today: date | None) -> Iterator[ServedModel]:
    """A service that replies gold to these questions."""
    day = today or datetime.now(ZoneInfo(catalog.layer.time_zone)).date()
    gold = {one.question: gold_reply(one, catalog, kind, day) for one in asked}
    with scripted_service(lambda request: says_json(gold[asked_in(request)])) as served:
        yield served


def asked_in(request: Request) -> str:
    """The question of a request for a logical query: at the end of the first turn of the person."""
    first = next(str(message["content"]) for message in request["messages"] if message["role"] == "user")
    return first.rpartition(f"\n{_ASKED}")[2]
