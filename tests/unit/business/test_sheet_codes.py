"""Codes of a spreadsheet stay as they are written when its table is asked, and amounts are numbers."""

from asgiref.sync import async_to_sync

from business.spreadsheets.child import infer_column_type
from business.spreadsheets.queries import LoadedTable, SheetLimits, run_in_child
from knowledge.models import Document
from knowledge.tool_selectors import Spreadsheet


def test_leading_zeros_are_kept_and_amounts_are_counted() -> None:
    rows = (("Member's no", "Amount", "Key"), ("00042", "10", "4E2"), ("107", "32", "1E3"), ("", "", ""))
    table = LoadedTable("t1", Spreadsheet(Document(), None, ()), "", rows)
    found = async_to_sync(run_in_child)([table], sql="SELECT * FROM t1", limits=SheetLimits())
    assert found["rows"] == [["00042", 10, "4E2"], ["107", 32, "1E3"], [None, None, None]]


def test_a_column_is_a_number_only_where_every_cell_is_a_plain_one() -> None:
    for cells, kind in (
        (["1", "", "-2"], "BIGINT"),
        (["1", "2.5"], "DOUBLE"),
        (["1", "007"], "VARCHAR"),
        (["1", "4E2"], "VARCHAR"),
        (["1", "n/a"], "VARCHAR"),
        (["2024-04-03", "2023-06-25"], "DATE"),
        (["2024-04-03", "2024-13-45"], "VARCHAR"),
        (["2024-04-03", "2024-04-03 14:30"], "TIMESTAMP"),
        (["TRUE", "false"], "BOOLEAN"),
    ):
        assert infer_column_type(cells) == kind
