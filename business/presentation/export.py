"""Export a result as a file's rows; a partial result says so below them and in the file's name."""

from django.utils.translation import get_language

from business.presentation.headline import first_of, reach_text
from business.results.shown_query import QueryShown


def exported_rows(result: QueryShown) -> list[tuple[object, ...]]:
    """Return column names and rows, then after an empty row their total and org units, in the page's language."""
    table, is_chinese = result.table, (get_language() or "en").startswith("zh")
    cut = first_of(len(table.rows), table.total, is_chinese=is_chinese) if table.total is not None else ""
    notes = [note for note in (cut, reach_text(result.reach, is_chinese=is_chinese)) if note]
    below: list[tuple[object, ...]] = [(), *((note,) for note in notes)] if notes else []
    return [table.columns, *table.rows, *below]


def export_name(source: str, result: QueryShown) -> str:
    """Return the name of its file; source: the name of the data source."""
    table = result.table
    part = f"-first-{len(table.rows)}-of-{table.total}" if table.total is not None else ""
    return f"{source}-{result.query_id}{part}.csv"
