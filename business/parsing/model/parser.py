"""The way with a language model: it is shown the layer and fills a logical query; free SQL only for what that cannot express.

What it fills is a proposal: names and values are held against the layer, and what does not fit goes back with the reason, twice
at most. A free statement must join along the keys of the layer, name values that exist and follow the definitions it touches.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeVar

from django.utils.translation import gettext as _
from pydantic import BaseModel

from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.differences import counted_otherwise
from business.logical_query.errors import Inexpressible
from business.logical_query.query import LogicalQuery
from business.logical_query.resolve import resolved
from business.parsing.base import Choice, Clarification, Context, Example, FreeForm, Parsed, Unparseable
from business.parsing.model.definitions import said_otherwise
from business.parsing.model.free_form import fault_in
from business.parsing.model.reply import Malformed, Reply

MOST_REPAIRS = 2
MOST_CHOICES = 4
WHY_CHARACTERS = 200
T = TypeVar("T", bound=BaseModel)
Turn = Mapping[str, Any]


class Complete(Protocol):
    """A language model: turns in, one object of the wanted form out. Raises Malformed, and whatever the model's side raises."""

    def __call__(self, turns: Sequence[Turn], wanted: type[T], /) -> Awaitable[T]: ...


@dataclass(frozen=True)
class ModelParser:
    """instructions: the prompt of a name. tables: what of the layer a question is about, as a model is told of it (question, named_in).

    examples: verified statements of this source.
    """

    complete: Complete
    instructions: Callable[[str], str]
    tables: Callable[[str, str], Awaitable[str]]
    examples: Sequence[Example] = ()

    async def parse(self, question: str, catalog: Catalog, context: Context) -> Parsed:
        turns = await self._asked(question, catalog, context)
        parsed: Parsed = Unparseable(_("The language model gave nothing that could be asked."))
        for _attempt in range(1 + MOST_REPAIRS):
            try:
                reply = await self.complete(turns, Reply)
            except Malformed as error:
                written, why = error.text or "(nothing)", str(error)
            else:
                parsed, why, is_final = self._checked(reply, catalog, context, may_object=_attempt < MOST_REPAIRS)
                if is_final:
                    return parsed
                written = reply.model_dump_json(exclude_defaults=True)
            turns += self._objected(written, why)
        return parsed

    async def repaired(self, question: str, catalog: Catalog, context: Context, sql: str, why: str) -> Parsed:
        """One more try for a free statement that was not run. why: the refusal."""
        turns = await self._asked(question, catalog, context)
        try:
            written = json.dumps({"sql": sql}, ensure_ascii=False)
            reply = await self.complete([*turns, *self._objected(written, why)], Reply)
        except Malformed:
            return Unparseable(_("The language model gave nothing that could be asked."))
        return self._checked(reply, catalog, context, may_object=False)[0]

    def _checked(
        self, reply: Reply, catalog: Catalog, context: Context, *, may_object: bool
    ) -> tuple[Parsed, str, bool]:
        """What a reply comes to; else why not, for the model. may_object: a difference may still be told to the model."""
        choices = tuple(Choice(text.strip()) for text in reply.unclear if text.strip())[:MOST_CHOICES]
        nothing = _("The language model gave nothing that could be asked.")
        if reply.query is not None:
            return _query(reply.query, catalog, context, may_object=may_object)
        if len(choices) > 1:
            return Clarification(choices), "", True
        if reply.sql.strip():
            return _free(reply.sql.strip(), catalog, may_object=may_object)
        missing = reply.missing.strip()[:WHY_CHARACTERS]
        return Unparseable(missing or nothing), missing or nothing, bool(missing)

    def _objected(self, written: str, why: str) -> list[Turn]:
        """What a model wrote, and why it will not do."""
        return [
            {"role": "assistant", "content": written},
            {"role": "user", "content": f"{self.instructions('logical_query_repair')}\n\n{why}"},
        ]

    async def _asked(self, question: str, catalog: Catalog, context: Context) -> list[Turn]:
        parts = [f"<tables>\n{escaped(await self.tables(question, context.named_in))}\n</tables>"]
        parts += [
            f"<example>\n{escaped(example.question)}\n{escaped(example.sql)}\n</example>"
            for example in similar(question, self.examples)
        ]
        parts += [f"<named>\n{escaped(context.named_in)}\n</named>"] if context.named_in else []
        if context.earlier is not None:
            earlier = context.earlier.model_dump_json(exclude_defaults=True)
            parts.append(f"<earlier>\n{escaped(earlier)}\n</earlier>")
        parts += [f"today: {context.today} ({catalog.layer.time_zone})", f"question: {question}"]
        return [
            {"role": "system", "content": self.instructions("logical_query")},
            {"role": "user", "content": "\n\n".join(parts)},
        ]


def _query(given: LogicalQuery, catalog: Catalog, context: Context, *, may_object: bool) -> tuple[Parsed, str, bool]:
    try:
        query = resolved(given, catalog)
        compile_query(query, catalog, context.today)
    except Inexpressible as error:
        return Unparseable(str(error)), str(error), False
    told = [said_otherwise(*each) for each in counted_otherwise(query, catalog)] if may_object else []
    if told:
        return Unparseable(" ".join(told)), " ".join(told), False
    return query, "", True


def _free(sql: str, catalog: Catalog, *, may_object: bool) -> tuple[Parsed, str, bool]:
    fault = fault_in(sql, catalog)
    if fault is None or not (fault.is_wrong or may_object):
        return FreeForm(sql), "", True
    return Unparseable(fault.why), fault.why, False


def escaped(text: str) -> str:
    """Data that cannot close the fence around it, nor open another."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


MOST_EXAMPLES = 3
LEAST_ALIKE = 0.1  # of what both questions say: an example of something else only misleads
_UNIT = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")
_ARTICLES = "a an the of in on at by for to and or"
_QUESTIONS = "is are was were did do does we our us how many much what which who there have has any"
_EMPTY = frozenset(f"{_ARTICLES} {_QUESTIONS}".split())


def similar(question: str, examples: Sequence[Example], most: int = MOST_EXAMPLES) -> list[Example]:
    """The examples whose questions share the most words with this one, best last: next to the question."""
    wanted = _grams(question)
    scored = []
    for place, example in enumerate(examples):
        given = _grams(example.question)
        scored.append((len(wanted & given) / max(1, len(wanted | given)), -place))
    best = sorted(one for one in scored if one[0] >= LEAST_ALIKE)[-most:]
    return [examples[-place] for _score, place in best]


def _grams(text: str) -> frozenset[tuple[str, ...]]:
    """Words of English, pairs of neighbouring characters of Chinese; no function words."""
    units = [unit for unit in _UNIT.findall(text.lower()) if unit not in _EMPTY]
    words = [(unit,) for unit in units if unit.isascii()]
    return frozenset([*words, *pairwise(units)])
