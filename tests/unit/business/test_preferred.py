"""Which of several sources answers a question that each of them reads."""

from typing import Any, cast
from uuid import uuid4

from business.logical_query.query import LogicalQuery, Metric
from business.models import DataSource
from business.parsing.base import Clarification, MeaningChoice
from business.pipeline import DataQuestion, Readings, choose_preferred_readings
from business.sources.services import OpenSource
from tests.unit.business.parsing.test_words import LEXICON

QUERY = LogicalQuery(metrics=(Metric(name="customers", agg="count"),))
UNCLEAR = Clarification((MeaningChoice("one"), MeaningChoice("another")))


def opened(name: str, *, is_kept: bool = False) -> OpenSource:
    source = DataSource(name=name, document_id=None if is_kept else uuid4())
    return OpenSource(source, LEXICON.catalog.layer, cast("Any", None))


KEPT, SHEET, OTHER = opened("company", is_kept=True), opened("sales"), opened("wages")


CASES: tuple[tuple[Readings, str, list[OpenSource]], ...] = (
    ([(KEPT, QUERY), (SHEET, QUERY)], "", [KEPT]),
    ([(KEPT, UNCLEAR), (SHEET, QUERY)], "", [SHEET]),
    ([(KEPT, UNCLEAR), (SHEET, QUERY), (OTHER, QUERY)], "", [SHEET, OTHER]),
    ([(KEPT, QUERY), (SHEET, QUERY)], "sales", [SHEET]),
    ([(KEPT, QUERY), (SHEET, UNCLEAR)], "sales", [SHEET]),
)


def test_the_source_that_stands_then_whole_readings_of_databases_first() -> None:
    for found, standing, chosen in CASES:
        question = DataQuestion("How many?", "en", (standing, QUERY) if standing else None)
        assert [item for item, _parsed in choose_preferred_readings(found, question)] == chosen
