"""Spreadsheets as tables one can query: read under a person's rights, asked in a child process."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from authz.principal import Principal
from business.guard.refusal import build_database_refusal, build_timeout_refusal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.text.one_line import fold_to_one_line
from knowledge.models import Document
from knowledge.retrieval.search import Scope
from knowledge.tool_selectors import SheetText, Spreadsheet, list_spreadsheets, load_spreadsheet

MAX_DOCUMENTS, MAX_CELLS = 5, 500_000


@dataclass(frozen=True)
class SheetLimits:
    """Of one query. address_bytes: of the whole process, DuckDB's own code included."""

    rows: int = 200
    memory_mb: int = 256
    address_bytes: int = 4 * 1024**3
    cpu_s: int = 8
    wall_s: float = 12.0


@dataclass(frozen=True)
class LoadedTable:
    """A table as it is loaded. name: a plain identifier; sheet: the heading it stood under."""

    name: str
    source: Spreadsheet
    sheet: str
    rows: tuple[tuple[str, ...], ...]

    @property
    def document(self) -> Document:
        return self.source.document


def load_tables_in_scope(principal: Principal, scope: Scope, ids: Sequence[UUID]) -> list[LoadedTable]:
    """Return the tables of these documents; of all in the scope, if they are few, when none is named. Raises InvalidInput, NotFound."""
    if not ids:
        ids = list(list_spreadsheets(principal, scope).values_list("pk", flat=True)[: MAX_DOCUMENTS + 1])
        if not ids:
            raise InvalidInput("There is no spreadsheet or CSV document in scope that this person may read.")
        if len(ids) > MAX_DOCUMENTS:
            raise InvalidInput(
                "There are many spreadsheets: name those you mean in knowledge_ids; get_document_info says what each is. "
                f"Some are: {', '.join(map(str, ids))}."
            )
    return load_tables(*(load_spreadsheet(principal, pk, scope=scope) for pk in ids))


def load_tables(*sources: Spreadsheet) -> list[LoadedTable]:
    """Return all their tables, called t1, t2, …. Raises InvalidInput where there is none, or too much."""
    found = [(source, sheet) for source in sources for sheet in source.sheets]
    tables = [
        LoadedTable(f"t{n}", source, fold_to_one_line(sheet.sheet), _clean_sheet(sheet))
        for n, (source, sheet) in enumerate(found, 1)
    ]
    cells = sum(len(table.rows) * len(table.rows[0]) for table in tables)
    if cells > MAX_CELLS:
        raise InvalidInput(
            _("These tables have %(n)d cells; at most %(max)d are loaded.") % {"n": cells, "max": MAX_CELLS}
        )
    if not tables:
        raise InvalidInput(_("No table was found in these documents."))
    return tables


def _clean_sheet(sheet: SheetText) -> tuple[tuple[str, ...], ...]:
    """Make headers unique, also in lower case, and not empty, and every row as wide as the header."""
    header: list[str] = []
    for place, name in enumerate(sheet.rows[0], 1):
        label = fold_to_one_line(name) or f"column{place}"
        is_taken = label.lower() in (item.lower() for item in header)
        header.append(f"{label}_{place}" if is_taken else label)
    width = len(header)
    return (tuple(header), *((*row, *[""] * width)[:width] for row in sheet.rows[1:]))


async def run_in_child(tables: Sequence[LoadedTable], *, sql: str | None, limits: SheetLimits) -> dict[str, Any]:
    """Return what the child answers. Raises SqlRefused: a wrong query, or one that costs too much. Killed when cancelled."""
    request: dict[str, Any] = {
        "tables": [{"name": table.name, "rows": table.rows} for table in tables],
        "limits": asdict(limits),
    }
    if sql is not None:
        request["sql"] = sql
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "HOME": "/nonexistent",
    }
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "business.spreadsheets.child",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(limits.wall_s):
            answer, _errors = await child.communicate(json.dumps(request).encode())
    except TimeoutError:
        raise build_timeout_refusal(limits.wall_s) from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode:
        raise build_timeout_refusal(limits.wall_s)
    found: dict[str, Any] = json.loads(answer)
    if "error" in found:
        raise build_database_refusal(found["error"], is_about_names=found["is_about_names"])
    return found
