"""A question read by its words alone, as the statement that it compiles to."""

from datetime import date

from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.query import LogicalQuery
from business.parsing.base import Context, Parsed
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import parse
from business.semantic_layer.model import SemanticLayer
from knowledge.text.language import detect_language

TODAY = date(2026, 11, 21)


class NotRead(Exception):
    """What the reader made of the question instead of a query."""


def parsed(question: str, layer: SemanticLayer, today: date = TODAY) -> Parsed:
    lexicon = Lexicon.of(Catalog.of(layer))
    return parse(question, lexicon, Context(detect_language(question) or "en", today))


def sql_of(question: str, layer: SemanticLayer, today: date = TODAY) -> str:
    """Raises NotRead."""
    query = parsed(question, layer, today)
    if not isinstance(query, LogicalQuery):
        raise NotRead(str(query))
    return compile_query(query, Catalog.of(layer), today)
