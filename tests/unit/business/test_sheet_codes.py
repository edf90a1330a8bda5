"""Codes of a spreadsheet stay as they are written when its table is asked, and amounts are numbers."""

from asgiref.sync import async_to_sync

from business.spreadsheets.queries import SheetLimits, Table, in_child
from knowledge.models import Document
from knowledge.tool_selectors import Spreadsheet


def test_leading_zeros_are_kept_and_amounts_are_counted() -> None:
    rows = (("Member's no", "Amount"), ("00042", "10"), ("107", "32"))
    table = Table("t1", Spreadsheet(Document(), None, ()), "", rows)
    found = async_to_sync(in_child)([table], sql="SELECT * FROM t1", limits=SheetLimits())
    assert found["rows"] == [["00042", 10], ["107", 32]]
