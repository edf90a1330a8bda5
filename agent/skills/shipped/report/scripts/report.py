"""report.py docx|xlsx TITLE: a report of the given evidence, a section or a sheet each, in the folder where it starts."""

import json
import re
import sys
from pathlib import Path
from typing import Any

GIVEN = Path(__file__).resolve().parents[1] / "given" / "evidence.json"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would work out instead of showing it


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[1] not in {"docx", "xlsx"}:
        sys.exit("Say the format, docx or xlsx, and the title.")
    kind, title = sys.argv[1:]
    evidence = json.loads(GIVEN.read_text(encoding="utf-8"))
    if not evidence:
        sys.exit("There is no evidence to report: name some in evidence_ids.")
    name = re.sub(r"[^\w\- ]", "", title).strip()[:80]
    path = f"{name or 'report'}.{kind}"
    (_write_document if kind == "docx" else _write_workbook)(evidence, title, path)
    print(f"{path}: {len(evidence)} parts, {sum(len(item['rows']) for item in evidence)} rows of tables.")


def _write_document(evidence: list[dict[str, Any]], title: str, path: str) -> None:
    from docx import Document

    report = Document()
    report.add_heading(title, 0)
    for item in evidence:
        report.add_heading(item["title"] or item["id"], 1)
        if not item["rows"]:
            report.add_paragraph(item["text"])
            continue
        table = report.add_table(rows=1, cols=len(item["columns"]), style="Light Grid Accent 1")
        for cell, name in zip(table.rows[0].cells, item["columns"], strict=True):
            cell.text = str(name)
        for row in item["rows"]:
            for cell, value in zip(table.add_row().cells, row, strict=True):
                cell.text = "" if value is None else str(value)
    report.save(path)


def _write_workbook(evidence: list[dict[str, Any]], title: str, path: str) -> None:
    from openpyxl import Workbook
    from openpyxl.styles import Font

    book = Workbook()
    book.remove(book.active)
    for number, item in enumerate(evidence, 1):
        name = re.sub(r"[\[\]:*?/\\]", " ", item["title"] or title)[:25]
        sheet = book.create_sheet(f"{number} {name}")
        lines = [item["columns"], *item["rows"]] if item["rows"] else [[line] for line in item["text"].splitlines()]
        for row in lines:
            sheet.append([_escape_formula(value) for value in row])
        for cell in sheet[1] if item["rows"] else ():
            cell.font = Font(bold=True)
    book.save(path)


def _escape_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


if __name__ == "__main__":
    main()
