"""Spreadsheets as tables one can query: what `data_schema` and `data_analysis` share."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async

from agent.tools.base import ToolContext, ToolMistake, Words
from authz.principal import Principal
from knowledge.models import Document
from knowledge.retrieval.search import Scope
from knowledge.tool_selectors import SheetText, Spreadsheet, spreadsheet, spreadsheets_within

MOST_DOCUMENTS, MOST_CELLS = 5, 500_000
NO_SPREADSHEETS = Words(
    "there is no spreadsheet or CSV document that this person may read.", "没有您可以读取的电子表格或 CSV 文档。"
)


@dataclass(frozen=True)
class SheetLimits:
    """Of one query. address_bytes: of the whole process, DuckDB's own code included."""

    rows: int = 200
    memory_mb: int = 256
    address_bytes: int = 4 * 1024**3
    cpu_s: int = 8
    wall_s: float = 12.0


@dataclass(frozen=True)
class Table:
    """A table as it is loaded. name: a plain identifier; sheet: the heading it stood under."""

    name: str
    source: Spreadsheet
    sheet: str
    rows: tuple[tuple[str, ...], ...]

    @property
    def document(self) -> Document:
        return self.source.document


def no_spreadsheet(principal: Principal) -> Words | None:
    """The reason that both tools give where there is nothing to query."""
    return None if spreadsheets_within(principal, Scope()).exists() else NO_SPREADSHEETS


async def tables_of(ctx: ToolContext, ids: Sequence[UUID]) -> list[Table]:
    """The tables of these documents; of all in the scope, if they are few, when none is named. Raises ToolMistake."""
    return await sync_to_async(_read)(ctx, ids)


def _read(ctx: ToolContext, ids: Sequence[UUID]) -> list[Table]:
    if not ids:
        found = list(spreadsheets_within(ctx.principal, ctx.scope).values_list("pk", "title")[: MOST_DOCUMENTS + 1])
        if not found:
            raise ToolMistake("There is no spreadsheet or CSV document in scope that this person may read.")
        if len(found) > MOST_DOCUMENTS:
            listed = "; ".join(f"{pk} {title}" for pk, title in found)
            raise ToolMistake(f"There are many spreadsheets: name those you mean in knowledge_ids. Some are: {listed}.")
        ids = [pk for pk, _title in found]
    tables: list[Table] = []
    for pk in ids:
        source = spreadsheet(ctx.principal, pk, scope=ctx.scope)
        first = len(tables) + 1
        tables += [Table(f"t{n}", source, each.sheet, _clean(each)) for n, each in enumerate(source.sheets, first)]
    cells = sum(len(table.rows) * len(table.rows[0]) for table in tables)
    if cells > MOST_CELLS:
        raise ToolMistake(f"These tables have {cells} cells; at most {MOST_CELLS} are loaded. Name fewer documents.")
    if not tables:
        raise ToolMistake("No table was found in these documents.")
    return tables


_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def _clean(sheet: SheetText) -> tuple[tuple[str, ...], ...]:
    """Headers that are all different and none empty; numbers without thousands separators; every row as wide as the header."""
    header: list[str] = []
    for place, name in enumerate(sheet.rows[0], 1):
        label = name or f"column{place}"
        header.append(label if label not in header else f"{label}_{place}")
    width = len(header)
    body = [tuple(_number(cell) for cell in (*row, *[""] * width)[:width]) for row in sheet.rows[1:]]
    return (tuple(header), *body)


def _number(cell: str) -> str:
    return cell.replace(",", "") if _THOUSANDS.fullmatch(cell) else cell


async def in_child(tables: Sequence[Table], *, sql: str | None, limits: SheetLimits) -> dict[str, Any]:
    """What the child answers. Raises ToolMistake: a wrong query, or one that costs too much. Killed when cancelled."""
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
        "agent.tools.sheet_child",
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
        raise ToolMistake(f"The query ran longer than {limits.wall_s:g} s. Make it simpler.") from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode:
        raise ToolMistake("The query took too much time or memory and was stopped. Make it simpler.")
    found: dict[str, Any] = json.loads(answer)
    if "error" in found:
        raise ToolMistake(found["error"])
    return found
